package verdict

import (
	"cmp"
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Tree is one policy tree (policies/engine). An error is never an allow.
type Tree interface {
	// Decide says whether the question's subject may do its action there.
	Decide(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Access says whether the caller may make the request.
	Access(ctx context.Context, q resources.Question) (resources.Decision, error)
	// DecideApp has the app decide that claims the question's type.
	DecideApp(ctx context.Context, q resources.Question) (resources.AppDecision, error)
	// App returns the app for resources of the type, false without one.
	App(resourceType string) (resources.App, bool)
	// AccessByUser reports whether Access for a principal of the kind may depend on the user whom the target names.
	AccessByUser(kind string) bool
	// Revision names the tree.
	Revision() string
	// ByRoles reports whether the tree allows by roles alone that are assigned, as the embedded one does.
	ByRoles() bool
	// Granting returns the system roles that grant an action.
	Granting(action resources.Action) []string
	// Actions returns the actions that the tree names.
	Actions() []string
	// Arguments judges the arguments of a call of a tool, beside Decide.
	Arguments(ctx context.Context, call *resources.ToolCall) (resources.ArgumentsVerdict, error)
	// MCPServer returns the MCP server of a name, which nobody changes; nil without one.
	MCPServer(name string) *resources.MCPServer
	// MCPServers returns the names of the MCP servers, in order.
	MCPServers() []string
}

// Inside is policy for those who ask while they hold a transaction: it waits for no gate (policies/engine).
type Inside interface {
	// Decide is Tree.Decide.
	Decide(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Grantable says whether the caller holds all that the question's grant gives.
	Grantable(ctx context.Context, q resources.Question) (resources.Decision, error)
}

// FactSource gives the facts for questions (store/rolecache), at least as new as the last change that was answered before the
// call.
type FactSource interface {
	// FactsOf puts the facts of users and projects of the account into a list of the same length, all of one revision.
	// An empty user is nobody's facts, an empty project no project's.
	FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error
	// Facts is FactsOf of one user and project.
	Facts(ctx context.Context, account, user, project string) (resources.Facts, error)
	// Homes returns the account of each user, "" for an unknown one.
	Homes(ctx context.Context, users []string) (accounts []string, err error)
}

// Judge reaches verdicts. It is safe for concurrent use.
type Judge struct {
	// Pin returns the tree in force.
	Pin func() Tree
	// Inside is needed by Decide and Grantable alone.
	Inside Inside
	Facts  FactSource
	IDs    resources.IDs
	Now    func() time.Time
	// Log takes every verdict before the caller gets it; nil records none.
	Log resources.DecisionLog
	// quiet judges name no verdict.
	quiet bool
}

// Outcome is the verdict on a question, or why there is none. The zero value denies.
type Outcome struct {
	resources.Decision
	// Context is what an app says beside its decision.
	Context []resources.Member
	// AccountRevision is the revision of the account's facts, as the caller may know it (RevisionFor).
	AccountRevision int64
	// AgentID is the id of the acting agent, "" without one and for an unregistered one.
	AgentID string
	// ID names the verdict, "" if there is not one.
	ID string
	// Err is of KindBadRequest, KindForbidden or KindUnavailable. The decision denies beside one.
	Err error
	// Quotes says that the reason may quote what the caller sent. No record and no log has it.
	Quotes bool
	// unasked says that the decision is not policy's.
	unasked bool
}

// Pinned returns the judge by the tree in force and at the time of now, for questions that are asked one after the other.
func (j *Judge) Pinned() *Judge {
	tree, now, out := j.Pin(), j.Now(), *j
	out.Pin, out.Now = func() Tree { return tree }, func() time.Time { return now }
	return &out
}

// Quiet returns the judge for verdicts that stay inside the gateway: they have no id, and are not recorded.
func (j *Judge) Quiet() *Judge {
	out := *j
	out.Log, out.quiet = nil, true
	return &out
}

// name gives a verdict its id.
func (j *Judge) name(o *Outcome) {
	if !j.quiet {
		o.ID = j.IDs.ULID()
	}
}

// record has the log take verdicts. Those without a parent are below the call inside which they were reached. On an error
// the caller must not get any of them.
func (j *Judge) record(ctx context.Context, judgements ...*resources.Judgement) error {
	if j.Log == nil || len(judgements) == 0 {
		return nil
	}
	parent := resources.DecisionOf(ctx)
	for _, one := range judgements {
		one.ParentID = cmp.Or(one.ParentID, parent)
	}
	if err := j.Log.Record(ctx, judgements...); err != nil {
		return unavailable(err)
	}
	return nil
}

// RevisionFor returns the revision of an account as the caller may know it: services and members of the account see it,
// everybody else sees 0, the revision of an account that does not exist.
func RevisionFor(caller *resources.Principal, account string, revision int64) int64 {
	member := caller.Kind == resources.PrincipalUser || caller.Kind == resources.PrincipalAgent
	if caller.Kind == resources.PrincipalService || member && caller.AccountID == account {
		return revision
	}
	return 0
}

// refuse makes a denial an error of KindForbidden.
func (o *Outcome) refuse() {
	if o.Err == nil && !o.Allowed {
		o.Err = resources.Denied(o.Reason)
	}
}

// unavailable makes any error of the decision path one of KindUnavailable.
func unavailable(err error) error {
	if resources.IsKind(err, resources.KindUnavailable) {
		return err
	}
	return resources.Unavailable("The decision could not be made now; try again.", err)
}
