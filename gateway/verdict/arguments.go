package verdict

import (
	"context"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Codes of denials of a call of a tool.
const (
	// CodeArguments means that a rule denies the arguments.
	CodeArguments = "argument_denied"
	// CodeInvalidArguments means that the arguments do not fit the tool's schema.
	CodeInvalidArguments = "invalid_arguments"
	// CodeApproval means that the user has not approved the call.
	CodeApproval = "needs_approval"
)

// Arguments judges the arguments of a call of a tool by the tree in force: by the tool's schema, and then by the rules of
// its server. It returns why they are denied, the zero value if they are not. They only deny: the caller asks whether the
// user and the agent may call the tool. The error is of KindUnavailable if a retry may succeed.
func (j *Judge) Arguments(ctx context.Context, call resources.ToolCall) (resources.Denial, error) {
	call.Now = resources.At(j.Now())
	return arguments(ctx, j.Pin(), &call)
}

// arguments returns why a tree denies the arguments. A denial comes with each error.
func arguments(ctx context.Context, tree Tree, call *resources.ToolCall) (resources.Denial, error) {
	said, err := tree.Arguments(ctx, call)
	switch {
	case err == nil && said.Allowed:
		return resources.Denial{}, nil
	case len(said.Problems) > 0:
		var lines []string
		for _, problem := range said.Problems {
			lines = append(lines, call.In+"."+problem.String())
		}
		return resources.Denial{Code: CodeInvalidArguments, Reason: strings.Join(lines, "; "), Quotes: true}, err
	case len(said.Reasons) > 0:
		return resources.Denial{Code: CodeArguments, Reason: strings.Join(said.Reasons, "; "), Quotes: true}, err
	}
	return resources.Denial{Code: CodeArguments, Reason: fmt.Sprintf("a rule denies these arguments of the tool %q of the server %q", call.Tool, call.Server)}, err
}

// withheld returns why the question is denied though policy allows it, the zero value if it is not: by the door, by the
// arguments of its call, and last for want of an approval, in the order of a call at the MCP server's address.
func (a *asking) withheld(ctx context.Context, q *resources.Question, agent string) (resources.Denial, error) {
	if q.Withheld.Code != "" || q.Call == nil {
		return q.Withheld, nil
	}
	call := *q.Call
	call.UserID, call.AccountID, call.AgentID, call.Acts, call.Now = q.SubjectID, q.AccountID, agent, q.Agent != nil, a.now
	if call.Arguments != nil {
		if denied, err := arguments(ctx, a.tree, &call); err != nil || denied.Code != "" {
			return denied, err
		}
	}
	if call.Approval {
		return resources.Denial{Code: CodeApproval, Reason: "each call of the tool needs an approval"}, nil
	}
	return resources.Denial{}, nil
}
