package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/portcullis-authz/portcullis/test/must"
)

// probes are what the private listener has beside the catalogue.
var probes = map[string]Row{
	"health.live": {Method: "GET", Path: "/healthz/live"}, "health.live_prefixed": {Method: "GET", Path: "/api/v1/healthz/live"},
	"health.ready": {Method: "GET", Path: "/healthz/ready"}, "health.ready_prefixed": {Method: "GET", Path: "/api/v1/healthz/ready"},
}

// paramOf is a parameter in the catalogue's path, with the form of its ids.
var paramOf = regexp.MustCompile(`\{([^}:+]+)(:[a-z]+)?\+?\}`)

// disagreements are the differences of the catalogue (with the probes) and the document, both ways.
func disagreements(rows map[string]Row, c *Contract) []string {
	var names []string
	documented := map[string]*operation{}
	for _, o := range c.Operations {
		if documented[o.route] != nil {
			names = append(names, "two operations are "+o.route)
		}
		documented[o.route] = o
		if _, exists := rows[o.route]; !exists {
			names = append(names, fmt.Sprintf("invented: %s %s, route %q", o.method, o.Path, o.route))
		}
	}
	for name, row := range rows {
		o := documented[name]
		if o == nil {
			names = append(names, fmt.Sprintf("missing: %s %s, route %q", row.Method, row.Path, name))
			continue
		}
		if path := paramOf.ReplaceAllString(row.Path, "{$1}"); o.method != row.Method || o.Path != path {
			names = append(names, fmt.Sprintf("route %s is %s %s in the document and %s %s in the catalogue", name, o.method, o.Path, row.Method, path))
		}
		if row.Any != o.any {
			names = append(names, fmt.Sprintf("%s: any method is %t in the document", name, o.any))
		}
		names = append(names, prefixed(name, row.disagrees(o))...)
	}
	slices.Sort(names)
	return names
}

// disagrees looks at what a row says beside its method and path.
func (row Row) disagrees(o *operation) []string {
	var names []string
	var params []string
	for _, m := range paramOf.FindAllStringSubmatch(row.Path, -1) {
		params = append(params, m[1])
		i := slices.IndexFunc(o.params, func(p parameter) bool { return p.text == "path" && p.name == m[1] })
		if i < 0 {
			names = append(names, "the document has no path parameter "+m[1])
			continue
		}
		if form := strings.TrimPrefix(m[2], ":"); form != "" && len(o.params[i].complaints("x-1-v1")) == 0 {
			names = append(names, m[1]+" must have the form "+form)
		}
		if rest := strings.HasSuffix(m[0], "+}"); rest != o.params[i].rest {
			names = append(names, m[1]+" takes the rest of the path in one of them only")
		}
	}
	for _, p := range o.params {
		if p.text == "path" && !slices.Contains(params, p.name) {
			names = append(names, "the path has no parameter "+p.name)
		}
	}
	if public := row.Area == "" || slices.Contains(row.Access, "public"); public != o.public {
		names = append(names, fmt.Sprintf("public is %t in the document", o.public))
	}
	if tokenOnly := slices.Contains(row.Access, "self_by_token"); !o.public && tokenOnly == slices.Contains(o.schemes, "apiKey") {
		names = append(names, fmt.Sprintf("the document has the credentials %v", o.schemes))
	}
	return names
}

// TestDocumentHasEveryRouteAndNoOther, by method, path, parameters and credentials.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	rows := Catalogue(t)
	for name, row := range probes {
		rows[name] = row
	}
	for _, text := range disagreements(rows, Read(t)) {
		t.Error(text)
	}
}

// TestMissingAndInventedRoutesAreFound runs the test above on a catalogue other than the document's.
func TestMissingAndInventedRoutesAreFound(t *testing.T) {
	t.Parallel()
	c := Read(t)
	for name, tc := range map[string]struct {
		change func(rows map[string]Row)
		want   []string
	}{
		"missing":        {func(r map[string]Row) { r["X1"] = Row{Method: "GET", Path: "/x", Area: "access"} }, []string{`missing: GET /x, route "X1"`}},
		"invented":       {func(r map[string]Row) { delete(r, "role.list") }, []string{`invented: GET /api/v1/accounts/{accountId}/roles, route "role.list"`}},
		"another method": {func(r map[string]Row) { change(r, "account.update", func(row *Row) { row.Method = "PUT" }) }, []string{"route account.update is PATCH"}},
		"another name": {func(r map[string]Row) {
			change(r, "role.get", func(row *Row) { row.Path = strings.ReplaceAll(row.Path, "roleId", "role") })
		}, []string{"role.get: the document has no path parameter role", "role.get: the path has no parameter roleId", "route role.get is GET"}},
		"another form": {func(r map[string]Row) {
			change(r, "account.get", func(row *Row) { row.Path = strings.ReplaceAll(row.Path, "accountId", "accountId:acct") })
		}, []string{"account.get: accountId must have the form acct"}},
		"not public": {func(r map[string]Row) { change(r, "jwks.get", func(row *Row) { row.Access = nil }) }, []string{"jwks.get: public is true in the document"}},
		"keys everywhere": {func(r map[string]Row) {
			change(r, "api_key.create", func(row *Row) { row.Access = []string{"self"} })
		}, []string{"api_key.create: the document has the credentials [token]"}},
		"the whole path": {func(r map[string]Row) {
			change(r, "authorization.check", func(row *Row) { row.Path = strings.TrimSuffix(row.Path, "+}") + "}" })
		}, []string{"authorization.check: proxy takes the rest"}},
	} {
		t.Run(name, func(t *testing.T) {
			rows := Catalogue(t)
			for name, row := range probes {
				rows[name] = row
			}
			before := disagreements(rows, c)
			tc.change(rows)
			names := slices.DeleteFunc(disagreements(rows, c), func(text string) bool { return slices.Contains(before, text) })
			if !slices.EqualFunc(names, tc.want, strings.HasPrefix) {
				t.Errorf("found %q, want %q", names, tc.want)
			}
		})
	}
}

func change(rows map[string]Row, name string, check func(row *Row)) {
	row := rows[name]
	check(&row)
	rows[name] = row
}

// TestExamplesOfTheDocumentAreValid against the schemas beside them.
func TestExamplesOfTheDocumentAreValid(t *testing.T) {
	t.Parallel()
	c := Read(t)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	must.Do(t, compiler.AddResource(documentURL, c.document))
	r, seen := &documentReader{document: c.document, compiler: compiler}, 0
	for _, part := range []string{"/paths", "/components"} {
		r.examples(part, func(pointer string, schema *jsonschema.Schema, example any) {
			seen++
			for _, text := range complaintsOf(schema, example) {
				t.Errorf("%s: %s", pointer, text)
			}
		})
	}
	if r.err != nil || seen < 50 {
		t.Errorf("%d examples: %v", seen, r.err)
	}
}

// TestAnswersLeaveNoRoomForMoreFields guarantees that an object in an answer is closed: a field outside the document is
// found. Free are metadata, the document itself, a change record's view of its subject, objects keyed by field, and the
// requests of AuthZEN with an app's words in a decision, and messages of other servers.
func TestAnswersLeaveNoRoomForMoreFields(t *testing.T) {
	t.Parallel()
	c := Read(t)
	free := []string{
		"Metadata", "OpenAPIDocument", "ChangeSide", "AuthZENAttributes", "AuthZENProperties", "AuthZENContext", "AuthZENSubject", "AuthZENResource", "AuthZENAction",
		"AuthZENEvaluation", "AuthZENEvaluations", "AuthZENItem", "AuthZENOptions", "AuthZENDecisionContext",
		"AuthZENSearchedSubject", "AuthZENSearchedResource", "AuthZENSubjectSearch", "AuthZENResourceSearch", "AuthZENActionSearch", "AuthZENPage", "MCPMessage",
	}
	schemas := c.document["components"].(map[string]any)["schemas"].(map[string]any)
	for name, schema := range schemas {
		if !slices.Contains(free, name) {
			open(t, name, schema)
		}
	}
}

func open(t *testing.T, place string, schema any) {
	t.Helper()
	switch v := schema.(type) {
	case map[string]any:
		if v["type"] == "object" && (v["additionalProperties"] == nil || v["additionalProperties"] == true) {
			t.Errorf("%s may have any further field", place)
		}
		for name, inner := range v {
			if name != "examples" && name != "enum" {
				open(t, place+"/"+name, inner)
			}
		}
	case []any:
		for _, inner := range v {
			open(t, place, inner)
		}
	}
}
