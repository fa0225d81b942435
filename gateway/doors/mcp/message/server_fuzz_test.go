package message_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// FuzzServer guarantees that a lenient client reads the same of a server. The same task ids change nothing, and no cache
// may keep what Uncached returns.
func FuzzServer(f *testing.F) {
	seeds(f)
	f.Add([]byte(result(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"ttlMs":1,"cacheScope":"public","tasks":[{"taskId":"t"}]}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		if same, err := message.ReplaceTaskIDs(body, func(id string) (string, error) { return id, nil }); err == nil && !bytes.Equal(same, body) {
			t.Fatalf("the same ids make %s", same)
		}
		type hints struct {
			TTL   any `json:"ttlMs"`
			Scope any `json:"cacheScope"`
			Type  string
		}
		if out, err := message.Uncached(message.Modern, body); err == nil {
			var read struct{ Result *hints }
			if err := json.Unmarshal(out, &read); err != nil {
				return // of another type than a client expects
			}
			if r := read.Result; r != nil && ((r.Scope != "private" || r.TTL != 0.0) && !bytes.Contains(body, []byte("input_required")) && !strings.Contains(string(body), `\u`)) {
				t.Fatalf("a cache may keep %s", out)
			}
		}
		m, err := message.ReadServer(body)
		if err != nil {
			return
		}
		var l struct {
			Method string
			Result *struct {
				InputRequests map[string]struct{ Method string }
			}
		}
		if err := json.Unmarshal(body, &l); err != nil {
			t.Fatalf("a lenient client refuses it: %v", err)
		}
		if m.Method != l.Method || (l.Result != nil) != (m.Kind == message.Response && !m.Failed) {
			t.Fatalf("another message is read: %+v", m)
		}
		if l.Result == nil {
			return
		}
		var want []string
		for _, r := range l.Result.InputRequests {
			want = append(want, r.Method)
		}
		if !slices.Equal(slices.Sorted(slices.Values(m.Inputs)), slices.Sorted(slices.Values(want))) {
			t.Fatalf("another result is read: %+v, %+v", m, l.Result)
		}
	})
}

// FuzzList guarantees that a written list has the kept items in their order, and everything else as it was.
func FuzzList(f *testing.F) {
	f.Add([]byte(result(`{"tools":[{"name":"a"} , {"name":"b","x":[{}]},{"name":"c"}],"nextCursor":"n","ttlMs":5,"_meta":{}}`)), uint64(5), true)
	f.Add([]byte(result(` { "cacheScope" : "public", "tools":[ ] } `)), uint64(0), true)
	f.Fuzz(func(t *testing.T, body []byte, keep uint64, isModern bool) {
		l, err := message.ReadList("tools/list", body)
		if err != nil {
			return
		}
		era, i, want := message.Legacy, 0, []string(nil)
		if isModern {
			era = message.Modern
		}
		out := l.Write(era, func(item message.Item) bool {
			stays := keep&(1<<(i%64)) != 0
			if i++; stays {
				want = append(want, string(item.Raw))
			}
			return stays
		})
		before, after := members(t, body), members(t, out)
		var items []json.RawMessage
		if err := json.Unmarshal(after["tools"], &items); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range items {
			got = append(got, string(item))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q stay, want %q", got, want)
		}
		if isModern && string(before["resultType"]) == "" && (string(after["ttlMs"]) != "0" || string(after["cacheScope"]) != `"private"`) {
			t.Fatalf("a cache may keep %s", out)
		}
		for name, want := range map[string]string{"ttlMs": "0", "cacheScope": `"private"`} {
			if was, is := before[name], after[name]; is != nil && string(is) != want || !isModern && (was == nil) != (is == nil) {
				t.Fatalf("%s was %s and is %s", name, was, is)
			}
		}
		for _, m := range []map[string]json.RawMessage{before, after} {
			for _, name := range []string{"tools", "ttlMs", "cacheScope"} {
				delete(m, name)
			}
		}
		if !maps.EqualFunc(before, after, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("%s\nbecomes %s", body, out)
		}
		if _, err := message.ReadList("tools/list", out); err != nil && len(out) <= message.MaxAnswer {
			t.Fatalf("what is written is refused: %v", err)
		}
	})
}

// members reads the members of a result.
func members(t *testing.T, body []byte) map[string]json.RawMessage {
	t.Helper()
	var read struct{ Result map[string]json.RawMessage }
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatal(err)
	}
	return read.Result
}
