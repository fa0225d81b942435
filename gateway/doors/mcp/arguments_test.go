package mcp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestACallIsSentIfItsArgumentsAreAllowed guarantees that only an allowing verdict on the arguments sends a call. The
// question names user, tool, account and project.
func TestACallIsSentIfItsArgumentsAreAllowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verdict    resources.ArgumentsVerdict
		err        error
		says, code string
		sent       int
	}{
		"allowed":  {resources.ArgumentsVerdict{Allowed: true}, nil, `"result"`, "", 1},
		"nothing":  {resources.ArgumentsVerdict{}, nil, "a rule denies these arguments of the tool", "argument_denied", 0},
		"denied":   {resources.ArgumentsVerdict{Reasons: []string{"a", "b"}}, nil, `"Denied: a; b"`, "argument_denied", 0},
		"invalid":  {resources.ArgumentsVerdict{Problems: []resources.Problem{{Field: "arguments.a", Text: "no"}}}, nil, `-32602,"message":"Invalid arguments: params.arguments.a: no"`, "invalid_arguments", 0},
		"an error": {resources.ArgumentsVerdict{Allowed: true}, errors.New("a conflict"), `-32603,"message":"The gateway can't judge the arguments."`, "undecided", 0},
		"a full gate": {
			resources.ArgumentsVerdict{Allowed: true}, resources.Unavailable("full", nil), `-32603,"message":"The gateway can't answer now; try again."`, "undecided", 0,
		},
	} {
		d := newDesk(t, "")
		d.policy.argued = func(call *resources.ToolCall) (resources.ArgumentsVerdict, error) {
			if call.Server != "desk" || call.Tool != "open" || call.UserID != "user-bob-v1" || call.Acts || call.AgentID != "" || call.AccountID != "acct-a-v1" ||
				call.ProjectID != "proj-a-v1" || string(call.Arguments) != `{"key":"value"}` || call.Now == 0 {
				t.Errorf("%s: %+v", name, call)
			}
			return c.verdict, c.err
		}
		answer := d.call(t, "open")
		if !strings.Contains(answer, c.says) || d.sent != c.sent {
			t.Errorf("%s: %s; %d calls were sent", name, answer, d.sent)
		}
		for _, record := range d.records.all {
			if record.Path == resources.PathMCPCall && (record.Decision.Code != c.code || record.Decision.Reason != "") {
				t.Errorf("%s: %+v", name, record.Decision)
			}
		}
	}
	d := newDesk(t, "")
	d.policy.argued = func(*resources.ToolCall) (resources.ArgumentsVerdict, error) {
		t.Error("the rules are asked about a tool without a row")
		return resources.ArgumentsVerdict{}, nil
	}
	d.call(t, "other")
}
