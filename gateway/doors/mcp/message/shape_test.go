package message_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// TestAShapeHasNoValue guarantees names and nesting without a text, a number or a boolean.
func TestAShapeHasNoValue(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`: `{}`,
		`{"to": "eve@example.com", "amount": -12.5e3, "urgent": true, "no": false, "note": null}`: `{"to":"…","amount":"…","urgent":"…","no":"…","note":null}`,
		`{"all": [ "a", {"b\u0041": [1, [], {}]} ], "z": {}}`:                                     `{"all":["…",{"b\u0041":["…",[],{}]}],"z":{}}`,
	} {
		if got, cut := message.Shape([]byte(object)); string(got) != want || cut {
			t.Errorf("%s: %s %v", object, got, cut)
		}
	}
}

// TestALargeShapeIsCut guarantees JSON of a bounded size for many members, long names and deep nesting.
func TestALargeShapeIsCut(t *testing.T) {
	t.Parallel()
	var members []string
	for i := range 5000 {
		members = append(members, fmt.Sprintf(`"name-%d":"secret"`, i))
	}
	for name, object := range map[string]string{
		"members":     "{" + strings.Join(members, ",") + "}",
		"items":       `{"list":[` + strings.Repeat("1,", 50_000) + `1]}`,
		"a long name": `{"` + strings.Repeat("n", 100_000) + `":1,"b":2}`,
		"nested":      `{"a":` + strings.Repeat("[", 30) + strings.Repeat(`"secret",`, 5000) + "1" + strings.Repeat("]", 30) + `}`,
	} {
		got, cut := message.Shape([]byte(object))
		if !cut || len(got) > message.MaxShape+64 || !json.Valid(got) || strings.Contains(string(got), "secret") {
			t.Errorf("%s: %v, %d bytes, %.100s", name, cut, len(got), got)
		}
	}
}
