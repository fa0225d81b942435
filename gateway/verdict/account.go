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
	// of are the members with facts the questions need, the asker first; places are their indices, nil while there are
	// few.
	of     []resources.About
	places map[resources.About]int
	// facts are those of all of them, once they are gathered.
	facts []resources.Facts
	// judged says whether the right to ask about the subject was judged, "" for all. refused is the denial, nil if the
	// caller may ask.
	judged  bool
	subject string
	refused *refusal
}

// within returns what is known of the account.
func (a *asking) within(id string) *account {
	switch in := a.others[id]; {
	case len(a.first.of) == 0:
		a.first.id = id
		a.first.add(a.asker())
		return &a.first
	case a.first.id == id:
		return &a.first
	case in != nil:
		return in
	}
	in := &account{id: id}
	in.add(a.asker())
	if a.others == nil {
		a.others = map[string]*account{}
	}
	a.others[id] = in
	return in
}

// need notes whose facts a question needs. A question never put to policy needs the asker's.
func (a *asking) need(q *resources.Question) {
	in := a.within(q.AccountID)
	if about := a.about(q); in.place(about) < 0 {
		in.add(about)
	}
}

// asker returns whose facts the right to ask needs. Services are looked for in no account.
func (a *asking) asker() resources.About { return resources.About{UserID: userOf(a.caller)} }

// about returns whose facts the question needs.
func (a *asking) about(q *resources.Question) resources.About {
	if q.Denied != "" {
		return a.asker()
	}
	return resources.About{UserID: q.SubjectID, ProjectID: cmp.Or(q.Target.ProjectID, q.Through)}
}

// userOf returns the id of a caller who is a user, "" for others.
func userOf(caller *resources.Principal) string {
	if caller.Kind == resources.PrincipalUser {
		return caller.ID
	}
	return ""
}

// place returns the index of somebody's facts, less than 0 if they are not needed.
func (in *account) place(about resources.About) int {
	if in.places != nil {
		if place, known := in.places[about]; known {
			return place
		}
		return -1
	}
	for i, one := range in.of {
		if one == about {
			return i
		}
	}
	return -1
}

func (in *account) add(about resources.About) {
	if in.of = append(in.of, about); in.places != nil {
		in.places[about] = len(in.of) - 1
	} else if len(in.of) > few {
		in.places = make(map[resources.About]int, 2*len(in.of))
		for i, one := range in.of {
			in.places[one] = i
		}
	}
}

// accountsAtOnce is the number of accounts whose facts are read at once.
const accountsAtOnce = 16

// gatherFor reads the facts of an account. It reads those of the first one alone, since until may stop behind it; then it
// reads those of all others, of several at once: on some engines an account costs several round trips.
func (a *asking) gatherFor(ctx context.Context, in *account) error {
	if len(in.facts) > 0 || !a.begun {
		a.begun = true
		return a.gather(ctx, in)
	}
	all := append(slices.Collect(maps.Values(a.others)), &a.first)
	return atonce.Each(ctx, all, accountsAtOnce, a.gather)
}

// gather reads all facts of the account that are needed, once.
func (a *asking) gather(ctx context.Context, in *account) error {
	switch {
	case len(in.facts) == len(in.of):
		return nil
	case len(in.facts) > 0: // another revision could be of those that were added since
		return unavailable(errNotGathered)
	}
	if cap(in.facts) < len(in.of) {
		in.facts = make([]resources.Facts, 0, len(in.of))
	}
	facts := in.facts[:len(in.of)]
	if err := a.Facts.FactsOf(ctx, in.id, in.of, facts); err != nil {
		return unavailable(err)
	}
	for i := range facts {
		if facts[i].Subject == nil || facts[i].Revision != facts[0].Revision {
			return unavailable(fmt.Errorf("verdict: facts %d of %d are missing, or of another revision", i, len(facts)))
		}
	}
	in.facts = facts
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
