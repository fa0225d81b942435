package test

import (
	"fmt"
	"testing"
)

// arrows are allowed and forbidden imports. finding marks the forbidden ones.
var arrows = []struct {
	pkg, imp string
	test     bool
	finding  bool
}{
	{"resources", "context", false, false},
	{"resources", module + "/store", false, true},
	{"resources", module + "/resources/wire", false, true},
	{"resources", "golang.org/x/text/cases", false, true},
	{"resources", "C", false, true},
	{"resources/wire", json + "/jsontext", false, false},
	{"resources/wire", module + "/store", false, true},
	{"resources/wire", fiber, false, true},
	{"resources/access", module + "/store", false, false},
	{"resources/access", fiber, false, true},
	{"resources/access", module + "/resources/users", false, true},
	{"resources/access", module + "/gateway", false, true},
	{"resources/access", module + "/store/sqlite", false, true},
	{"resources/access", module + "/policies/engine", false, true},
	{"resources/access", opa + "/v1/rego", false, true},
	{"resources/health", "net/http", false, false},
	{"resources/apidoc", yaml, false, false},
	{"resources/apidoc", viewer + "/v5/static", false, false},
	{"resources/apidoc", module + "/store", false, true},
	{"store", module + "/resources/wire", false, true},
	{"store", module + "/store/sqlite", false, true},
	{"store/sqlite", sqlite + "/lib", false, false},
	{"store/sqlite", module + "/store/rolecache", false, true},
	{"store/sqlite", mongodb + "/mongo", false, true},
	{"store/mongodb", mongodb + "/mongo", false, false},
	{"store/mongodb", sqlite, false, true},
	{"store/rolecache", module + "/store/mongodb", false, true},
	{"store/storetest", "testing", false, false},
	{"store/storetest", module + "/store/sqlite", false, true},
	{"policies", module + "/resources", false, true},
	{"policies", opa + "/v1/ast", false, true},
	{"policies/engine", opa + "/v1/ast", false, false},
	{"policies/engine", module + "/store", false, true},
	{"policies/engine", module + "/gateway", false, true},
	{"policies/engine", fiber, false, true},
	{"gateway", module + "/gateway/authn", false, false},
	{"gateway", fasthttp, false, false},
	{"gateway", fasthttp + "evil", false, true},
	{"gateway", module + "/store", false, true},
	{"gateway", module + "/policies/engine", false, true},
	{"gateway", module + "/resources/access", false, true},
	{"gateway", opa + "/v1/rego", false, true},
	{"gateway", mongodb + "/bson", false, true},
	{"gateway", redis, false, true},
	{"gateway/authn", jwt, false, false},
	{"gateway/authn", module + "/gateway", false, true},
	{"gateway/authn", module + "/store", false, true},
	{"cmd/portcullis", module + "/store/mongodb", false, false},
	{"cmd/portcullis", "github.com/some/driver", false, false},
	{"cmd/portcullis", module + "/cmd/portcullis/observe", false, false},
	{"cmd/portcullis/observe", module + "/cmd/portcullis/masterkey", false, true},
	{"cmd/portcullis", module + "/test/harness", false, true},
	{"cmd/portcullis", module + "/test/harness", true, false},
	{"cmd/portcullis", module + "/store/storetest", false, true},
	{"resources/users", module + "/resources/areatest", true, false},
	{"resources/users", module + "/resources/areatest", false, true},
	{"test/harness", module + "/test/servers", false, false},
	{"test/harness", module + "/gateway", false, true},
	{"test/load", "github.com/some/driver", true, false},
	{"test/api", module + "/cmd/portcullis", true, true},
	{"test/load", cedar, true, false},
	{"test/load", casbin + "/model", true, false},
	{"test/load", cedar, false, true},
	{"test/api", cedar, true, true},
	{"cmd/portcullis", casbin, false, true},
	// Tests may set a package among its neighbours, but not import just anything.
	{"resources/access", module + "/store/sqlite", true, false},
	{"gateway", module + "/policies/engine", true, false},
	{"gateway", opa + "/v1/ast", true, false},
	{"gateway", module + "/cmd/portcullis", true, true},
	{"gateway", "github.com/some/driver", true, true},
	{"gateway/client", module + "/resources", false, true},
	{"gateway/client", module + "/resources", true, true},
	{"gateway/client", jwt, true, true},
	{"gateway/client", clientModule + "/clienttest", true, false},
	{"helpers", "context", false, true},
	{"helpers", "context", true, true},
	{"store/valkey", "context", false, true},
	{"store/redis", redis, false, false},
	{"store/redis", module + "/store/rolecache", false, true},
	{"store/rolecache", redis, false, true},
	{".", "context", false, true},
}

func TestForbiddenImportIsFound(t *testing.T) {
	for _, c := range arrows {
		t.Run(fmt.Sprintf("%s imports %s test %t", c.pkg, c.imp, c.test), func(t *testing.T) {
			if names := forbidden(c.pkg, []string{c.imp}, c.test); (len(names) > 0) != c.finding {
				t.Errorf("found %q, want a finding: %t", names, c.finding)
			}
		})
	}
}
