package message_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// headers makes headers of pairs of name and value. A name may stand several times.
func headers(pairs ...string) message.Headers {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h.Values
}

// modern is a modern request: params without the closing brace, to which `_meta` is added.
func modern(method, params string) string {
	if params != "" {
		params += ","
	}
	return request(method, `{`+params+`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`)
}

const (
	callA   = `{"name":"a"}`
	ofA     = `"name":"a"`
	version = "MCP-Protocol-Version"
)

// TestEraIsFound guarantees the era of a message, by its body and its headers.
func TestEraIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		h    message.Headers
		want message.Era
	}{
		"initialize":                  {request("initialize", `{"protocolVersion":"2025-11-25"}`), headers(), message.Legacy},
		"initialize with a header":    {request("initialize", `{}`), headers(version, "2025-06-18"), message.Legacy},
		"no header":                   {request("tools/call", callA), headers(), message.Legacy},
		"legacy header":               {request("tools/call", callA), headers(version, "2025-11-25"), message.Legacy},
		"legacy, repeated":            {request("tools/call", callA), headers("mcp-method", "tools/call", "mcp-name", "a"), message.Legacy},
		"legacy response":             {`{"jsonrpc":"2.0","id":1,"result":{}}`, headers(version, "2025-11-25"), message.Legacy},
		"modern":                      {modern("tools/call", ofA), headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "a"), message.Modern},
		"modern, encoded":             {modern("tools/call", `"name":"ä"`), headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?w6Q=?="), message.Modern},
		"modern without a name":       {modern("tools/list", ""), headers(version, "2026-07-28", "Mcp-Method", "tools/list"), message.Modern},
		"modern task":                 {modern("tasks/get", `"taskId":"t"`), headers(version, "2026-07-28", "Mcp-Method", "tasks/get", "Mcp-Name", "t"), message.Modern},
		"modern notification":         {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, headers(version, "2026-07-28"), message.Modern},
		"session in a modern request": {modern("tools/list", ""), headers(version, "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Session-Id", "x"), message.Modern},
	} {
		t.Run(name, func(t *testing.T) {
			got, fault := read(t, c.body).Era(c.h)
			if fault != nil || got != c.want {
				t.Errorf("%+v, %+v; want %+v", got, fault, c.want)
			}
		})
	}
}

// TestRemovedMethodsNeedNothing guarantees the class Unknown (404, -32601) for modern requests with a legacy method. They need
// neither parameters nor Mcp-Name.
func TestRemovedMethodsNeedNothing(t *testing.T) {
	for _, method := range []string{"logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result"} {
		m := read(t, modern(method, ""))
		era, fault := m.Era(headers(version, "2026-07-28", "Mcp-Method", method))
		if fault != nil || m.Class(era) != message.Unknown {
			t.Errorf("%s: %+v %+v", method, era, fault)
		}
		if _, fault := message.Read([]byte(request(method, "{}"))); fault == nil || fault.Code != -32602 {
			t.Errorf("legacy %s: %+v", method, fault)
		}
	}
}

// TestHeadersThatDifferAreRefused guarantees that headers are refused if they differ from the body, are missing or
// stand twice, in both eras.
func TestHeadersThatDifferAreRefused(t *testing.T) {
	modernCall, legacyCall := modern("tools/call", ofA), request("tools/call", callA)
	for name, c := range map[string]struct {
		body string
		h    message.Headers
		code int
		text string // a part of the fault
	}{
		"version missing":               {modernCall, headers("Mcp-Method", "tools/call", "Mcp-Name", "a"), -32020, "MCP-Protocol-Version is missing"},
		"version differs":               {modernCall, headers(version, "2025-11-25", "Mcp-Method", "tools/call", "Mcp-Name", "a"), -32020, "MCP-Protocol-Version must equal"},
		"version twice":                 {legacyCall, headers(version, "2025-11-25", version, "2025-11-25"), -32020, "must be sent once"},
		"version empty":                 {legacyCall, headers(version, ""), -32020, "must not be empty"},
		"method missing":                {modernCall, headers(version, "2026-07-28", "Mcp-Name", "a"), -32020, "Mcp-Method is missing"},
		"method differs":                {modernCall, headers(version, "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Name", "a"), -32020, "Mcp-Method must equal method"},
		"method in another case":        {modernCall, headers(version, "2026-07-28", "Mcp-Method", "Tools/Call", "Mcp-Name", "a"), -32020, "Mcp-Method must equal method"},
		"method twice":                  {modernCall, headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Method", "tools/call", "Mcp-Name", "a"), -32020, "Mcp-Method must be sent once"},
		"method encoded":                {modernCall, headers(version, "2026-07-28", "Mcp-Method", "=?base64?dG9vbHMvY2FsbA==?=", "Mcp-Name", "a"), -32020, "Mcp-Method must equal"},
		"name missing":                  {modernCall, headers(version, "2026-07-28", "Mcp-Method", "tools/call"), -32020, "Mcp-Name is missing"},
		"name differs":                  {modernCall, headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "b"), -32020, "Mcp-Name must equal params.name"},
		"name twice":                    {modernCall, headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "a", "Mcp-Name", "b"), -32020, "Mcp-Name must be sent once"},
		"name of a task missing":        {modern("tasks/update", `"taskId":"t"`), headers(version, "2026-07-28", "Mcp-Method", "tasks/update"), -32020, "Mcp-Name is missing"},
		"name not encoded":              {modern("tools/call", `"name":"ä"`), headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "ä"), -32020, "visible ASCII"},
		"name in broken Base64":         {modernCall, headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?YQ?="), -32020, "Base64"},
		"name with trailing bits":       {modernCall, headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?YR==?="), -32020, "Base64"},
		"name of one question mark":     {modern("tools/call", `"name":"=?base64?="`), headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?="), -32020, "Base64"},
		"name that looks encoded":       {modern("tools/call", `"name":"=?base64?YQ==?="`), headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?YQ==?="), -32020, "must equal params.name"},
		"name without one in the body":  {modern("tools/list", ""), headers(version, "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Name", "a"), -32020, "must not be sent"},
		"legacy method differs":         {legacyCall, headers("Mcp-Method", "ping"), -32020, "Mcp-Method must equal method"},
		"legacy name differs":           {legacyCall, headers("Mcp-Name", "b"), -32020, "Mcp-Name must equal params.name"},
		"legacy uri differs":            {request("resources/read", `{"uri":"a:b","name":"a"}`), headers("Mcp-Name", "a"), -32020, "Mcp-Name must equal params.uri"},
		"legacy response with a method": {`{"jsonrpc":"2.0","id":1,"result":{}}`, headers("Mcp-Method", "ping"), -32020, "Mcp-Method must equal method"},
		"unknown version":               {legacyCall, headers(version, "2099-01-01"), -32022, "Unsupported"},
		"version before the transport":  {legacyCall, headers(version, "2024-11-05"), -32022, "Unsupported"},
		"unknown modern version":        {strings.ReplaceAll(modernCall, "2026-07-28", "2026-08-01"), headers(version, "2026-08-01", "Mcp-Method", "tools/call", "Mcp-Name", "a"), -32022, "Unsupported"},
		"legacy version in _meta":       {strings.ReplaceAll(modernCall, "2026-07-28", "2025-11-25"), headers(version, "2025-11-25"), -32022, "Unsupported"},
		"modern without _meta":          {legacyCall, headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "a"), -32602, "protocolVersion is missing"},
		"modern without capabilities":   {request("tools/call", `{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "a"), -32602, "clientCapabilities is missing"},
		"modern response":               {`{"jsonrpc":"2.0","id":1,"result":{}}`, headers(version, "2026-07-28"), -32600, "must not send responses"},
	} {
		t.Run(name, func(t *testing.T) {
			era, fault := read(t, c.body).Era(c.h)
			if fault == nil {
				t.Fatalf("taken as %+v", era)
			}
			if era != 0 || fault.Code != c.code || fault.Status != 400 || string(fault.ID) != "1" || !strings.Contains(fault.Text, c.text) {
				t.Errorf("%+v, %d %d %s %q; want 400 %d %q", era, fault.Status, fault.Code, fault.ID, fault.Text, c.code, c.text)
			}
		})
	}
}

// TestFaultSaysWhatDiffers guarantees the bytes of the faults of headers and versions.
func TestFaultSaysWhatDiffers(t *testing.T) {
	m := read(t, modern("tools/call", ofA))
	_, fault := m.Era(headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "b<"))
	want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch: Mcp-Name must equal params.name of the body.",` +
		`"data":{"header":"Mcp-Name","sent":"b<","field":"params.name","body":"a"}}}`
	if got := string(fault.Body()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	_, fault = read(t, `{"jsonrpc":"2.0","id":"é","method":"ping"}`).Era(headers(version, "1900-01-01"))
	want = `{"jsonrpc":"2.0","id":"é","error":{"code":-32022,"message":"Unsupported protocol version",` +
		`"data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],"requested":"1900-01-01"}}}`
	if got := string(fault.Body()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestFaultIsShort guarantees that a fault quotes at most the beginning of what the client sent.
func TestFaultIsShort(t *testing.T) {
	m := read(t, request("tools/call", `{"name":"`+strings.Repeat("é", 100_000)+`"}`))
	_, fault := m.Era(headers("Mcp-Name", strings.Repeat("x", 5000)))
	if got := len(fault.Body()); got > 1000 {
		t.Errorf("the fault has %d bytes", got)
	}
}

// TestHeaderValuesAreEncoded guarantees the revision's examples of encoded values, both ways.
func TestHeaderValuesAreEncoded(t *testing.T) {
	for value, want := range map[string]string{
		"us-west1":           "us-west1",
		"a b":                "a b",
		"Hello, 世界":          "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":           "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":       "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?base64?=":         "=?base64?PT9iYXNlNjQ/PQ==?=",
		"=?BASE64?YQ==?=":    "=?BASE64?YQ==?=",
		"":                   "",
	} {
		if got := message.EncodeHeader(value); got != want {
			t.Errorf("%q is encoded as %q, want %q", value, got, want)
		}
		if got, ok := message.DecodeHeader(want); !ok || got != value {
			t.Errorf("%q is decoded as %q, %v; want %q", want, got, ok, value)
		}
	}
}
