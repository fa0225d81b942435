package clients_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPageNamesTheVersionsThatAreTested: the commands of docs/integrate/clients.md for making clients, and the tests, use the
// same generators.
func TestPageNamesTheVersionsThatAreTested(t *testing.T) {
	t.Parallel()
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var npm struct{ DevDependencies map[string]string }
	if err := json.Unmarshal(read("testdata/typescript/package.json"), &npm); err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^OAPI_CODEGEN_VERSION\s*=\s*(\S+)$`).FindSubmatch(read("../../Makefile"))
	if version == nil {
		t.Fatal("the Makefile has no OAPI_CODEGEN_VERSION")
	}
	page := string(read("../../docs/integrate/clients.md"))
	for _, want := range []string{"/cmd/oapi-codegen@" + string(version[1]) + " ", "npx openapi-typescript@" + npm.DevDependencies["openapi-typescript"] + " "} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/integrate/clients.md does not have %q", want)
		}
	}
}
