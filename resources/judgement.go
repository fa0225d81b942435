package resources

import "context"

// Paths of judgements: what was asked, as the decision log names it.
const (
	PathDecision  = "authz/decision"
	PathAccess    = "authz/access"
	PathGrantable = "authz/grantable"
	// PathApps begins the path of an app's decision: apps/<name>/decision.
	PathApps = "apps/"
)

// Judgement is a verdict for a caller, with all of its inputs. Nothing changes it once it is given to the decision log.
type Judgement struct {
	// ID names the verdict; ParentID is the id of the call it was reached in, "" for none.
	ID, ParentID string
	// Path says what was asked.
	Path string
	// Question is what was asked.
	Question Question
	Decision Decision
	// Context is what an app says beside its decision.
	Context []Member
	// Unasked says that the decision is not policy's: something in the question does not exist.
	Unasked bool
	// Call makes this the record of a call at an MCP server. The decision is the door's: its code names the part that
	// denied. ParentID is the id of policy's verdict on the call.
	Call *MCPCall
}

// DecisionLog takes the callers' verdicts (store/decisionlog).
type DecisionLog interface {
	// Record takes verdicts for the log. An error is of KindUnavailable: they can't be recorded, and no caller may get
	// one.
	Record(ctx context.Context, judgements ...*Judgement) error
}

type parentKey struct{}

// WithDecision returns a context for what is done inside a call that this verdict has allowed.
func WithDecision(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, parentKey{}, id)
}

// DecisionOf returns the id of the verdict that has allowed the call, "" for none.
func DecisionOf(ctx context.Context) string {
	id, _ := ctx.Value(parentKey{}).(string)
	return id
}
