package verdict

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Pinned is the policy of one tree, whatever is brought into force meanwhile (policies/engine).
type Pinned struct {
	Policy Policy
	// Revision names the tree.
	Revision string
	// ByRoles says that the tree allows by roles alone that are assigned, as the embedded one does.
	ByRoles bool
	// AccessByUser says that the right to ask may depend on the user in question, for a caller of the
	// kind; nil says so of every kind.
	AccessByUser func(kind string) bool
	// Granting returns the system roles that grant an action.
	Granting func(resources.Action) []string
	// Actions returns the actions that the tree names.
	Actions func() []string
	// Apps decide about types of their own; nil where the tree has none.
	Apps Apps
}

// Apps are the apps of a policy tree (policies/engine). An error is never an allow.
type Apps interface {
	// App returns the app that answers for resources of the type, false where none does.
	App(resourceType string) (resources.App, bool)
	// DecideApp has the app decide that claims the type.
	DecideApp(ctx context.Context, q resources.AppQuestion) (resources.AppDecision, error)
}

// Gatherer gives the facts for several questions (store/rolecache), at least as new as the last change
// that was answered before the call.
type Gatherer interface {
	// FactsOf returns the facts of several users and projects of the account, in their order, all of
	// one revision. An empty user is nobody's facts, an empty project no project's.
	FactsOf(ctx context.Context, account string, of []resources.About) ([]resources.Facts, error)
	// Homes returns the account of which each user is a member, "" where there is no such user.
	Homes(ctx context.Context, users []string) (accounts []string, err error)
}

// Batches reaches verdicts on questions that are asked together. All of its fields but Observe and Log are needed. It is safe
// for concurrent use.
type Batches struct {
	Pin   func() Pinned
	Facts Gatherer
	IDs   resources.IDs
	Now   func() time.Time
	// Observe, where there is one, is called with each decision on a question and the name of the
	// route at which it was asked.
	Observe func(route string, d *resources.Decision)
	// Log takes the verdicts of a batch before they are told; nil records none.
	Log resources.DecisionLog
}

// Batch judges the questions of one request: all by one policy tree and at one time, those of an
// account on facts of one revision. It is for one goroutine.
type Batch struct {
	caller   resources.Principal
	policy   Pinned
	gatherer Gatherer
	log      resources.DecisionLog
	ids      resources.IDs
	at       resources.Time
	door     *Route
	observe  func(route string, d *resources.Decision)
	homes    map[string]string
	// seeks are the users, "" for all, with whether their accounts may be looked up for the caller.
	seeks    map[string]bool
	accounts map[string]*inAccount
	// rests are what the items rest on, in their order.
	rests []rest
	// begun says that the facts of an account were gathered.
	begun bool
	// byUser says that the right to ask is judged for each subject, and not for all of an account.
	byUser bool
	// room is how many items there are; the first account has room for all of them.
	room int
	sent sentCopies
}

// rest is where the facts of an item stand: in that place of what is known of the account.
type rest struct {
	in    *inAccount
	place int
}

// Item is one question of a batch.
type Item struct {
	// Question is the question; its Door is the batch's.
	Question
	// Denied is why the question is denied whatever policy says: it names nothing that there is. It
	// is "" where policy decides.
	Denied string
	// App holds what the app decides on that claims the resource's type, but for the batch's part of
	// it; nil is a question of the platform's own types.
	App *resources.AppQuestion
	// Err is why the item is no question.
	Err error
}

// Outcome is the verdict on an item, or why there is none.
type Outcome struct {
	Verdict
	// Context is what an app says beside its decision.
	Context []resources.Member
	// Err is of KindBadRequest, KindForbidden or KindUnavailable. The verdict denies beside one.
	Err error
}

// Begin begins a batch of questions that the caller asks at that door.
func (b *Batches) Begin(caller resources.Principal, door *Route) *Batch {
	now, ids, policy := b.Now(), b.IDs, b.Pin()
	ids.Now = func() time.Time { return now }
	return &Batch{
		byUser: policy.AccessByUser == nil || policy.AccessByUser(caller.Kind),
		caller: caller, policy: policy, gatherer: b.Facts, ids: ids, at: resources.At(now), door: door, observe: b.Observe, log: b.Log,
		homes: map[string]string{}, seeks: map[string]bool{}, accounts: map[string]*inAccount{}, sent: sentCopies{},
	}
}

// Revision names the batch's policy tree.
func (b *Batch) Revision() string { return b.policy.Revision }

// Claims says whether an app of the batch's policy tree answers for resources of the type.
func (b *Batch) Claims(resourceType string) bool {
	_, claimed := b.policy.App(resourceType)
	return claimed
}

// App returns the app that answers for resources of the type, false where none does.
func (p *Pinned) App(resourceType string) (resources.App, bool) {
	if p.Apps == nil {
		return resources.App{}, false
	}
	return p.Apps.App(resourceType)
}

// Home returns the account of which the user is a member, "" where there is no such user. It looks nobody up for a
// caller who might learn from the answer where others are: a user, or a service that may not ask about the user.
func (b *Batch) Home(ctx context.Context, user string) (account string, err error) {
	if b.isCaller(user) {
		return b.caller.AccountID, nil
	}
	if _, known := b.homes[user]; !known {
		err = b.FindHomes(ctx, []string{user})
	}
	return b.homes[user], err
}

// Own returns the account of which the caller is a member, "" for a service.
func (b *Batch) Own() string { return b.caller.AccountID }

// AsksAboutOther reports whether the caller is no service, and not that user.
func (b *Batch) AsksAboutOther(user string) bool {
	return b.caller.Kind != resources.PrincipalService && !b.isCaller(user)
}

func (b *Batch) isCaller(user string) bool {
	return b.caller.Kind == resources.PrincipalUser && b.caller.ID == user
}

// FindHomes looks those users up whom Home is asked about later, together.
func (b *Batch) FindHomes(ctx context.Context, users []string) error {
	var asked []string
	for _, user := range users {
		may, err := b.maySeek(ctx, user)
		if err != nil {
			return err
		}
		if may {
			asked = append(asked, strings.Clone(user)) // caches keep them
		}
	}
	if len(asked) == 0 {
		return nil
	}
	accounts, err := b.gatherer.Homes(ctx, asked)
	if err == nil && len(accounts) != len(asked) {
		err = fmt.Errorf("verdict: %d homes where %d were asked for", len(accounts), len(asked))
	}
	if err != nil {
		return unavailable(err)
	}
	for i, account := range accounts {
		b.homes[asked[i]] = account
	}
	return nil
}

// maySeek reports whether the user's account may be looked up for the caller: for a service that has the right to ask
// before any account is in question.
func (b *Batch) maySeek(ctx context.Context, user string) (bool, error) {
	if b.caller.Kind != resources.PrincipalService {
		return false, nil
	}
	if !b.byUser { // policy looks at none
		user = ""
	}
	if may, known := b.seeks[user]; known {
		return may, nil
	}
	judge := Judge{Policy: b.policy.Policy, Facts: nowhere{}, Now: b.ids.Now}
	v, _, err := judge.enter(ctx, b.caller, Call{Route: b.door, Target: resources.Target{UserID: user}})
	if err == nil {
		b.seeks[strings.Clone(user)] = v.Allowed
	}
	return v.Allowed && err == nil, err
}

// nowhere implements Facts where no account is in question.
type nowhere struct{}

func (nowhere) Facts(context.Context, string, string, string) (resources.Facts, error) {
	return resources.Facts{Subject: &resources.Subject{}}, nil
}

// need notes whose facts the items rest on. An item that policy is not asked about rests on the asker's.
func (b *Batch) need(items []Item) {
	b.room, b.rests = len(items), make([]rest, len(items))
	for i := range items {
		item := &items[i]
		if item.Err != nil {
			continue
		}
		of := rest{in: b.within(item.AccountID)}
		if item.Denied == "" {
			of.place = of.in.need(item.about())
		}
		b.rests[i] = of
	}
}

// Gather gathers the facts that the items rest on in the account, which Ask does otherwise, and returns
// their revision. It is for a caller whose facts can be had no later. The error is of KindUnavailable.
func (b *Batch) Gather(ctx context.Context, account string, items []Item) (revision int64, err error) {
	b.need(items)
	in := b.within(account)
	if err := in.gather(ctx); err != nil {
		return 0, err
	}
	return in.facts[0].Revision, nil
}

// Ask judges the items in their order and hands each outcome to more, until that returns false. It is
// called once. Its error is of KindUnavailable: facts that can't be had are no fault of one item, and
// neither is a log that can't take the verdicts. Beside one nothing may be told.
func (b *Batch) Ask(ctx context.Context, items []Item, more func(Outcome) bool) error {
	b.need(items)
	var all []*resources.Judgement
	if b.log != nil {
		all = make([]*resources.Judgement, 0, len(items))
	}
	for i := range items {
		outcome := Outcome{Err: items[i].Err}
		if outcome.Err == nil {
			of := b.rests[i]
			if err := b.gatherFor(ctx, of.in); err != nil {
				return err
			}
			var told *resources.Judgement
			outcome, told = of.in.ask(ctx, &items[i], of.place)
			if err := ctx.Err(); err != nil {
				return unavailable(err)
			}
			if told != nil {
				all = append(all, told)
			}
		}
		if !more(outcome) {
			break
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := b.log.Record(ctx, all...); err != nil {
		return unavailable(err)
	}
	return nil
}
