package proof_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestARowOfOnesOwn guarantees that an author's row may have a host, any method, an audience and another upstream, and
// may leave the area out.
func TestARowOfOnesOwn(t *testing.T) {
	const row = `"w.%s": {"method": "%s", "host": "%s", "path": "%s", "access": ["member"], "effect": "read", "audience": "https://w.example/", "upstream": "external"}`
	rows := func(rows ...string) policytest.Tree {
		return policytest.Small(t).With("routes/data.json", strings.TrimSuffix(strings.TrimSpace(policytest.SmallRoutes), "}")+",\n"+strings.Join(rows, ",\n")+"}")
	}
	e := must.Get(load(t, rows(
		fmt.Sprintf(row, "a", "*", "W.example", "/{rest+}"), fmt.Sprintf(row, "b", "OPTIONS", "w.example", "/{rest+}"),
		fmt.Sprintf(row, "c", "*", "v.example", "/{rest+}"), fmt.Sprintf(row, "d", "*", "w.example", "/{id}"),
	)))(t)
	if r := e.Routes()[1]; r.Host != "W.example" || r.Method != "*" || r.Area != "" || r.Audience != "https://w.example/" || r.Upstream != "external" {
		t.Errorf("%+v", r)
	}
	for name, other := range map[string]string{
		"other letters":     fmt.Sprintf(row, "b", "*", "w.EXAMPLE", "/{rest+}"),
		"another word":      fmt.Sprintf(row, "b", "*", "W.example", "/{proxy+}"),
		"another parameter": fmt.Sprintf(row, "b", "*", "W.example", "/x/{b}/y") + ",\n" + fmt.Sprintf(row, "c", "*", "W.example", "/x/{c:proj}/y"),
	} {
		if _, err := load(t, rows(fmt.Sprintf(row, "a", "*", "W.example", "/{rest+}"), other)); err == nil || !strings.Contains(err.Error(), "is already the place of w.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, bad := range map[string]string{
		"an empty host": fmt.Sprintf(row, "a", "*", "", "/{rest+}"), "a port": fmt.Sprintf(row, "a", "*", "w:80", "/{rest+}"), "a method": fmt.Sprintf(row, "a", "ANY", "w", "/{rest+}"),
		"no audience": strings.Replace(fmt.Sprintf(row, "a", "*", "w", "/{rest+}"), "https://w.example/", "", 1),
	} {
		if _, err := load(t, rows(bad)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestLooseSchemasDontLetABadCatalogueIn guarantees that the program checks grants and routes itself: the schemas are
// part of the tree, and an author can loosen them.
func TestLooseSchemasDontLetABadCatalogueIn(t *testing.T) {
	loose := policytest.Small(t).With("schemas/grants/schema.json", `{"type": "object"}`).With("schemas/routes/schema.json", `{"type": "object"}`)
	row := func(name, fields string) policytest.Tree {
		return loose.With("routes/data.json", "{\n\""+name+"\": {"+fields+"}}")
	}
	role := func(fields string) policytest.Tree {
		return loose.With("grants/data.json", strings.TrimSuffix(strings.TrimSpace(policytest.SmallGrants), "}")+",\n\"r\": {"+fields+"}}")
	}
	const fine = `"method": "GET", "path": "/x", "access": ["member"], "effect": "read", "area": "users", "upstream": "users"`
	change := func(old, text string) policytest.Tree {
		return row("security_group.create", strings.Replace(fine, old, text, 1))
	}
	must.Get(load(t, row("security_group.create", fine)))(t)
	for _, kind := range []string{"self", "self_by_token", "asks_self", "public", "service:authz:check"} {
		if _, err := load(t, change("member", kind)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for want, tree := range map[string]policytest.Tree{
		`routes/data.json:2: security_group.create: method "get" is none of`:                                                            change("GET", "get"),
		`routes/data.json:2: security_group.create: method "HEAD" is none of`:                                                           change("GET", "HEAD"),
		`routes/data.json:2: security_group.create: host "a.example:80" must be the name of`:                                            change(`"method"`, `"host": "a.example:80", "method"`),
		`routes/data.json:2: security_group.create: host "a.example." must be the name of`:                                              change(`"method"`, `"host": "a.example.", "method"`),
		`routes/data.json:2: security_group.create: path "x" must begin with /`:                                                         change("/x", "x"),
		`routes/data.json:2: security_group.create: path "/a//b" must begin with /`:                                                     change("/x", "/a//b"),
		`routes/data.json:2: security_group.create: path "/x/" must begin with /, be plain segments or {names}, and end with / only on`: change("/x", "/x/"),
		`routes/data.json:2: security_group.create: path "/" must begin with /, be plain segments or {names}, and end with / only on`:   change("/x", "/"),
		`routes/data.json:2: security_group.create: claims are those of a caller`:                                                       change(`["member"]`, `["public"], "claims": true`),
		`routes/data.json:2: security_group.create: effect "" is neither read nor write`:                                                change(`"read"`, `""`),
		`routes/data.json:2: security_group.create: area "moon" is none of`:                                                             change(`"area": "users"`, `"area": "moon"`),
		`routes/data.json:2: security_group.create: access "Member" is none of`:                                                         change("member", "Member"),
		`routes/data.json:2: security_group.create: access "self_by_key" is none of`:                                                    change("member", "self_by_key"),
		`routes/data.json:2: security_group.create: has neither an action nor an access kind`:                                           change(`["member"]`, `[]`),
		`routes/data.json:2: security_group.create: action "account:user:*" must have the form`:                                         change(`"method"`, `"action": "account:user:*", "method"`),
		`unknown field "colour"`: change(`"method"`, `"colour": "red", "method"`),
		`grants/data.json:7: r: scope must be ACCOUNT, PROJECT or RESOURCE`:         role(`"name": "r", "scope": "", "permissions": {"project:a:b": true}`),
		`grants/data.json:7: r: permissions must not be empty`:                      role(`"name": "r", "scope": "PROJECT", "permissions": {}`),
		`grants/data.json:7: r: permission "project:**:b" must have the form`:       role(`"name": "r", "scope": "PROJECT", "permissions": {"project:**:b": true}`),
		`grants/data.json:7: r: permission "project:a:b" must be true`:              role(`"name": "r", "scope": "PROJECT", "permissions": {"project:a:b": false}`),
		`r: a PROJECT role holds project: and resource: patterns only, not "*:a:b"`: role(`"name": "r", "scope": "PROJECT", "permissions": {"*:a:b": true}`),
	} {
		t.Run(want, func(t *testing.T) {
			_, err := load(t, tree)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
