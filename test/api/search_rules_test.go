package api_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// searchBodies are a sound body of each search, in a scene.
func searchBodies(s *harness.Scene) map[string]searchBody {
	properties := map[string]string{"account_id": s.Account}
	return map[string]searchBody{
		"subject": {
			Subject: &thing{Type: "user"}, Action: named("account:user:read"),
			Resource: &thing{Type: "account", ID: s.Account},
		},
		"resource": {
			Subject: &thing{Type: "user", ID: s.Admin}, Action: named("account:user:read"),
			Resource: &thing{Type: "account", Properties: properties},
		},
		"action": {Subject: &thing{Type: "user", ID: s.Admin}, Resource: &thing{Type: "project", ID: s.Project, Properties: properties}},
	}
}

// TestWhoMaySearch: as who may ask for an evaluation. Subjects are looked for by those alone who may ask
// about anybody.
func TestWhoMaySearch(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	s, other := harness.NewTeam(t), harness.NewScene(t, g)
	bob := g.UserToken(t, s.Bob)
	for kind, body := range searchBodies(s.Scene) {
		changed := body
		if kind != "subject" {
			changed.Subject = &thing{Type: "user", ID: s.Bob}
		}
		for name, c := range map[string]struct {
			token string
			body  searchBody
			want  int
		}{
			"200 a service with authz:check":    {s.Checker, body, 200},
			"200 an admin":                      {s.AdminToken, body, 200},
			"403 a service without":             {s.Platform, body, 403},
			"403 another account's admin":       {other.AdminToken, body, 403},
			"403 a member about another":        {bob, body, 403},
			"200 a member about itself":         {bob, changed, map[bool]int{true: 403, false: 200}[kind == "subject"]},
			"401 nobody":                        {"", body, 401},
			"401 a token without its signature": {s.Checker[:strings.LastIndex(s.Checker, ".")+1], body, 401},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				r := post(t, s.Gateway, "search/"+kind, c.token, c.body)
				if _, listed := r.Body["results"]; r.Status != c.want || listed != (c.want == 200) {
					t.Errorf("%d %s", r.Status, r.Raw)
				}
			})
		}
	}
}

// TestMalformedSearchIsRefused with 400, and names what is wrong.
func TestMalformedSearchIsRefused(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Shared(t))
	for kind, body := range searchBodies(s) {
		for problem, change := range map[string]func(*searchBody){
			"page.limit: must be an integer from 1 to 1000": func(a *searchBody) { a.Page = map[string]any{"limit": 0} },
			"page.limit":                 func(a *searchBody) { a.Page = map[string]any{"limit": 1001} },
			"page.limit: must":           func(a *searchBody) { a.Page = map[string]any{"limit": "5"} },
			"page.limit: must be":        func(a *searchBody) { a.Page = map[string]any{"limit": 1.5} },
			"page.limit: must be an":     func(a *searchBody) { a.Page = map[string]any{"limit": -1} },
			"page.token: must":           func(a *searchBody) { a.Page = map[string]any{"token": 7} },
			"page.token: is not a token": func(a *searchBody) { a.Page = map[string]any{"token": "AAAA"} },
			"page.token: is not":         func(a *searchBody) { a.Page = map[string]any{"token": strings.Repeat("A", 5000)} },
			"subject: is missing":        func(a *searchBody) { a.Subject = nil },
			"resource: is missing":       func(a *searchBody) { a.Resource = nil },
			"resource.type: ":            func(a *searchBody) { a.Resource.Type = "" },
			"resource.properties.account_id: ": func(a *searchBody) {
				a.Resource.Properties = map[string]string{"account_id": "a/b"}
			},
		} {
			t.Run(kind+" "+problem, func(t *testing.T) {
				changed := body
				resource := *body.Resource
				resource.Properties = maps.Clone(resource.Properties)
				changed.Resource = &resource
				change(&changed)
				r := post(t, s.Gateway, "search/"+kind, s.Checker, changed)
				if r.Status != 400 || !slices.ContainsFunc(problems(t, r), func(p string) bool { return strings.HasPrefix(p, problem) }) {
					t.Errorf("%d %s", r.Status, r.Raw)
				}
			})
		}
	}
	for kind, action := range map[string]map[string]any{"subject": named("read"), "resource": named("project:instance")} {
		body := searchBodies(s)[kind]
		body.Action = action
		if r := post(t, s.Gateway, "search/"+kind, s.Checker, body); r.Status != 400 || !strings.Contains(string(r.Raw), "action.name") {
			t.Errorf("%s: %d %s", kind, r.Status, r.Raw)
		}
	}
	routes := searchBodies(s)["resource"]
	routes.Resource = &thing{Type: "route"}
	if r := post(t, s.Gateway, "search/resource", s.Checker, routes); r.Status != 400 || len(problems(t, r)) != 1 || !strings.Contains(string(r.Raw), "action.name") {
		t.Errorf("an action that is no method, on routes: %d %s", r.Status, r.Raw)
	}
}

// TestPageTokenIsForItsCallerAndRequest: with another caller, limit, thing or search it is a 400.
func TestPageTokenIsForItsCallerAndRequest(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	s := harness.NewScene(t, g)
	body := searchBodies(s)["action"]
	body.Page = map[string]any{"limit": 2}
	first := search(t, g, "action", s.Checker, body)
	if *first.Page.Next == "" || len(first.Results) != 2 {
		t.Fatalf("%+v", first)
	}
	page := func(limit any, change func(*searchBody)) searchBody {
		next := body
		next.Page = map[string]any{"limit": limit, "token": *first.Page.Next}
		change(&next)
		return next
	}
	same := func(*searchBody) {}
	for name, c := range map[string]struct {
		token, kind string
		body        searchBody
		want        int
	}{
		"200 the same":          {s.Checker, "action", page(2, same), 200},
		"200 no limit":          {s.Checker, "action", page(2, func(a *searchBody) { delete(a.Page, "limit") }), 200},
		"200 the same again":    {s.Checker, "action", page(2, same), 200},
		"400 another limit":     {s.Checker, "action", page(3, same), 400},
		"400 another caller":    {s.AdminToken, "action", page(2, same), 400},
		"400 another context":   {s.Checker, "action", page(2, func(a *searchBody) { a.Context = map[string]any{"x": 1} }), 400},
		"400 another subject":   {s.Checker, "action", page(2, func(a *searchBody) { a.Subject = &thing{Type: "user", ID: "user-else-v1"} }), 400},
		"400 another resource":  {s.Checker, "action", page(2, func(a *searchBody) { a.Resource = &thing{Type: "account", ID: s.Account} }), 400},
		"400 another search":    {s.Checker, "subject", page(2, func(a *searchBody) { a.Action = named("account:user:read") }), 400},
		"400 a changed token":   {s.Checker, "action", page(2, func(a *searchBody) { a.Page["token"] = *first.Page.Next + "A" }), 400},
		"200 no token is a new": {s.Checker, "action", page(2, func(a *searchBody) { a.Page["token"] = "" }), 200},
	} {
		t.Run(name, func(t *testing.T) {
			if r := post(t, g, "search/"+c.kind, c.token, c.body); r.Status != c.want {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
		})
	}
}

// TestActionSearchGivesTheCatalogue guarantees the tree's actions. Evaluation allows each of them.
func TestActionSearchGivesTheCatalogue(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	project := thing{Type: "project", ID: s.Project, Properties: map[string]string{"account_id": s.Account}}
	var each []searchBody
	var names []string
	for _, action := range catalogueActions(t) {
		each = append(each, searchBody{Subject: &thing{Type: "user", ID: s.Bob}, Action: named(action), Resource: &project})
		names = append(names, action+marshalled(t, thing{}))
	}
	w := &searchWorld{Gateway: s.Gateway, checker: s.Checker}
	want := w.evaluated(t, each, names)
	got := walk(t, s.Gateway, "action", s.Checker, searchBody{Subject: &thing{Type: "user", ID: s.Bob}, Resource: &project}, 3, func() {})
	same(t, "what Bob may do", got, want)
	if len(want) < 2 || len(want) == len(names) {
		t.Errorf("%d of %d are allowed", len(want), len(names))
	}
}

// TestActionSearchOnARouteGivesItsMethods, those that evaluation allows.
func TestActionSearchOnARouteGivesItsMethods(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "team_member", s.Bob, "")
	w := &searchWorld{Gateway: s.Gateway, checker: s.Checker}
	route := thing{Type: "route", ID: "/api/v1/accounts/" + s.Account + "/projects", Properties: map[string]string{"account_id": s.Account}}
	for user, want := range map[string][]string{s.Admin: {"GET", "POST"}, s.Bob: {"GET"}, s.Carol: nil} {
		var each []searchBody
		var names []string
		for _, method := range []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"} {
			each = append(each, searchBody{Subject: &thing{Type: "user", ID: user}, Action: named(method), Resource: &route})
			names = append(names, method+marshalled(t, thing{}))
		}
		evaluated := w.evaluated(t, each, names)
		got := walk(t, s.Gateway, "action", s.Checker, searchBody{Subject: &thing{Type: "user", ID: user}, Resource: &route}, 2, func() {})
		same(t, "the methods for "+user, got, evaluated)
		for _, method := range want {
			if !slices.Contains(got, method+marshalled(t, thing{})) {
				t.Errorf("%s may not %s: %q", user, method, got)
			}
		}
		if len(want) == 0 && len(got) > 0 {
			t.Errorf("%s may %q", user, got)
		}
	}
}

// TestActionSearchOnARowForAnyMethodIsNotComplete: it gives the methods that have a name, and evaluation allows others.
func TestActionSearchOnARowForAnyMethodIsNotComplete(t *testing.T) {
	t.Parallel()
	a := app(t)
	route := func(id, host string) *thing {
		return &thing{Type: "route", ID: id, Properties: map[string]string{"account_id": a.Account, "host": host}}
	}
	place := "/api/v1/accounts/" + a.Account + "/projects/" + a.Project + "/i"
	for name, c := range map[string]struct {
		route    *thing
		user     string
		want     []string
		complete bool
	}{
		"an admin":       {route(place, "app.example"), a.Admin, []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}, false},
		"a reader":       {route(place, "app.example"), a.Bob, []string{"GET", "HEAD"}, false},
		"another host":   {route(place, "other.example"), a.Admin, nil, true},
		"named methods":  {route("/projects/"+a.Project+"/x", "other.example"), a.Bob, []string{"GET", "HEAD"}, true},
		"without action": {route("/else", "app.example"), a.Bob, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			out := search(t, a.Gateway, "action", a.Checker, searchBody{Subject: &thing{Type: "user", ID: c.user}, Resource: c.route})
			var got []string
			for _, r := range out.Results {
				got = append(got, r.Name)
			}
			if !slices.Equal(got, c.want) || out.Context.Complete != c.complete {
				t.Errorf("%q, complete %t", got, out.Context.Complete)
			}
		})
	}
}

// TestSearchOfUnknownTypesIsEmpty and says that it is not complete.
func TestSearchOfUnknownTypesIsEmpty(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Shared(t))
	subjects, elsewhere, things := searchBodies(s)["subject"], searchBodies(s)["subject"], searchBodies(s)["resource"]
	subjects.Subject = &thing{Type: "device"}
	elsewhere.Resource = &thing{Type: "project", ID: s.Project}
	things.Resource = &thing{Type: "path", Properties: map[string]string{"account_id": s.Account}}
	routes := things
	routes.Action, routes.Resource = named("GET"), &thing{Type: "route", Properties: things.Resource.Properties}
	for kind, body := range map[string]searchBody{
		"subject": subjects, "subject ": elsewhere, "resource": things, "resource ": routes,
	} {
		out := search(t, s.Gateway, strings.TrimSpace(kind), s.Checker, body)
		if len(out.Results) > 0 || out.Context.Complete || *out.Page.Next != "" {
			t.Errorf("%s: %+v", kind, out)
		}
	}
}

// TestUsersNameTheAccountOfOthers in a search, else it is 400; users are looked for in a project of the caller's own account
// without it.
func TestUsersNameTheAccountOfOthers(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	bob, read := &thing{Type: "user", ID: s.Bob}, named("project:instance:read")
	for name, c := range map[string]struct {
		kind string
		body searchBody
		want int
	}{
		"400 resources":             {"resource", searchBody{Subject: bob, Action: read, Resource: &thing{Type: "project"}}, 400},
		"400 actions":               {"action", searchBody{Subject: bob, Resource: &thing{Type: "project", ID: s.Project}}, 400},
		"400 subjects on a path":    {"subject", searchBody{Subject: &thing{Type: "user"}, Action: read, Resource: &thing{Type: "path", ID: "projects/" + s.Project}}, 400},
		"200 resources, an account": {"resource", searchBody{Subject: bob, Action: read, Resource: &thing{Type: "project"}, Context: map[string]any{"account_id": s.Account}}, 200},
	} {
		if r := post(t, s.Gateway, "search/"+c.kind, s.AdminToken, c.body); r.Status != c.want || c.want == 400 && !strings.HasPrefix(problems(t, r)[0], "context.account_id: is missing") {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	nowhere := searchBody{Subject: &thing{Type: "user"}, Action: read, Resource: &thing{Type: "path", ID: "accounts/" + s.Account}}
	if r := post(t, s.Gateway, "search/subject", s.Checker, nowhere); r.Status != 400 || !strings.HasPrefix(problems(t, r)[0], "context.account_id: is missing") {
		t.Errorf("a service that names neither: %d %s", r.Status, r.Raw)
	}
	for _, resource := range []*thing{{Type: "project", ID: s.Project}, {Type: "kubernetes_cluster", ID: "c-1", Properties: map[string]string{"project_id": s.Project}}} {
		body := searchBody{Subject: &thing{Type: "user"}, Action: read, Resource: resource, Context: map[string]any{"more": 1}}
		if got := search(t, s.Gateway, "subject", s.AdminToken, body); len(got.Results) != 2 || !got.Context.Complete {
			t.Errorf("%s: %+v", resource.Type, got)
		}
		if got := search(t, s.Gateway, "subject", other.AdminToken, body); len(got.Results) != 0 || !got.Context.Complete {
			t.Errorf("%s, by another account's admin: %+v", resource.Type, got)
		}
	}
}
