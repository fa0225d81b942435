package message_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

func subject(t *testing.T, params string) message.Subject {
	t.Helper()
	s, err := message.ReadSubject([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`))
	if err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	return s
}

// TestASubjectIsAllThatACallAsksFor guarantees one hash for two spellings of a call, and another one for each other value.
// Two numbers of one double differ.
func TestASubjectIsAllThatACallAsksFor(t *testing.T) {
	const call = `{"name":"pay","arguments":{"to":"A","amount":9007199254740992},"_meta":{"progressToken":1}}`
	want := subject(t, call)
	if string(want.Arguments) != `{"to":"A","amount":9007199254740992}` || want.Further != nil {
		t.Errorf("%s %s", want.Arguments, want.Further)
	}
	for _, same := range []string{
		`{"arguments": {"amount" : 9007199254740992, "t\u006f":"\u0041"}, "name":"pay"}`,
		`{"_meta":{"progressToken":"other"},"name":"pay","arguments":{"to":"A","amount":9007199254740992}}`,
	} {
		if got := subject(t, same); got.Hash != want.Hash {
			t.Errorf("%s has another hash", same)
		}
	}
	for _, other := range []string{
		`{"name":"pay","arguments":{"to":"B","amount":9007199254740992}}`,
		`{"name":"pay","arguments":{"to":"A","amount":9007199254740993}}`,
		`{"name":"pay","arguments":{"to":"A","amount":9007199254740992.0}}`,
		`{"name":"pay","arguments":{"to":"A","amount":9007199254740992,"":null}}`,
		`{"name":"pay","arguments":{"to":"A"}}`, `{"name":"pay"}`, `{"name":"pay","arguments":{}}`,
		`{"name":"refund","arguments":{"to":"A","amount":9007199254740992}}`,
		`{"name":"pay","arguments":{"to":"A","amount":9007199254740992},"inputResponses":{"sure":{"action":"accept"}}}`,
		`{"name":"pay","arguments":{"to":"A","amount":9007199254740992},"requestState":"s"}`,
		`{"name":"pay","arguments":{"to":"A","amount":9007199254740992},"future":1}`,
	} {
		if got := subject(t, other); got.Hash == want.Hash {
			t.Errorf("%s has the same hash", other)
		}
	}
	further := subject(t, `{"name":"pay","requestState":"s","inputResponses":{"b":1}}`)
	if string(further.Further) != `{"inputResponses":{"b":1},"requestState":"s"}` || further.Arguments != nil {
		t.Errorf("%s %s", further.Further, further.Arguments)
	}
}
