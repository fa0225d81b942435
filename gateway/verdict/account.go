package verdict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/atonce"
)

var errNotGathered = errors.New("verdict: facts are needed that were not gathered with the others")

// few is how many places are looked through one by one.
const few = 4

// account is what is known of an account in question.
type account struct {
	id string
	// pairs are the members with facts the questions need, the asker first; places are their indices, nil while there are
	// few.
	pairs  []resources.About
	places map[resources.About]int
	// facts are those of all of them, once they are gathered.
	facts []resources.Facts
	// judged says whether the right to ask about the subject was judged, "" for all. refused is the denial, nil if the
	// caller may ask, and asked what was denied.
	judged  bool
	subject string
	refused *Outcome
	asked   *resources.Question
}

// accountOf returns what is known of the account.
func (a *asking) accountOf(id string) *account {
	switch acct := a.accounts[id]; {
	case len(a.first.pairs) == 0:
		a.first.id = id
		a.first.add(a.asker())
		return &a.first
	case a.first.id == id:
		return &a.first
	case acct != nil:
		return acct
	}
	acct := &account{id: id}
	acct.add(a.asker())
	if a.accounts == nil {
		a.accounts = map[string]*account{}
	}
	a.accounts[id] = acct
	return acct
}

// need notes whose facts a question needs. A question never put to policy needs the asker's.
func (a *asking) need(q *resources.Question) {
	account := a.accountOf(q.AccountID)
	if pair := a.pair(q); account.place(pair) < 0 {
		account.add(pair)
	}
}

// asker returns whose facts the right to ask needs. Services are looked for in no account.
func (a *asking) asker() resources.About { return resources.About{UserID: userOf(a.caller)} }

// pair returns whose facts the question needs.
func (a *asking) pair(q *resources.Question) resources.About {
	if q.Denied != "" {
		return a.asker()
	}
	pair := resources.About{UserID: q.SubjectID, ProjectID: cmp.Or(q.Target.ProjectID, q.Through)}
	if a.isAgents(q) {
		client, _ := a.caller.Client.Agent()
		pair.UserID, pair.Agent = "", resources.AgentRef{Client: client}
	}
	if q.Agent != nil {
		pair.Agent = q.Agent.Ref
	}
	return pair
}

// userOf returns the id of a caller who is a user, "" for others.
func userOf(caller *resources.Principal) string {
	if caller.Kind == resources.PrincipalUser {
		return caller.ID
	}
	return ""
}

// place returns the index of somebody's facts, less than 0 if they are not needed.
func (a *account) place(pair resources.About) int {
	if a.places != nil {
		if place, ok := a.places[pair]; ok {
			return place
		}
		return -1
	}
	return slices.Index(a.pairs, pair)
}

func (a *account) add(pair resources.About) {
	if a.pairs = append(a.pairs, pair); a.places != nil {
		a.places[pair] = len(a.pairs) - 1
	} else if len(a.pairs) > few {
		a.places = make(map[resources.About]int, 2*len(a.pairs))
		for i, one := range a.pairs {
			a.places[one] = i
		}
	}
}

// accountsAtOnce is the number of accounts whose facts are read at once.
const accountsAtOnce = 16

// gatherFor reads the facts of an account. It reads those of the first one alone, since until may stop behind it; then it
// reads those of all others, of several at once: on some engines an account costs several round trips.
func (a *asking) gatherFor(ctx context.Context, acct *account) error {
	if len(acct.facts) > 0 || !a.begun {
		a.begun = true
		return a.gather(ctx, acct)
	}
	all := append(slices.Collect(maps.Values(a.accounts)), &a.first)
	return atonce.Each(ctx, all, accountsAtOnce, a.gather)
}

// gather reads all facts of the account that are needed, once.
func (a *asking) gather(ctx context.Context, acct *account) error {
	switch {
	case len(acct.facts) == len(acct.pairs):
		return nil
	case len(acct.facts) > 0: // another revision could be of those that were added since
		return unavailable(errNotGathered)
	}
	if cap(acct.facts) < len(acct.pairs) {
		acct.facts = make([]resources.Facts, 0, len(acct.pairs))
	}
	facts := acct.facts[:len(acct.pairs)]
	if err := a.Facts.FactsOf(ctx, acct.id, acct.pairs, facts); err != nil {
		return unavailable(err)
	}
	for i := range facts {
		if facts[i].Subject == nil || facts[i].Agent == nil && acct.pairs[i].Agent.Named() || facts[i].Revision != facts[0].Revision {
			return unavailable(fmt.Errorf("verdict: facts %d of %d are missing, or of another revision", i, len(facts)))
		}
	}
	acct.facts = facts
	return nil
}

// forApp returns the subject as an app may know it. An app can pass on to its callers all it reads. So of a subject
// outside the account it sees one side: not the account if the subject asks, and not the user if somebody else does.
func (a *asking) forApp(s *resources.Subject) *resources.Subject {
	if a.caller.Kind == resources.PrincipalService || s.Member {
		return s
	}
	as := s.Clone()
	if a.caller.Kind == resources.PrincipalUser && s.UserID == a.caller.ID {
		as.AccountExists, as.AccountStatus = false, ""
	} else {
		as.UserExists, as.UserUUID, as.UserStatus, as.HomeID, as.PartnerID = false, "", "", "", ""
	}
	return as
}
