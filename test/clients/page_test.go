package clients_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// TestPageNamesTheVersionsThatAreTested: the commands of docs/integrate/clients.md for making clients, and the tests, use the
// same generators.
func TestPageNamesTheVersionsThatAreTested(t *testing.T) {
	t.Parallel()
	read := func(path string) []byte {
		return must.Get(os.ReadFile(path))(t)
	}
	var npm struct{ DevDependencies map[string]string }
	must.Do(t, json.Unmarshal(read("testdata/typescript/package.json"), &npm))
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
