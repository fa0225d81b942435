package message_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// TestServerMessageIsRead guarantees what the door looks at in an answer and in the messages of a stream.
func TestServerMessageIsRead(t *testing.T) {
	for body, want := range map[string]message.ServerMessage{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`:                                                {Kind: message.Response, ID: []byte("1"), IsError: true},
		`{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","structuredContent":{"s":"\u0000"}}}`:               {Kind: message.Response, ID: []byte(`"a"`)},
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t"}}`:                                           {Kind: message.Response, ID: []byte("1")},
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`:                                             {Kind: message.Response, Failed: true, Code: -32600},
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"go","data":{"elicitations":[]}}}`:                     {Kind: message.Response, ID: []byte("1"), Failed: true, Code: -32042, Inputs: []string{"elicitation/create"}},
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}`:                                                       {Kind: message.Response, Failed: true, Code: -32600},
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`:                                    {Kind: message.Notification, Method: "notifications/progress"},
		` {"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"?"}} `:                              {Kind: message.Request, ID: []byte("3"), Method: "elicitation/create"},
		`{"jsonrpc":"2.0","id":1,"extra":1,"result":{"deep":` + strings.Repeat("[", 90) + strings.Repeat("]", 90) + `}}`: {Kind: message.Response, ID: []byte("1")},
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{}},"b":{"params":{},"method":"sampling/createMessage"},"c":{}}}}`: {
			Kind: message.Response, ID: []byte("1"), Inputs: []string{"elicitation/create", "sampling/createMessage", ""},
		},
	} {
		got, err := message.ReadServer([]byte(body))
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s\n is %+v, %v,\nwant %+v", body, got, err, want)
		}
	}
}

// TestServerMessageWithTwoReadingsIsRefused guarantees that a server can't show the door one message and the client another.
func TestServerMessageWithTwoReadingsIsRefused(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "cut": `{"jsonrpc":"2.0"`, "array": `[]`, "trailing": `{"jsonrpc":"2.0","method":"a"}{}`, "no version": `{"method":"a"}`,
		"result twice": `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, "result twice by case": `{"jsonrpc":"2.0","id":1,"result":{},"Result":{}}`,
		"result and error": `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`, "result and method": `{"jsonrpc":"2.0","id":1,"result":{},"method":"a"}`,
		"result without an id": `{"jsonrpc":"2.0","result":{}}`, "result a string": `{"jsonrpc":"2.0","id":1,"result":""}`, "nothing": `{"jsonrpc":"2.0","id":1}`,
		"id an object": `{"jsonrpc":"2.0","id":{},"result":{}}`, "code a string": `{"jsonrpc":"2.0","id":1,"error":{"code":"1"}}`,
		"inputs an array":            `{"jsonrpc":"2.0","id":1,"result":{"inputRequests":[]}}`,
		"input a string":             `{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"a":"x"}}}`,
		"method of an input by case": `{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"a":{"method":"elicitation/create","Method":"roots/list"}}}}`,
		"inputs by case":             `{"jsonrpc":"2.0","id":1,"result":{"InputRequests":{}}}`,
		"input twice":                `{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"a":{},"a":{}}}}`,
		"deep name twice":            `{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":1,"b":2}]}}`,
		"invalid UTF-8":              "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}",
		"over 4 MiB":                 `{"jsonrpc":"2.0","method":"` + strings.Repeat("a", message.MaxAnswer) + `"}`,
	} {
		if got, err := message.ReadServer([]byte(body)); err == nil {
			t.Errorf("%s is taken: %+v", name, got)
		}
	}
}

// TestTaskIDsAreReplaced guarantees that task ids of both sides and both eras are replaced, and nothing else.
func TestTaskIDsAreReplaced(t *testing.T) {
	for body, want := range map[string]string{
		request("tasks/get", `{ "taskId" : "t\u0031", "x":"t1"}`):                                                         request("tasks/get", `{ "taskId" : "<t1>", "x":"t1"}`),
		request("subscriptions/listen", `{"notifications":{"taskIds":[ "t1","t2" ],"resourceSubscriptions":["t1"]}}`):     request("subscriptions/listen", `{"notifications":{"taskIds":[ "<t1>","<t2>" ],"resourceSubscriptions":["t1"]}}`),
		request("tools/call", `{"name":"t1","arguments":{"taskId":"t1"}}`):                                                request("tools/call", `{"name":"t1","arguments":{"taskId":"t1"}}`),
		request("elicitation/create", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"},"taskId":"t1"}}`): request("elicitation/create", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"<t1>"},"taskId":"t1"}}`),
		`{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1","status":"working"}}}`:                                   `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"<t1>","status":"working"}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t1"}}`:                                           `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"<t1>"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"t1"},{"taskId":"t2"},3],"nextCursor":"t1"}}`:               `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"<t1>"},{"taskId":"<t2>"},3],"nextCursor":"t1"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"t\u0061sk\u0049d":"t1"}}`:                                                     `{"jsonrpc":"2.0","id":1,"result":{"t\u0061sk\u0049d":"<t1>"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"t1"}}`:                                                      `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"t1"}}`,
	} {
		got, err := message.ReplaceTaskIDs([]byte(body), func(id string) (string, error) { return "<" + id + ">", nil })
		if err != nil || string(got) != want {
			t.Errorf("%s\nbecomes %s, %v\nwant %s", body, got, err, want)
		}
		if string(got) != body && !message.HasTaskID([]byte(body)) {
			t.Errorf("%s has no task id", body)
		}
		same, err := message.ReplaceTaskIDs([]byte(body), func(id string) (string, error) { return id, nil })
		if err != nil || string(same) != body {
			t.Errorf("%s\nbecomes %s, %v by the same ids", body, same, err)
		}
	}
	foreign := errors.New("of another caller")
	if out, err := message.ReplaceTaskIDs([]byte(request("tasks/get", `{"taskId":"t"}`)), func(string) (string, error) { return "", foreign }); out != nil || !errors.Is(err, foreign) {
		t.Errorf("%s, %v", out, err)
	}
	for _, body := range []string{"", `{"params":{"taskId":"a","taskId":"b"}}`, `{"params":{"taskId":"a","TaskId":"b"}}`, `{"params":{"taskId":"a"}} x`, `{"result":{"tasks":[`} {
		if out, err := message.ReplaceTaskIDs([]byte(body), func(id string) (string, error) { return id, nil }); err == nil {
			t.Errorf("%q is taken: %s", body, out)
		}
	}
}
