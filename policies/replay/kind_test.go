package replay

import "testing"

// TestAKindIsOfWhatWasJudged guarantees the action, the place and the roles of an app's question. Its caller sends further
// members.
func TestAKindIsOfWhatWasJudged(t *testing.T) {
	const facts = `"facts":{"assignments":[{"role":"reader"}]}`
	for _, input := range []string{
		`{"action":{"name":"drop"},` + facts + `,"resource":{"type":"doc"},"subject":{"id":"u"}}`,
		`{"action":{"name":"drop","id":"project:doc:read","NAME":"read"},` + facts + `,"resource":{"type":"doc","Type":"note"},"subject":{"id":"u","here":[{"role":"owner"}]}}`,
	} {
		if got, want := kindOf("apps/docs/decision", []byte(input)), (kind{Path: "apps/docs/decision", Action: "drop", Place: "doc", Role: "reader"}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	masked := `{"action":"***","route":{"name":"instance.list"},"subject":{"here":[{"role":"reader"}]},"target":{"project":"p","resource":"instances/i"}}`
	if got, want := kindOf("authz/access", []byte(masked)), (kind{Path: "authz/access", Route: "instance.list", Place: "instances", Role: "reader"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
