package message_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// ofTasks are messages about tasks, of both eras and both directions of a session.
var ofTasks = []string{
	request("tasks/get", `{"taskId":"t"}`), modern("tasks/update", `"taskId":"t","inputResponses":{"taskId":{"taskId":"u"}}`), request("tasks/cancel", `{"t\u0061skId":"\u0074"}`),
	modern("subscriptions/listen", `"notifications":{"taskIds":["t","u",""]}`), request("tools/call", `{"name":"a","arguments":{"taskId":"v"},"task":{"ttl":1},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}`),
	`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}},"task":{"taskId":"u"},"tasks":[{"taskId":"w"}]}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"TaskId":"t"}}`, `{"jsonrpc":"2.0","id":1,"result":{"TASKID":"t"}}`, `{"jsonrpc":"2.0","method":"notifications/x","params":{"TAſKID":"t"}}`, `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t","TASKID":"u"}}`, request("tasks/get", `{"taskId":["t"]}`),
}

// ofCalls are calls for approvals, and calls with arguments in headers.
var ofCalls = []string{
	request("tools/call", `{"name":"pay","arguments":{"to":"A","amount":9007199254740993},"_meta":{"progressToken":1}}`), request("tools/call", `{"name":"pay","arguments":{"to":"\u0041","amount":9007199254740993.0}}`),
	modern("tools/call", `"name":"pay","requestState":"s","inputResponses":{"sure":{"action":"accept"}},"future":[1e2,-0,{}]`), request("tools/call", `{"name":"pay"}`), request("tools/call", `{"name":"pay","arguments":{}}`),
	modern("tools/call", `"name":"a","arguments":{"region":"eu","n":1e1,"deep":{"b":false}}`), modern("tools/call", `"name":"a","arguments":{"region":null,"Region":"us","deep":[]}`),
}

const server = "server's "

// FuzzTasks guarantees that no task id of a client reaches a server, also a careless one. The judged id is among the replaced
// ones. All else of the message stays.
func FuzzTasks(f *testing.F) {
	for _, s := range ofTasks {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, fault := message.Read(body)
		if fault != nil {
			return
		}
		replaced := map[string]bool{"": true}
		out, err := message.ReplaceTaskIDs(body, func(id string) (string, error) {
			replaced[id] = true
			return server + id, nil
		})
		if m.Kind != message.Response && !message.HasTaskID(body) { // it is sent as it is
			if len(replaced) > 1 || err != nil {
				t.Fatalf("%s has ids of tasks: %v", body, err)
			}
			out = body
		} else if err != nil {
			return // it is answered as an unknown task
		}
		for _, id := range append(m.Listen.TaskIDs, m.TaskID) {
			if !replaced[id] {
				t.Fatalf("%q is judged, and not replaced", id)
			}
		}
		var l struct {
			lenient
			Result struct {
				TaskID string
				Task   struct{ TaskID string }
				Meta   map[string]json.RawMessage `json:"_meta"`
			} `json:"result"`
		}
		if err := json.Unmarshal(out, &l); err != nil {
			return // of other types than a server expects
		}
		var related []string
		for _, meta := range []map[string]json.RawMessage{l.Params.Meta, l.Result.Meta} {
			var one struct{ TaskID string }
			_ = json.Unmarshal(meta["io.modelcontextprotocol/related-task"], &one) // of another type, or absent
			related = append(related, one.TaskID)
		}
		for _, id := range append(append(related, l.Params.Listen.Tasks...), l.Params.TaskID, l.Result.TaskID, l.Result.Task.TaskID) {
			if id != "" && !strings.HasPrefix(id, server) {
				t.Fatalf("the server reads the client's id %q in %s", id, out)
			}
		}
		again, fault := message.Read(out)
		if fault != nil {
			if len(out) > message.MaxBody {
				return
			}
			t.Fatalf("%s is refused: %s", out, fault.Text)
		}
		for _, one := range []*message.Message{m, again} {
			one.TaskID, one.Listen.TaskIDs = "", nil
		}
		if !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v becomes %+v", m, again)
		}
	})
}

// FuzzSubjects guarantees one hash for a call however it is written, and another one for each other call.
func FuzzSubjects(f *testing.F) {
	for i, s := range ofCalls {
		f.Add([]byte(s), []byte(ofCalls[(i+1)%len(ofCalls)]))
	}
	f.Fuzz(func(t *testing.T, body, other []byte) {
		m, fault := message.Read(body)
		if fault != nil || m.Kind != message.Request || m.Method != message.MethodCall {
			return
		}
		s, err := message.ReadSubject(body)
		if err != nil {
			t.Fatalf("%s has no subject: %v", body, err)
		}
		if !bytes.Equal(s.Arguments, m.Arguments) {
			t.Fatalf("%s is approved, and %s is judged", s.Arguments, m.Arguments)
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, body, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if same, err := message.ReadSubject(spaced.Bytes()); err != nil || same.Hash != s.Hash {
			t.Fatalf("%s and %s: %v", s.Hash, same.Hash, err)
		}
		if m2, fault := message.Read(other); fault != nil || m2.Kind != message.Request || m2.Method != message.MethodCall {
			return
		}
		if s2, err := message.ReadSubject(other); err != nil || s2.Hash == s.Hash && !reflect.DeepEqual(approved(t, body), approved(t, other)) {
			t.Fatalf("%s and %s have one hash: %v", body, other, err)
		}
	})
}

// approved returns the parameters of a call but for `_meta`, with the text of each number.
func approved(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var l struct{ Params map[string]any }
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&l); err != nil {
		t.Fatal(err)
	}
	delete(l.Params, "_meta")
	return l.Params
}

// FuzzParamHeaders guarantees that each header for an argument equals it in an accepted call.
func FuzzParamHeaders(f *testing.F) {
	params, err := message.ParamHeaders([]byte(`{"properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},` +
		`"deep":{"properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}`))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range ofCalls {
		f.Add([]byte(s), "eu", "10", "false", uint8(7), true)
		f.Add([]byte(s), "=?base64?ZXU=?=", "1e1", "", uint8(3), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, region, n, b string, sent uint8, isModern bool) {
		m, fault := message.Read(body)
		if fault != nil || m.Method != message.MethodCall {
			return
		}
		h, era := http.Header{}, message.Legacy
		if isModern {
			era = message.Modern
		}
		for i, pair := range [][2]string{{"Mcp-Param-Region", region}, {"Mcp-Param-N", n}, {"Mcp-Param-B", b}, {"Mcp-Param-Region", n}} {
			if sent&(1<<i) != 0 {
				h.Add(pair[0], pair[1])
			}
		}
		if m.ParamFault(h.Values, era, params) != nil {
			return
		}
		var arguments map[string]any
		_ = json.Unmarshal(m.Arguments, &arguments) // absent ones are none
		deep, _ := arguments["deep"].(map[string]any)
		for name, value := range map[string]any{"Mcp-Param-Region": arguments["region"], "Mcp-Param-N": arguments["n"], "Mcp-Param-B": deep["b"]} {
			values := h[name]
			if len(values) > 1 || len(values) == 0 && value != nil && isModern {
				t.Fatalf("taken with %q of %s, and %v in the arguments", values, name, value)
			}
			if len(values) == 1 && !repeats(values[0], value) {
				t.Fatalf("taken with %s %q, and %v in the arguments", name, values[0], value)
			}
		}
	})
}

// repeats reports whether a server reads the value in the header.
func repeats(sent string, value any) bool {
	text, ok := message.DecodeHeader(sent)
	switch value := value.(type) {
	case string:
		return ok && text == value
	case bool:
		return text == strconv.FormatBool(value)
	case float64:
		read, err := strconv.ParseFloat(sent, 64)
		return err == nil && read == value
	case nil:
		return false
	}
	return ok // an object or an array: the schema denies it
}
