package verdict

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

var errNotGathered = errors.New("verdict: facts were not gathered before they were asked for")

// inAccount is what a batch knows of an account. It gives the judge of the right to ask its facts.
type inAccount struct {
	*Batch
	account string
	// needed are those whose facts the questions rest on, facts what was gathered of them, in their
	// order.
	needed map[resources.About]int
	facts  []resources.Facts
	// refused are the verdicts on the right to ask about each subject, "" for all, nil for one that the
	// caller has.
	refused map[string]*refusal
}

// refusal is a verdict on the right to ask, with its error.
type refusal struct {
	Verdict
	err error
}

// within returns what the batch knows of the account.
func (b *Batch) within(account string) *inAccount {
	in := b.accounts[account]
	if in == nil {
		account = strings.Clone(account) // caches keep it
		in = &inAccount{Batch: b, account: account, needed: make(map[resources.About]int, b.room), refused: make(map[string]*refusal, b.room)}
		b.room = 0
		in.need(b.asker())
		b.accounts[account] = in
	}
	return in
}

// need adds those whose facts a question rests on.
func (in *inAccount) need(about resources.About) {
	if _, known := in.needed[about]; !known {
		about.UserID, about.ProjectID = strings.Clone(about.UserID), strings.Clone(about.ProjectID) // caches keep them
		in.needed[about] = len(in.needed)
	}
}

// gather gathers all facts that are needed, once.
func (in *inAccount) gather(ctx context.Context) error {
	if in.facts != nil {
		return nil
	}
	of := make([]resources.About, len(in.needed))
	for about, i := range in.needed {
		of[i] = about
	}
	facts, err := in.gatherer.FactsOf(ctx, in.account, of)
	if err == nil && len(facts) != len(of) {
		err = fmt.Errorf("verdict: %d facts where %d were asked for", len(facts), len(of))
	}
	if err != nil {
		return unavailable(err)
	}
	in.facts = facts
	return nil
}

// asker is whose facts the right to ask rests on. Services are looked for in no account.
func (b *Batch) asker() resources.About {
	if b.caller.Kind == resources.PrincipalUser {
		return resources.About{UserID: b.caller.ID}
	}
	return resources.About{}
}

// about is whose facts the question rests on.
func (i *Item) about() resources.About {
	return resources.About{UserID: i.SubjectID, ProjectID: i.Target.ProjectID}
}

// Facts implements Facts with what was gathered.
func (in *inAccount) Facts(_ context.Context, _, user, project string) (resources.Facts, error) {
	at, known := in.needed[resources.About{UserID: user, ProjectID: project}]
	if !known || at >= len(in.facts) {
		return resources.Facts{}, errNotGathered
	}
	return in.facts[at], nil
}

// ask judges the right to ask and then the question.
func (in *inAccount) ask(ctx context.Context, item *Item) Outcome {
	if no := in.mayNot(ctx, item); no != nil {
		return Outcome{Verdict: no.Verdict, Err: no.err}
	}
	about := item.about()
	if item.Denied != "" {
		about = in.asker()
	}
	facts, err := in.Facts(ctx, in.account, about.UserID, about.ProjectID)
	out := Outcome{Verdict: Verdict{Decision: resources.Decision{Reason: item.Denied, PolicyRevision: in.policy.Revision}}}
	if err == nil && item.Denied == "" {
		out.Decision, out.Context, err = in.decide(ctx, item, facts)
	}
	if resources.IsKind(err, resources.KindBadRequest) { // an app's: what was sent is no question
		return Outcome{Err: err}
	}
	if err != nil {
		return Outcome{Err: unavailable(err)}
	}
	out.AccountRevision, out.ID = facts.Revision, in.ids.ULID()
	if in.observe != nil {
		in.observe(in.door.Row.Name, &out.Decision)
	}
	return out
}

// decide has policy, or an app of it, decide.
func (in *inAccount) decide(ctx context.Context, item *Item, facts resources.Facts) (resources.Decision, []resources.Member, error) {
	if item.App == nil {
		d, err := in.policy.Policy.Decide(ctx, resources.Question{
			Principal: in.caller, Action: item.Action, AccountID: item.AccountID, Facts: facts,
			Target: item.Target, Route: in.door.Row, Now: resources.At(in.now),
		})
		return d, nil, err
	}
	q := *item.App
	q.Principal, q.AccountID, q.Facts, q.Now = in.caller, item.AccountID, facts, resources.At(in.now)
	d, err := in.policy.Apps.DecideApp(ctx, q)
	return d.Decision, d.Context, err
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
	if v, err := judge.Enter(ctx, in.caller, Call{Route: in.door, AccountID: in.account, Target: resources.Target{UserID: subject}}); err != nil || !v.Allowed {
		no = &refusal{v, err}
	}
	in.refused[subject] = no
	return no
}
