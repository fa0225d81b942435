package api_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/apidoc"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestDocumentIsServedAsItIsWritten, on both public listeners, to anybody.
func TestDocumentIsServedAsItIsWritten(t *testing.T) {
	t.Parallel()
	want := must.Get(apidoc.Document())(t)
	g := harness.Shared(t)
	for _, base := range []string{g.URL, g.UsersURL} {
		r := harness.Call(t, "GET", base+"/openapi.json", "", "")
		if r.Status != 200 || string(r.Raw) != string(want) || r.Header.Get("Content-Type") != "application/json" || r.Body["openapi"] != "3.1.0" {
			t.Errorf("%d, %d bytes, %v", r.Status, len(r.Raw), r.Header)
		}
	}
	if !json.Valid(want) {
		t.Error("it is no JSON")
	}
	if entries, err := os.ReadDir("../../resources/apidoc/openapi"); err != nil || len(entries) < 10 {
		t.Errorf("%d parts: %v", len(entries), err)
	}
}
