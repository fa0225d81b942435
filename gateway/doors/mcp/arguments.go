package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// errRules is in the chain of the error of a call on which the rules over arguments have no answer. A retry has none
// either.
var errRules = errors.New("mcp: the rules over the arguments failed")

// noArguments are the arguments of a call without any.
var noArguments = []byte("{}")

// calling returns the row of a tool for a call with arguments.
func calling(r row, arguments []byte) row {
	if r.arguments = arguments; len(arguments) == 0 {
		r.arguments = noArguments
	}
	return r
}

// holdArguments denies an allowed call of a tool whose arguments do not fit the tool's schema, or are denied by a rule.
// The outcome has the code alone: reasons may quote arguments, and records may not.
func (v *visit) holdArguments(ctx context.Context, judge *verdict.Judge, o *verdict.Outcome, r row) error {
	if r.arguments == nil {
		return nil
	}
	call := resources.ToolCall{
		Server: v.server.Name, Tool: r.name, UserID: v.call.Caller.ID, AgentID: o.AgentID,
		AccountID: v.account(), ProjectID: v.place.project, Arguments: r.arguments, In: "params",
	}
	_, call.Acts = v.call.Caller.Client.Agent()
	if v.call.Caller.Kind == resources.PrincipalAgent {
		call.UserID, call.Acts, call.AgentID = "", true, v.call.Caller.ID
	}
	denied, err := judge.Arguments(ctx, call)
	switch {
	case resources.IsKind(err, resources.KindUnavailable):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errRules, err)
	case denied.Code != "":
		o.Allowed, o.Code, o.Reason, v.argued = false, denied.Code, "", denied.Reason
	}
	return nil
}
