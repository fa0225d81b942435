package message_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// TestEachMethodHasItsClass guarantees what the door does with each method of both revisions.
func TestEachMethodHasItsClass(t *testing.T) {
	for method, want := range map[string]struct{ legacy, modern message.Class }{
		"initialize":               {message.Passes, message.Unknown},
		"ping":                     {message.Passes, message.Unknown},
		"server/discover":          {message.Unknown, message.Passes},
		"tools/call":               {message.Named, message.Named},
		"prompts/get":              {message.Named, message.Named},
		"resources/read":           {message.Named, message.Named},
		"resources/subscribe":      {message.Named, message.Unknown},
		"resources/unsubscribe":    {message.Named, message.Unknown},
		"completion/complete":      {message.Named, message.Named},
		"tools/list":               {message.Listed, message.Listed},
		"prompts/list":             {message.Listed, message.Listed},
		"resources/list":           {message.Listed, message.Listed},
		"resources/templates/list": {message.Listed, message.Listed},
		"subscriptions/listen":     {message.Unknown, message.Streamed},
		"tasks/get":                {message.OfTask, message.OfTask},
		"tasks/result":             {message.OfTask, message.Unknown},
		"tasks/list":               {message.OfTask, message.Unknown},
		"tasks/cancel":             {message.OfTask, message.OfTask},
		"tasks/update":             {message.Unknown, message.OfTask},
		"logging/setLevel":         {message.Levelled, message.Unknown},
		"Tools/Call":               {},
		"tools/call ":              {},
		"tools/call\x00":           {},
		"roots/list":               {},
		"sampling/createMessage":   {},
		"elicitation/create":       {},
		"notifications/cancelled":  {}, // with an id
		"rpc.discover":             {},
		"":                         {},
	} {
		m := &message.Message{Kind: message.Request, Method: method}
		if l, mod := m.Class(message.Legacy), m.Class(message.Modern); l != want.legacy || mod != want.modern {
			t.Errorf("%q is %d and %d, want %d and %d", method, l, mod, want.legacy, want.modern)
		}
		if m.Class(0) != message.Unknown || (&message.Message{Method: method}).Class(message.Legacy) != message.Unknown {
			t.Errorf("%q without an era or a kind has a class", method)
		}
	}
}

// TestNotificationRunsNothing guarantees that a message without an id passes for what begins with notifications/ alone.
func TestNotificationRunsNothing(t *testing.T) {
	for method, want := range map[string]message.Class{
		"notifications/initialized": message.Passes, "notifications/cancelled": message.Passes,
		"tools/call": message.Unknown, "initialize": message.Unknown, "ping": message.Unknown, "notifications": message.Unknown,
	} {
		m := &message.Message{Kind: message.Notification, Method: method}
		if m.Class(message.Legacy) != want || m.Class(message.Modern) != want || m.Class(0) != message.Unknown {
			t.Errorf("notification %q is %d and %d, want %d", method, m.Class(message.Legacy), m.Class(message.Modern), want)
		}
	}
	m := &message.Message{Kind: message.Response}
	if m.Class(message.Legacy) != message.Answers || m.Class(message.Modern) != message.Unknown {
		t.Error("a response is of another class")
	}
}

// TestServerRequestsAreKnown guarantees that no request of a server but the three kinds is known.
func TestServerRequestsAreKnown(t *testing.T) {
	for method, want := range map[string]string{"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots", "ping": "", "tasks/get": "", "": ""} {
		if kind, ok := message.ServerRequest(method); kind != want || ok != (want != "") {
			t.Errorf("%q is %q, %v", method, kind, ok)
		}
	}
}
