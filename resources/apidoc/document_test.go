package apidoc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/portcullis-authz/portcullis/resources/apidoc"
	"github.com/portcullis-authz/portcullis/test/must"
)

func parts(texts ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i, text := range texts {
		out["openapi/"+string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// TestPartsAreOneDocument checks that the document has the order of its parts.
func TestPartsAreOneDocument(t *testing.T) {
	got, err := apidoc.Unite(parts(
		"openapi: 3.1.0\npaths:\n  /z: {get: {summary: Z, x-n: 1}}\n",
		"paths:\n  /a: {put: {deprecated: true, tags: [a, '1']}}\n  /z: {put: {summary: '200'}}\ncomponents: {schemas: {X: {enum: [a, null, 1.5]}}}\n",
	))
	const want = `{"openapi":"3.1.0","paths":{"/z":{"get":{"summary":"Z","x-n":1},"put":{"summary":"200"}},` +
		`"/a":{"put":{"deprecated":true,"tags":["a","1"]}}},"components":{"schemas":{"X":{"enum":["a",null,1.5]}}}}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// TestNothingIsSetTwice guarantees an error for a value set twice, and for YAML with two readings.
func TestNothingIsSetTwice(t *testing.T) {
	for name, tc := range map[string]struct {
		texts []string
		want  string
	}{
		"in two parts":        {[]string{"a: {b: 1}", "a: {b: 2}"}, "openapi/b.yaml: a: line 1: b is set twice"},
		"in one":              {[]string{"a:\n  b: {}\n  b: {}\n"}, "b is set twice"},
		"a map and a value":   {[]string{"a: 1", "a: {b: 2}"}, "a is set twice"},
		"in a list of one":    {[]string{"a: [1]", "a: [2]"}, "a is set twice"},
		"an anchor":           {[]string{"a: &x {b: 1}\nc: *x\n"}, "must be a map, a list or a plain value"},
		"a list of all":       {[]string{"- a"}, "must be a map, a list or a plain value"},
		"an empty part":       {[]string{"a: 1", "# nothing\n"}, "openapi/b.yaml: is empty"},
		"no YAML":             {[]string{"a: [b"}, "openapi/a.yaml: "},
		"a number that is no": {[]string{"a: .nan"}, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := apidoc.Unite(parts(tc.texts...)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// TestDocumentIsOpenAPI checks the version of the document, and that it is the same each time.
func TestDocumentIsOpenAPI(t *testing.T) {
	first := must.Get(apidoc.Document())(t)
	second, err := apidoc.Document()
	if err != nil || string(first) != string(second) {
		t.Errorf("another document the second time: %v", err)
	}
	var d struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	if err := json.Unmarshal(first, &d); err != nil || d.OpenAPI != "3.1.0" || len(d.Paths) < 30 {
		t.Errorf("%v, version %q, %d paths", err, d.OpenAPI, len(d.Paths))
	}
}
