package message_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// lenient is what a careless server reads: names in any case, and the last one of two.
type lenient struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Params  struct {
		Name      string                     `json:"name"`
		URI       string                     `json:"uri"`
		Level     string                     `json:"level"`
		TaskID    string                     `json:"taskId"`
		Arguments json.RawMessage            `json:"arguments"`
		Responses json.RawMessage            `json:"inputResponses"`
		Meta      map[string]json.RawMessage `json:"_meta"`
		Ref       struct {
			Type string `json:"type"`
			Name string `json:"name"`
			URI  string `json:"uri"`
		} `json:"ref"`
		Listen struct {
			URIs  []string `json:"resourceSubscriptions"`
			Tasks []string `json:"taskIds"`
		} `json:"notifications"`
	} `json:"params"`
}

// seeds are messages of both eras, and some that are refused.
func seeds(f *testing.F) {
	f.Helper()
	for _, s := range slices.Concat(ofTasks, ofCalls, []string{
		request("tools/call", `{"name":"a","arguments":{"x":[1,"\u00e9",{"y":null}]}}`), modern("tools/call", `"name":"ä","requestState":"s","inputResponses":{"k":{"action":"accept"}}`),
		request("resources/read", `{"uri":"repo://a/b"}`), request("completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":"v"}}`),
		request("subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["t"]}}`), request("tasks/get", `{"taskId":"t"}`),
		request("logging/setLevel", `{"level":"info"}`), request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`),
		`{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"m"}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		request("tools/call", `{"name":"a","Name":"b","name":"c"}`), "[" + modern("tools/list", "") + "]", `{"jsonrpc":"2.0","id":1,"method":"ping","methoD":"x","params":{"_META":{}}}`,
	}) {
		f.Add([]byte(s))
	}
}

// FuzzRead guarantees that what is taken has one reading: a lenient server reads the same of it.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		m, fault := message.Read(body)
		if !bytes.Equal(body, before) {
			t.Fatal("the body changed")
		}
		if (m == nil) == (fault == nil) {
			t.Fatalf("%+v and %+v", m, fault)
		}
		if fault != nil {
			if !json.Valid(fault.Body()) || fault.Status != 400 || !slices.Contains([]int{-32700, -32600, -32602}, fault.Code) {
				t.Fatalf("fault %+v", fault)
			}
			return
		}
		var l lenient
		if err := json.Unmarshal(body, &l); err != nil {
			t.Fatalf("a lenient server refuses it: %v", err)
		}
		method := ""
		if l.Method != nil {
			method = *l.Method
		}
		kinds := map[message.Kind]bool{
			message.Request: l.Method != nil && l.ID != nil, message.Notification: l.Method != nil && l.ID == nil, message.Response: l.Method == nil && (l.Result != nil) != (l.Error != nil),
		}
		p := l.Params
		for name, same := range map[string]bool{
			"version": l.Version == "2.0", "kind": kinds[m.Kind], "method": m.Method == method, "id": bytes.Equal(m.ID, l.ID),
			"name": m.Name == p.Name, "uri": m.URI == p.URI, "level": m.Level == p.Level, "task": m.TaskID == p.TaskID,
			"arguments": bytes.Equal(m.Arguments, p.Arguments), "responses": bytes.Equal(m.InputResponses, p.Responses),
			"ref": m.Ref == message.Ref(p.Ref), "uris": slices.Equal(m.Listen.URIs, p.Listen.URIs), "tasks": slices.Equal(m.Listen.TaskIDs, p.Listen.Tasks),
			"capabilities": bytes.Equal(m.Client.Capabilities, p.Meta["io.modelcontextprotocol/clientCapabilities"]),
		} {
			if !same {
				t.Errorf("another %s is read: %+v\n%+v", name, m, l)
			}
		}
	})
}

// FuzzHeaders guarantees that a message is taken with equal headers and no others.
func FuzzHeaders(f *testing.F) {
	for _, v := range []string{"2026-07-28", "2025-11-25", ""} {
		f.Add([]byte(modern("tools/call", ofA)), v, "tools/call", "a", "a", uint8(3))
		f.Add([]byte(request("resources/read", `{"uri":"é"}`)), v, "resources/read", "=?base64?w6k=?=", "", uint8(7))
		for _, s := range ofTasks {
			f.Add([]byte(s), v, "tasks/get", "t", "t", uint8(7))
		}
		for _, s := range ofCalls {
			f.Add([]byte(s), v, "tools/call", "pay", "pay", uint8(7))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, version, method, name, second string, sent uint8) {
		m, fault := message.Read(body)
		if fault != nil {
			return
		}
		h := http.Header{}
		for i, pair := range [][2]string{{"Mcp-Protocol-Version", version}, {"Mcp-Method", method}, {"Mcp-Name", name}, {"Mcp-Name", second}, {"Mcp-Method", second}, {"Mcp-Protocol-Version", second}} {
			if sent&(1<<i) != 0 {
				h.Add(pair[0], pair[1])
			}
		}
		value, field := m.HeaderName()
		era, fault := m.Era(h.Values)
		if fault != nil {
			if era != 0 || fault.Status != 400 || !json.Valid(fault.Body()) {
				t.Fatalf("%+v %+v", era, fault)
			}
		} else {
			required := era == message.Modern && m.Kind == message.Request
			same := func(key, want string, decode, required bool) {
				switch got := h[key]; {
				case len(got) == 0 && !required:
				case len(got) != 1:
					t.Fatalf("taken with %d of %s", len(got), key)
				case decode:
					if raw, ok := message.DecodeHeader(got[0]); !ok || raw != want {
						t.Fatalf("taken with %s %q, and %q in the body", key, got[0], want)
					}
				case got[0] != want:
					t.Fatalf("taken with %s %q, and %q in the body", key, got[0], want)
				}
			}
			same("Mcp-Method", m.Method, false, required)
			same("Mcp-Name", value, true, required && field != "")
			v := m.Client.Version
			if got := h["Mcp-Protocol-Version"]; len(got) > 1 || len(got) == 0 && (v != "" || era == message.Modern) || len(got) == 1 && (got[0] == "2026-07-28") != (era == message.Modern) {
				t.Fatalf("%+v is taken with %q", era, got)
			}
			if v != "" && (v != "2026-07-28" || era != message.Modern) {
				t.Fatalf("%+v with %q in _meta", era, v)
			}
		}
		right := http.Header{}
		if v := m.Client.Version; v != "" {
			right.Set("Mcp-Protocol-Version", v)
		}
		if m.Method != "" {
			right.Set("Mcp-Method", m.Method)
		}
		if value != "" {
			right.Set("Mcp-Name", message.EncodeHeader(value))
		}
		if _, fault := m.Era(right.Values); fault != nil && fault.Code == message.CodeHeaderMismatch {
			t.Fatalf("%v is refused: %s", right, fault.Text)
		}
	})
}
