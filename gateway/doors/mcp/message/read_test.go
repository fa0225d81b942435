package message_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// read reads a message that must be acceptable.
func read(t *testing.T, body string) *message.Message {
	t.Helper()
	m, fault := message.Read([]byte(body))
	if fault != nil {
		t.Fatalf("%s is refused: %d %s", body, fault.Code, fault.Text)
	}
	return m
}

// request is a request with these params.
func request(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
}

// TestWhatTwoServersCouldReadDifferentlyIsRefused guarantees that a message with two readings is refused by its code.
func TestWhatTwoServersCouldReadDifferentlyIsRefused(t *testing.T) {
	nested := func(depth int) string {
		return request("tools/call", `{"name":"a","arguments":`+strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)+"}")
	}
	for name, c := range map[string]struct {
		body string
		code int
	}{
		"empty":                      {"", -32700},
		"cut":                        {`{"jsonrpc":"2.0"`, -32700},
		"trailing":                   {`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, -32700},
		"two lines":                  {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}", -32700},
		"byte order mark":            {"\uFEFF" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, -32700},
		"comment":                    {`{"jsonrpc":"2.0",/**/"id":1,"method":"ping"}`, -32700},
		"method twice":               {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, -32700},
		"method twice, escaped":      {`{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}`, -32700},
		"name twice":                 {request("tools/call", `{"name":"a","name":"b"}`), -32700},
		"argument twice, deep":       {request("tools/call", `{"name":"a","arguments":{"x":[{"a":1,"a":2}]}}`), -32700},
		"member of _meta twice":      {request("tools/call", `{"name":"a","_meta":{"x":1,"x":2}}`), -32700},
		"33 levels":                  {nested(31), -32700},
		"invalid UTF-8":              {request("tools/call", "{\"name\":\"\xff\"}"), -32700},
		"lone surrogate":             {request("tools/call", `{"name":"\ud800"}`), -32700},
		"NUL":                        {request("tools/call", `{"name":"a\u0000b"}`), -32700},
		"over 1 MiB":                 {request("tools/call", `{"name":"`+strings.Repeat("a", message.MaxBody)+`"}`), -32600},
		"batch":                      {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600},
		"empty batch":                {`[]`, -32600},
		"string":                     {`"ping"`, -32600},
		"null":                       {`null`, -32600},
		"no version":                 {`{"id":1,"method":"ping"}`, -32600},
		"version 1":                  {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600},
		"version a number":           {`{"jsonrpc":2.0,"id":1,"method":"ping"}`, -32600},
		"id null":                    {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600},
		"id with a fraction":         {`{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, -32600},
		"id with an exponent":        {`{"jsonrpc":"2.0","id":1e2,"method":"ping"}`, -32600},
		"id over 64 bits":            {`{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}`, -32600},
		"id an object":               {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600},
		"id true":                    {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600},
		"method empty":               {`{"jsonrpc":"2.0","id":1,"method":""}`, -32600},
		"method null":                {`{"jsonrpc":"2.0","id":1,"method":null}`, -32600},
		"method in capitals":         {`{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, -32600},
		"method twice by case":       {`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, -32600},
		"unknown member":             {`{"jsonrpc":"2.0","id":1,"method":"ping","auth":1}`, -32600},
		"method and result":          {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, -32600},
		"method and error":           {`{"jsonrpc":"2.0","id":1,"method":"ping","error":{"code":1,"message":""}}`, -32600},
		"result and error":           {`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, -32600},
		"result and params":          {`{"jsonrpc":"2.0","id":1,"result":{},"params":{}}`, -32600},
		"result without an id":       {`{"jsonrpc":"2.0","result":{}}`, -32600},
		"neither":                    {`{"jsonrpc":"2.0","id":1}`, -32600},
		"error without a code":       {`{"jsonrpc":"2.0","id":1,"error":{"message":""}}`, -32600},
		"error a string":             {`{"jsonrpc":"2.0","id":1,"error":"x"}`, -32600},
		"params an array":            {request("tools/call", `["a"]`), -32600},
		"params null":                {request("ping", `null`), -32600},
		"name twice by case":         {request("tools/call", `{"name":"a","Name":"b"}`), -32600},
		"name by a long s":           {request("tools/call", `{"name":"a","argumentſ":{}}`), -32600},
		"uri in capitals":            {request("resources/read", `{"uri":"a","URI":"b"}`), -32600},
		"task id twice by case":      {request("tasks/get", `{"taskId":"a","taskid":"b"}`), -32600},
		"version of _meta by case":   {request("tools/call", `{"name":"a","_meta":{"io.modelcontextprotocol/ProtocolVersion":"2026-07-28"}}`), -32600},
		"type of ref by case":        {request("completion/complete", `{"ref":{"type":"ref/prompt","name":"a","Name":"b"}}`), -32600},
		"filter twice by case":       {request("subscriptions/listen", `{"notifications":{"resourceSubscriptions":["a:b"],"resourcesubscriptions":["c:d"]}}`), -32600},
		"name a number":              {request("tools/call", `{"name":1}`), -32602},
		"name null":                  {request("tools/call", `{"name":null}`), -32602},
		"no name":                    {request("tools/call", `{}`), -32602},
		"no params":                  {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, -32602},
		"name empty":                 {request("prompts/get", `{"name":""}`), -32602},
		"name instead of uri":        {request("resources/read", `{"name":"a"}`), -32602},
		"no uri to subscribe":        {request("resources/subscribe", `{}`), -32602},
		"no task id":                 {request("tasks/cancel", `{}`), -32602},
		"arguments an array":         {request("tools/call", `{"name":"a","arguments":[]}`), -32602},
		"arguments null":             {request("tools/call", `{"name":"a","arguments":null}`), -32602},
		"_meta a string":             {request("tools/call", `{"name":"a","_meta":"x"}`), -32602},
		"no ref":                     {request("completion/complete", `{}`), -32602},
		"ref of another type":        {request("completion/complete", `{"ref":{"type":"ref/tool","name":"a"}}`), -32602},
		"prompt by a uri":            {request("completion/complete", `{"ref":{"type":"ref/prompt","uri":"a"}}`), -32602},
		"no filter":                  {request("subscriptions/listen", `{}`), -32602},
		"filter with a number":       {request("subscriptions/listen", `{"notifications":{"resourceSubscriptions":[1]}}`), -32602},
		"filter with a wrong flag":   {request("subscriptions/listen", `{"notifications":{"toolsListChanged":1}}`), -32602},
		"filter with 257 resources":  {request("subscriptions/listen", `{"notifications":{"resourceSubscriptions":["a"`+strings.Repeat(`,"a"`, 256)+`]}}`), -32602},
		"filter with a wrong list":   {request("subscriptions/listen", `{"notifications":{"taskIds":"a"}}`), -32602},
		"unknown level":              {request("logging/setLevel", `{"level":"trace"}`), -32602},
		"input responses an array":   {request("tools/call", `{"name":"a","inputResponses":[]}`), -32602},
		"request state a number":     {request("tools/call", `{"name":"a","requestState":1}`), -32602},
		"capabilities of _meta null": {request("tools/call", `{"name":"a","_meta":{"io.modelcontextprotocol/clientCapabilities":null}}`), -32602},
	} {
		t.Run(name, func(t *testing.T) {
			m, fault := message.Read([]byte(c.body))
			if fault == nil {
				t.Fatalf("taken as %+v", m)
			}
			if m != nil || fault.Code != c.code || fault.Status != 400 {
				t.Errorf("%d %d %s, want 400 %d", fault.Status, fault.Code, fault.Text, c.code)
			}
		})
	}
	read(t, nested(30))
}

// TestFaultNamesItsRequest guarantees that a fault has the id of the request if it can be known.
func TestFaultNamesItsRequest(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"tools/call","id":"x-1"}`: `"x-1"`,
		`{"jsonrpc":"1.0","method":"ping","id":7}`:           `7`,
		`{"jsonrpc":"2.0","method":"ping","id":null}`:        `null`,
		`{"jsonrpc":"2.0","method":"ping","id":7,"id":8}`:    `null`,
		`[]`: `null`,
	} {
		_, fault := message.Read([]byte(body))
		if fault == nil {
			t.Fatalf("%s is taken", body)
		}
		if got := string(fault.Body()); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+want+`,"error":{"code":`) {
			t.Errorf("%s is answered %s", body, got)
		}
	}
}

// TestMessageHasWhatIsJudged guarantees that Read finds each part for the judge.
func TestMessageHasWhatIsJudged(t *testing.T) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},` +
		`"io.modelcontextprotocol/clientCapabilities":{ "elicitation":{}},"io.modelcontextprotocol/logLevel":"info","progressToken":1,` +
		`"io.modelcontextprotocol/related-task":{"taskId":"t","x":1}}`
	client := message.Client{Version: "2026-07-28", Capabilities: []byte(`{ "elicitation":{}}`)}
	id := []byte("1")
	for body, want := range map[string]message.Message{
		request("tools/call", `{"name":"merge\u005fit","arguments" : {"a" : [1] } ,"requestState":"s","inputResponses":{"k":{}},`+meta+`}`): {
			Name: "merge_it", Arguments: []byte(`{"a" : [1] }`), Retry: true, InputResponses: []byte(`{"k":{}}`), Client: client,
		},
		request("tools/call", `{"name":"a","task":{"ttl":1}}`):                                                          {Name: "a", AsTask: true},
		request("tools/call", `{"name":"a","requestState":""}`):                                                         {Name: "a", Retry: true},
		request("tools/call", `{"name":"a","inputResponses":{}}`):                                                       {Name: "a", Retry: true, InputResponses: []byte(`{}`)},
		request("resources/read", `{"uri":"repo://a/b"}`):                                                               {URI: "repo://a/b"},
		request("tools/list", `{"cursor":"c"}`):                                                                         {},
		request("tasks/get", `{"taskId":"t"}`):                                                                          {TaskID: "t"},
		request("logging/setLevel", `{"level":"error"}`):                                                                {Level: "error"},
		request("completion/complete", `{"ref":{"type":"ref/prompt","name":"p"}}`):                                      {Ref: message.Ref{Type: "ref/prompt", Name: "p"}},
		request("completion/complete", `{"ref":{"type":"ref/resource","uri":"a://{b}"}}`):                               {Ref: message.Ref{Type: "ref/resource", URI: "a://{b}"}},
		request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c"}}`): {},
		request("subscriptions/listen", `{"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourcesListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["t","u"]}}`): {
			Listen: message.Listen{Given: true, URIs: []string{"a:b"}, TaskIDs: []string{"t", "u"}},
		},
	} {
		got := read(t, body)
		want.Kind, want.ID, want.Method = message.Request, id, got.Method
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s\n is %+v,\nwant %+v", body, *got, want)
		}
	}
}

// TestKindIsRead guarantees that requests, notifications and responses are distinguished.
func TestKindIsRead(t *testing.T) {
	for body, want := range map[string]message.Message{
		`{"jsonrpc":"2.0","id":-5,"method":"ping"}`:                                 {Kind: message.Request, ID: []byte("-5"), Method: "ping"},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                    {Kind: message.Notification, Method: "notifications/initialized"},
		`{"jsonrpc":"2.0","id":"","result":{"action":"accept"}}`:                    {Kind: message.Response, ID: []byte(`""`)},
		`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no","data":[null]}}`: {Kind: message.Response, ID: []byte("2"), Failed: true},
	} {
		if got := read(t, body); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s is %+v, want %+v", body, *got, want)
		}
	}
}

// TestReadChangesNothing guarantees that the judged bytes go on.
func TestReadChangesNothing(t *testing.T) {
	body := []byte(request("tools/call", ` { "name" : "\u0061" , "arguments":{"n":1.50,"s":"\/"}} `))
	before := string(body)
	if m := read(t, string(body)); string(m.Arguments) != `{"n":1.50,"s":"\/"}` || m.Name != "a" {
		t.Errorf("read %+v", m)
	}
	if _, fault := message.Read(body); fault != nil || string(body) != before {
		t.Errorf("the body became %s", body)
	}
}
