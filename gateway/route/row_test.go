package route_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// uncallable are paths of rows, by the problem reported. No call of such a row could be judged as the row says.
var uncallable = map[string][]string{
	"names the account acct-demo-v1; a parameter must stand there": {
		"/api/v1/accounts/acct-demo-v1/report", "/accounts/acct-demo-v1", "/accounts/acct-demo-v1/{rest+}", "/accounts/acct-demo-v1/projects/{projectId}",
	},
	"names the project x; a parameter must stand there": {"/projects/x", "/api/v1/accounts/{accountId}/projects/x/widgets", "/projects/x/{rest+}"},
	"ambiguous": {
		"/x/accounts/{id}", "/x/projects/{id}", "/Accounts/{id}", "/accounts/{id}/PROJECTS/{p}", "/api/v2/accounts/{id}", "/accounts/{a}/x/{b}/projects",
		"/projects/{p}/accounts/{a}", "/accounts/projects/{p}", "/x/accounts",
	},
	"a . or .. segment":             {"/x/../y", "/x/./{id}"},
	"an empty segment":              {"/x//y", "//x"},
	"holds a ;":                     {"/x;y", "/x/{id}/;"},
	"must be percent-encoded":       {"/caf\u00e9/{id}", "/a b", "/a|b", "/a[0]"},
	"holds a ?":                     {"/x?y=1"},
	"holds a #":                     {"/x#y"},
	"holds a \\":                    {`/x\y`},
	"an encoded letter":             {"/%61/{id}"},
	"valid UTF-8":                   {"/%ff"},
	"two hexadecimal digits":        {"/x%"},
	"longer than 2048":              {"/" + strings.Repeat("a", 2049)},
	"must not end with /":           {"/", "/x/", "/{id}/"},
	"names the account, whose ids":  {"/accounts/{a:proj}"},
	"names the project, whose ids":  {"/accounts/{a}/projects/{p:acct}", "/projects/{p:acct}/{rest+}"},
	"must be the last segment":      {"/{rest+}/x"},
	"1 to 128 characters of [A-Za-": {"/accounts/a:b"},
}

// TestARowThatNoCallCanHaveIsRefused: its author would believe that it keeps somebody out, or lets somebody in.
func TestARowThatNoCallCanHaveIsRefused(t *testing.T) {
	for want, paths := range uncallable {
		for _, path := range paths {
			if _, err := route.NewRow(resources.Route{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		}
	}
	for _, path := range []string{
		"/api/v1/accounts", "/accounts", "/api/v1/accounts/{accountId:acct}/projects/{projectId:proj}/x/{id}", "/accounts/{a}", "/accounts/{a}/projects", "/projects/{p}/{rest+}",
		"/{rest+}", "/{a}/{b}", "/accounts/{rest+}", "/projects", "/x/{id:acct}", "/.well-known/jwks.json", "/api/v1/authorize/{proxy+}", "/Users/{id}", "/x/xx/{xxx}", "/caf%C3%A9",
	} {
		if _, err := route.NewRow(resources.Route{Path: path}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestClaimsThatNobodyComparesAreRefused guarantees that no row promises claims without an account in its path, or at a
// proxy: nothing would compare them. policy check finds such a row before the gateway does.
func TestClaimsThatNobodyComparesAreRefused(t *testing.T) {
	const path = "/accounts/{accountId:acct}/walls"
	for name, c := range map[string]struct {
		path, upstream, want string
	}{
		"a row of the gateway": {path, "access", ""},
		"no account":           {"/{id}", "access", "{accountId}"},
		"the rest":             {"/x/{proxy+}", "authorize", "{accountId}"},
		"a proxy's row":        {path, resources.UpstreamExternal, "leave them out"},
	} {
		_, err := route.NewRow(resources.Route{Path: c.path, Upstream: c.upstream, Claims: true})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestThePlaceOfEveryPathIsRead, of one without parameters, too.
func TestThePlaceOfEveryPathIsRead(t *testing.T) {
	const literal = "/api/v1/accounts/acct-b-v1/projects/proj-b-v1/report"
	got, problems := (&route.Row{Route: resources.Route{Path: literal}}).Read(literal, nil)
	if want := (resources.Target{AccountID: "acct-b-v1", ProjectID: "proj-b-v1", Rest: "report"}); got != want || len(problems) > 0 {
		t.Errorf("%s: %+v %v, want %+v", literal, got, problems, want)
	}
	for path, want := range map[string]resources.Target{
		"/api/v1/accounts": {Rest: "accounts"}, "/x/y": {Rest: "x/y", Resource: "x/y"}, "/api/v1": {},
	} {
		row := must.Get(route.NewRow(resources.Route{Path: path}))(t)
		if got, problems := row.Read(path, nil); got != want || len(problems) > 0 {
			t.Errorf("%s: %+v %v, want %+v", path, got, problems, want)
		}
	}
	all := must.Get(route.NewRow(resources.Route{Path: "/{rest+}"}))(t)
	for _, path := range []string{"/accounts", "/api/v1/accounts", "/x/accounts/a", "/x/", "/a/../b", "/"} { // which no row names
		if got, problems := all.Read(path, []string{path[1:]}); len(problems) == 0 || got != (resources.Target{}) {
			t.Errorf("%s is taken as %+v", path, got)
		}
	}
}
