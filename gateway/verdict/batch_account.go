package verdict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/atonce"
)

var errNotGathered = errors.New("verdict: facts were not gathered before they were asked for")

// inAccount is what a batch knows of an account. It gives the judge of the right to ask its facts.
type inAccount struct {
	*Batch
	account string
	// of are those whose facts the questions rest on, the asker first, places where each stands there;
	// facts are what was gathered of them, in their order.
	of     []resources.About
	places map[resources.About]int
	facts  []resources.Facts
	// refused are the verdicts on the right to ask about each subject, "" for all, nil for one that the
	// caller has.
	refused map[string]*refusal
}

// refusal is a verdict on the right to ask, with its error.
type refusal struct {
	Verdict
	// asked is what was judged; err says why there is no verdict.
	asked resources.Question
	err   error
}

// within returns what the batch knows of the account.
func (b *Batch) within(account string) *inAccount {
	in := b.accounts[account]
	if in == nil {
		account = strings.Clone(account) // caches keep it
		in = &inAccount{
			Batch: b, account: account, of: make([]resources.About, 0, 1+b.room), places: make(map[resources.About]int, 1+b.room), refused: map[string]*refusal{},
		}
		b.room = 0
		in.need(b.asker())
		b.accounts[account] = in
	}
	return in
}

// need adds those whose facts a question rests on, and returns where they stand.
func (in *inAccount) need(about resources.About) int {
	place, known := in.places[about]
	if !known {
		place = len(in.of)
		in.of, in.places[about] = append(in.of, about), place
	}
	return place
}

// gather gathers all facts that are needed, once.
func (in *inAccount) gather(ctx context.Context) error {
	switch {
	case len(in.facts) == len(in.of):
		return nil
	case in.facts != nil: // another revision could be of those that were added since
		return unavailable(errNotGathered)
	}
	facts, err := in.gatherer.FactsOf(ctx, in.account, in.of)
	if err == nil && len(facts) != len(in.of) {
		err = fmt.Errorf("verdict: %d facts where %d were asked for", len(facts), len(in.of))
	}
	if err != nil {
		return unavailable(err)
	}
	in.facts = facts
	return nil
}

// accountsAtOnce is the number of accounts whose facts a batch gathers at once.
const accountsAtOnce = 16

// gatherFor gathers the facts of an account. Those of the first one it gathers alone, since nobody may want more; then it
// gathers those of all others, of several at once: on some engines an account costs several round trips.
func (b *Batch) gatherFor(ctx context.Context, in *inAccount) error {
	if in.facts != nil || !b.begun {
		b.begun = true
		return in.gather(ctx)
	}
	all := slices.Collect(maps.Values(b.accounts))
	err := atonce.Each(ctx, all, accountsAtOnce, func(ctx context.Context, in *inAccount) error { return in.gather(ctx) })
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// asker returns whose facts the right to ask rests on. Services are looked for in no account.
func (b *Batch) asker() resources.About {
	if b.caller.Kind == resources.PrincipalUser {
		return resources.About{UserID: b.caller.ID}
	}
	return resources.About{}
}

// about returns whose facts the question rests on.
func (i *Item) about() resources.About {
	return resources.About{UserID: i.SubjectID, ProjectID: cmp.Or(i.Target.ProjectID, i.Through)}
}

// Facts implements Facts with what was gathered.
func (in *inAccount) Facts(_ context.Context, _, user, project string) (resources.Facts, error) {
	place, known := in.places[resources.About{UserID: user, ProjectID: project}]
	if !known || place >= len(in.facts) {
		return resources.Facts{}, errNotGathered
	}
	return in.facts[place], nil
}

// ask judges the right to ask and then the question, on the facts in that place. told is what the log takes
// of it, nil without a log.
func (in *inAccount) ask(ctx context.Context, item *Item, place int) (out Outcome, told *resources.Judgement) {
	if no := in.mayNot(ctx, item); no != nil {
		return in.refuse(no)
	}
	q := resources.Question{
		Principal: in.caller, Action: item.Action, AccountID: in.account, Target: item.Target, Route: &in.door.Row, Now: in.at,
		Facts: in.facts[place],
	}
	if item.App != nil {
		q.Facts.Subject = in.forApp(q.Facts.Subject)
	}
	state := takeState(item.Through, &q)
	out.Decision, out.unasked = resources.Decision{Reason: item.Denied, PolicyRevision: in.policy.Revision}, item.Denied != ""
	var app *resources.AppQuestion
	var err error
	if item.Denied == "" {
		out.Decision, out.Context, app, err = in.decide(ctx, item, q)
	}
	if resources.IsKind(err, resources.KindBadRequest) { // an app's: what was sent is no question
		return Outcome{Err: err}, nil
	}
	if err != nil {
		return Outcome{Err: unavailable(err)}, nil
	}
	out.through(item.Through, state, &q)
	out.AccountRevision, out.ID = RevisionFor(in.caller, in.account, q.Facts.Revision), in.ids.ULID()
	if in.observe != nil {
		in.observe(in.door.Row.Name, &out.Decision)
	}
	if in.log == nil {
		return out, nil
	}
	return out, in.recorded(&resources.Judgement{
		ID: out.ID, Path: resources.PathDecision, Question: q, App: app, Decision: out.Decision, Context: out.Context, Unasked: out.unasked,
	})
}

// forApp returns the subject as an app may know it. An app can tell its callers all that it knows, so that a user who asks
// sees the account of which they are not a member, and the user who is not a member of the account, as absent ones.
func (in *inAccount) forApp(s *resources.Subject) *resources.Subject {
	if in.caller.Kind == resources.PrincipalService || s.Member {
		return s
	}
	as := s.Clone()
	if in.isCaller(s.UserID) {
		as.AccountExists, as.AccountStatus = false, ""
	} else {
		as.UserExists, as.UserUUID, as.UserStatus, as.HomeID, as.PartnerID = false, "", "", "", ""
	}
	return as
}

// refuse answers an item whose subject the caller may not ask about. Each item is told by an id of its
// own.
func (in *inAccount) refuse(no *refusal) (Outcome, *resources.Judgement) {
	v, err := denied(no.Verdict, no.err)
	if no.err != nil {
		return Outcome{Err: err}, nil
	}
	v.ID = in.ids.ULID()
	if in.log == nil {
		return Outcome{Verdict: v, Err: err}, nil
	}
	return Outcome{Verdict: v, Err: err}, in.recorded(&resources.Judgement{ID: v.ID, Path: resources.PathAccess, Question: no.asked, Decision: v.Decision})
}

// decide has policy, or an app of it, decide. app is what an app was asked.
func (in *inAccount) decide(ctx context.Context, item *Item, q resources.Question) (d resources.Decision, more []resources.Member, app *resources.AppQuestion, err error) {
	if item.App == nil {
		d, err = in.policy.Policy.Decide(ctx, q)
		return d, nil, nil, err
	}
	asked := *item.App
	asked.Principal, asked.AccountID, asked.Facts, asked.Now = in.caller, in.account, q.Facts, q.Now
	answer, err := in.policy.Apps.DecideApp(ctx, asked)
	return answer.Decision, answer.Context, &asked, err
}

// mayNot judges whether the caller may ask about the item's subject, once for each subject or, where it is
// the same for all, once; nil is that the caller may. Only services may ask an app about a subject that is no user: no role grants that where no
// account is in question.
func (in *inAccount) mayNot(ctx context.Context, item *Item) *refusal {
	if item.App != nil && item.SubjectID == "" {
		in = in.within("")
		if err := in.gather(ctx); err != nil {
			return &refusal{err: err}
		}
	}
	subject := item.SubjectID
	if !in.byUser { // policy looks at none
		subject = ""
	}
	if no, known := in.refused[subject]; known {
		return no
	}
	judge := Judge{Policy: in.policy.Policy, Facts: in, IDs: in.ids, Now: in.ids.Now}
	var no *refusal
	asking := Call{Route: in.door, AccountID: in.account, Target: resources.Target{UserID: subject}}
	if v, asked, err := judge.enter(ctx, in.caller, asking); err != nil || !v.Allowed {
		no = &refusal{v, asked, err}
	}
	in.refused[subject] = no
	return no
}

// recorded copies what a verdict has of the request's body, which would stay in memory with it. The account is a copy
// already.
func (in *inAccount) recorded(told *resources.Judgement) *resources.Judgement {
	q := &told.Question
	own(&q.Action.ID, &q.Target.AccountID, &q.Target.ProjectID, &q.Target.Resource, &q.Target.Rest, &q.Target.UserID)
	q.Action, _ = resources.ParseAction(q.Action.ID) // was parsed, or is none
	if a := told.App; a != nil {
		app, _ := in.policy.App(a.ResourceType)
		told.Path = resources.PathApps + app.Name + "/decision"
		a.ResourceType = strings.Clone(a.ResourceType)
		for _, part := range []*[]byte{&a.Subject, &a.Action, &a.Resource, &a.Context} {
			*part = in.sent.own(*part)
		}
	}
	return told
}

// own puts one copy of texts in their place.
func own(texts ...*string) {
	size := 0
	for _, text := range texts {
		size += len(*text)
	}
	var all strings.Builder
	all.Grow(size)
	for _, text := range texts {
		all.WriteString(*text)
	}
	rest := all.String()
	for _, text := range texts {
		*text, rest = rest[:len(*text)], rest[len(*text):]
	}
}

// sentCopies are copies of what was sent, by where it is: thousands of questions can share one part.
type sentCopies map[*byte][]byte

func (known sentCopies) own(part []byte) []byte {
	if len(part) == 0 {
		return nil
	}
	if known[&part[0]] == nil {
		known[&part[0]] = slices.Clone(part)
	}
	return known[&part[0]]
}
