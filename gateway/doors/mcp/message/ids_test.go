package message_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// key makes a key of 32 bytes.
func key() []byte {
	k := make([]byte, 32)
	_, _ = rand.Read(k)
	return k
}

// ids seals with these keys.
func ids(tb testing.TB, keys ...[]byte) message.IDs {
	tb.Helper()
	s, err := message.NewIDs(keys)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestSealedIDIsOfOneCaller guarantees that an id opens for the caller and the purpose of its sealing alone. Its
// letters may stand in a header.
func TestSealedIDIsOfOneCaller(t *testing.T) {
	old := key()
	s := ids(t, old)
	alice := message.Caller{Upstream: "hub", Server: "github", Account: "acc", User: "alice", Agent: "agent-1"}
	for _, id := range []string{"", "1868a90c", "a\n\xff\x00", strings.Repeat("x", 1024)} {
		sealed := s.Seal(message.SessionID, id, alice)
		if strings.ContainsFunc(sealed, func(c rune) bool { return c < 0x21 || c > 0x7E }) {
			t.Errorf("%q can't stand in a header", sealed)
		}
		if got, ok := s.Open(message.SessionID, sealed, alice); !ok || got != id {
			t.Errorf("%q opens as %q, %v", id, got, ok)
		}
		if got, ok := ids(t, key(), old).Open(message.SessionID, sealed, alice); !ok || got != id {
			t.Errorf("after a rotation %q opens as %q, %v", id, got, ok)
		}
		refused := func(name string, s message.IDs, purpose message.Purpose, sealed string, c message.Caller) {
			if got, ok := s.Open(purpose, sealed, c); ok || got != "" {
				t.Errorf("%s opens it as %q", name, got)
			}
		}
		refused("another purpose", s, message.TaskID, sealed, alice)
		refused("another key", ids(t, key()), message.SessionID, sealed, alice)
		refused("a line break", s, message.SessionID, sealed+"\n", alice)
		refused("a cut", s, message.SessionID, sealed[1:], alice)
		refused("the id itself", s, message.SessionID, id, alice)
		for name, c := range map[string]message.Caller{
			"another upstream":      {Upstream: "lab", Server: "github", Account: "acc", User: "alice", Agent: "agent-1"},
			"another server":        {Upstream: "hub", Server: "gitlab", Account: "acc", User: "alice", Agent: "agent-1"},
			"another account":       {Upstream: "hub", Server: "github", Account: "acd", User: "alice", Agent: "agent-1"},
			"another user":          {Upstream: "hub", Server: "github", Account: "acc", User: "bob", Agent: "agent-1"},
			"another agent":         {Upstream: "hub", Server: "github", Account: "acc", User: "alice", Agent: "agent-2"},
			"the user alone":        {Upstream: "hub", Server: "github", Account: "acc", User: "alice"},
			"parts moved":           {Upstream: "hub", Server: "github", Account: "acca", User: "lice", Agent: "agent-1"},
			"parts moved by length": {Upstream: "hub", Server: "github", Account: "acc\x05alice", User: "", Agent: "agent-1"},
			"nobody":                {},
		} {
			refused(name, s, message.SessionID, sealed, c)
		}
	}
	if first, second := s.Seal(message.TaskID, "a", alice), s.Seal(message.TaskID, "a", alice); first == second {
		t.Error("two sealings are equal")
	}
	if _, ok := s.Open(message.TaskID, s.Seal(message.TaskID, strings.Repeat("x", 4096), alice), alice); ok {
		t.Error("a sealed id of over 4,096 characters opens")
	}
}

// TestIDsNeedAKey guarantees that ids are never sealed without a key, or with one of a wrong size.
func TestIDsNeedAKey(t *testing.T) {
	for _, keys := range [][][]byte{nil, {{1}}, {key(), nil}} {
		if _, err := message.NewIDs(keys); err == nil {
			t.Errorf("%d keys are taken", len(keys))
		}
	}
}

// FuzzIDs guarantees that an id opens for its caller and for no other one.
func FuzzIDs(f *testing.F) {
	s := ids(f, key())
	f.Add("id", "s", "a", "u", "g", "s", "a", "u", "")
	f.Add("id", "s", "a\x01u", "", "g", "s", "a", "u", "g")
	f.Fuzz(func(t *testing.T, id, server, account, user, agent, server2, account2, user2, agent2 string) {
		one, two := message.Caller{Server: server, Account: account, User: user, Agent: agent}, message.Caller{Server: server2, Account: account2, User: user2, Agent: agent2}
		sealed := s.Seal(message.TaskID, id, one)
		if got, ok := s.Open(message.TaskID, sealed, one); len(sealed) <= 4096 && (!ok || got != id) {
			t.Fatalf("%q opens as %q", id, got)
		}
		if _, ok := s.Open(message.TaskID, sealed, two); ok && one != two {
			t.Fatalf("the id of %+v opens for %+v", one, two)
		}
		if _, ok := s.Open(message.SessionID, sealed, one); ok {
			t.Fatal("a task is a session")
		}
		if _, ok := s.Open(message.TaskID, id, one); ok {
			t.Fatal("a text that was not sealed opens")
		}
	})
}
