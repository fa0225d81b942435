package message_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

const inputPrefix = "gateway/"

// TestTakeInput guarantees that the gateway's input goes and everything else stays, with the text of numbers and strings.
func TestTakeInput(t *testing.T) {
	const whole = `{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"b":9007199254740993,"a":"\u0078"},%s"name":"t"}}`
	const before = `{ "jsonrpc":"2.0", "id":1, "method":"tools/call", "params":{ %s"name":"t", "arguments":{"b":9007199254740993,"a":"\u0078"}}}`
	for inputs, want := range map[string]struct {
		kept  string
		input message.Input
	}{
		`{"gateway/x":{"action":"accept"}}`:                                 {"", message.Input{Rest: "x", Accepted: true}},
		`{"gate\u0077ay/x":{"action":"accept","content":{"a":1}}}`:          {"", message.Input{Rest: "x", Accepted: true}},
		`{"gateway/x":{"action":"decline"}}`:                                {"", message.Input{Rest: "x"}},
		`{"gateway/x":{"Action":"accept"}}`:                                 {"", message.Input{Rest: "x"}},
		`{"gateway/x":null}`:                                                {"", message.Input{Rest: "x"}},
		`{"gateway/x":{"action":"accept"},"gateway/y":{"action":"accept"}}`: {"", message.Input{}},
		`{"sure":{"n":1.0},"gateway/":{"action":"accept"}}`:                 {`"inputResponses":{"sure":{"n":1.0}},`, message.Input{Accepted: true}},
	} {
		body := []byte(strings.Replace(before, "%s", `"inputResponses":`+inputs+`, `, 1))
		m, fault := message.Read(body)
		if fault != nil {
			t.Fatal(fault)
		}
		stripped, input, err := m.TakeInput(body, inputPrefix)
		if string(stripped) != strings.Replace(whole, "%s", want.kept, 1) || input != want.input || err != nil {
			t.Errorf("%s: %s %+v %v", inputs, stripped, input, err)
		}
	}
	for _, inputs := range []string{``, `"inputResponses":{},`, `"inputResponses":{"Gateway/x":{"action":"accept"},"gateway":{}},`} {
		body := []byte(strings.Replace(before, "%s", inputs, 1))
		m, fault := message.Read(body)
		if fault != nil {
			t.Fatal(fault)
		}
		if stripped, input, err := m.TakeInput(body, inputPrefix); stripped != nil || input != (message.Input{}) || err != nil {
			t.Errorf("%s: %s %+v %v", inputs, stripped, input, err)
		}
	}
}

// FuzzTakeInput guarantees that taking the gateway's input leaves an accepted request without such an input. All else in it reads
// the same.
func FuzzTakeInput(f *testing.F) {
	seeds(f)
	f.Add([]byte(modern("tools/call", `"name":"a","arguments":{"x":1e3},"inputResponses":{"gateway/x":{"action":"accept"},"k":{"n":1.0}}`)))
	f.Add([]byte(modern("tools/call", `"name":"a","inputResponses":{"gateway/x":{"action":"accept"}},"requestState":"s"`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, fault := message.Read(body)
		if fault != nil {
			return
		}
		kept := bytes.Clone(body)
		stripped, _, err := m.TakeInput(body, inputPrefix)
		if err != nil || !bytes.Equal(body, kept) {
			t.Fatalf("%v, or the body changed", err)
		}
		if stripped == nil {
			return
		}
		again, fault := message.Read(stripped)
		if fault != nil {
			t.Fatalf("%+v: %s", fault, stripped)
		}
		if more, _, err := again.TakeInput(stripped, inputPrefix); more != nil || err != nil {
			t.Fatalf("%s %v", more, err)
		}
		want, got := values(t, body), values(t, stripped)
		params, _ := want["params"].(map[string]any)
		inputs, _ := params["inputResponses"].(map[string]any)
		for key := range inputs {
			if strings.HasPrefix(key, inputPrefix) {
				delete(inputs, key)
			}
		}
		if len(inputs) == 0 {
			delete(params, "inputResponses")
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%s\n%s", body, stripped)
		}
	})
}

// values reads a document with the text of its numbers.
func values(t *testing.T, body []byte) (out map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}
