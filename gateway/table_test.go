package gateway_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors/e3"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

func row(name, method, path string) resources.Route {
	return resources.Route{Name: name, Method: method, Path: path}
}

// TestRoutesAreFoundByTheirBytes: a literal before a parameter, a parameter before the
// rest, and nothing decoded, cleaned or folded.
func TestRoutesAreFoundByTheirBytes(t *testing.T) {
	rows := []resources.Route{
		row("root", "GET", "/a"), row("param", "GET", "/a/{id}"), row("literal", "GET", "/a/list"), row("put", "PUT", "/a/{id}"),
		row("deep", "GET", "/a/list/{id}"), row("under", "GET", "/a/{id}/x"), row("rest", "GET", "/a/{id}/files/{proxy+}"),
		row("all", "POST", "/b/{proxy+}"), row("one", "POST", "/b/one"),
	}
	for _, c := range []struct{ method, path, name, values, allow string }{
		{"GET", "/a", "root", "", ""},
		{"GET", "/a/1", "param", "1", ""},
		{"GET", "/a/list", "literal", "", ""},
		{"PUT", "/a/list", "put", "list", ""},
		{"GET", "/a/list/7", "deep", "7", ""},
		{"GET", "/a/list/x", "deep", "x", ""},
		{"GET", "/a/1/x", "under", "1", ""},
		{"GET", "/a/1/files/p/q", "rest", "1 p/q", ""},
		{"GET", "/a/1/files/", "rest", "1 ", ""},
		{"GET", "/a/1/files//p/../q/", "rest", "1 /p/../q/", ""},
		{"POST", "/b/one", "one", "", ""},
		{"POST", "/b/one/", "all", "one/", ""},
		{"POST", "/b/two", "all", "two", ""},
		{"POST", "/b/", "all", "", ""},
		{"GET", "/a/1/files", "", "", ""},
		{"POST", "/b", "", "", ""},
		{"GET", "", "", "", ""},
		{"GET", "/", "", "", ""},
		{"GET", "a", "", "", ""},
		{"GET", "*", "", "", ""},
		{"GET", "//a", "", "", ""},
		{"GET", "/A", "", "", ""},
		{"GET", "/a/", "", "", ""},
		{"GET", "/a//x", "", "", ""},
		{"GET", "/%61", "", "", ""},
		{"GET", "/a/../a", "", "", ""},
		{"GET", "/a/%6cist", "param", "%6cist", ""},
		{"GET", "/a/LIST", "param", "LIST", ""},
		{"DELETE", "/a/1", "", "", "GET PUT"},
		{"DELETE", "/a/list", "", "", "GET PUT"},
		{"DELETE", "/a/list/x", "", "", "GET"},
		{"POST", "/a", "", "", "GET"},
		{"get", "/a", "", "", "GET"},
		{"HEAD", "/a", "", "", "GET"},
		{"GET", "/b/one", "", "", "POST"},
	} {
		name, values, allow, err := gateway.Find(slices.Clone(rows), c.method, c.path)
		if err != nil {
			t.Fatal(err)
		}
		if name != c.name || strings.Join(values, " ") != c.values || name == "" && strings.Join(allow, " ") != c.allow {
			t.Errorf("%s %s: %q %q %q, want %q %q %q", c.method, c.path, name, values, allow, c.name, c.values, c.allow)
		}
	}
}

// TestCatalogueThatDoesNotFitIsRefused guarantees all errors at once, each with its row. New,
// CheckCatalogue and SetCatalogue agree.
func TestCatalogueThatDoesNotFitIsRefused(t *testing.T) {
	served := func(r resources.Route) resources.Route { r.Upstream = "authorize"; return r }
	for name, c := range map[string]struct {
		rows     []resources.Route
		handlers map[string]wire.Routes
		want     []string
	}{
		"unknown upstream":      {[]resources.Route{{Name: "N77", Method: "GET", Path: "/x", Upstream: "nobody"}}, nil, []string{"N77", "GET /x", `"nobody"`}},
		"row without a handler": {[]resources.Route{{Name: "N78", Method: "GET", Path: "/x", Upstream: "access"}}, map[string]wire.Routes{"access": {}}, []string{"N78", `"access"`, "no handler"}},
		"handler without a row": {nil, map[string]wire.Routes{"access": {"N79": ok}}, []string{"N79", "access", "no row", "policy base"}},
		"two rows for one path": {[]resources.Route{served(row("N80", "GET", "/x/{a}")), served(row("N81", "GET", "/x/{b}"))}, nil, []string{"N81", "N80"}},
		"two rests":             {[]resources.Route{served(row("N80", "GET", "/x/{proxy+}")), served(row("N81", "GET", "/x/{proxy+}"))}, nil, []string{"N81", "N80"}},
		"rest in the middle":    {[]resources.Route{served(row("N82", "GET", "/x/{proxy+}/y"))}, nil, []string{"N82", "last segment"}},
		"no leading slash":      {[]resources.Route{served(row("N83", "GET", "x"))}, nil, []string{"N83", "begin with /"}},
		"parameter twice":       {[]resources.Route{served(row("N84", "GET", "/{id}/{id}"))}, nil, []string{"N84", "id twice"}},
		"unknown id form":       {[]resources.Route{served(row("N89", "GET", "/{id:sgx}"))}, nil, []string{"N89", "sgx-<id>-v1"}},
		"literal account":       {[]resources.Route{served(row("N94", "GET", "/api/v1/accounts/acct-a-v1/report"))}, nil, []string{"N94", "acct-a-v1"}},
		"a place elsewhere":     {[]resources.Route{served(row("N95", "GET", "/x/accounts/{id}"))}, nil, []string{"N95", "ambiguous"}},
		"claims, no account":    {[]resources.Route{{Name: "N91", Method: "GET", Path: "/{id}", Claims: true, Upstream: "authorize"}}, nil, []string{"N91", "{accountId}"}},
		"claims of the rest":    {[]resources.Route{{Name: "N92", Method: "GET", Path: "/x/{proxy+}", Claims: true, Upstream: "authorize"}}, nil, []string{"N92", "{accountId}"}},
		"row without a door":    {[]resources.Route{{Name: "N93", Method: "GET", Path: "/x", Upstream: "authorize"}}, nil, []string{"N93", "no door"}},
		"ill-formed action":     {[]resources.Route{{Name: "N85", Method: "GET", Path: "/x", Action: "read", Upstream: "authorize"}}, nil, []string{"N85", "scope"}},
		"several at once":       {[]resources.Route{{Name: "N86", Path: "/x", Upstream: "q"}, {Name: "N87", Path: "/y", Upstream: "r"}}, map[string]wire.Routes{"access": {"N88": ok}}, []string{"N86", "N87", "N88"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Catalogue, cfg.Handlers, cfg.Upstreams = c.rows, c.handlers, nil
			for _, r := range c.rows {
				if r.Name != "N93" {
					cfg.Doors[r.Name] = e3.Door{}
				}
			}
			_, err := gateway.New(cfg)
			if err == nil {
				t.Fatal("the edge was made")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q in it", err, want)
				}
			}
		})
	}
}

// TestUpstreamTakesOverFromHandlers of the same name, which then need no rows.
func TestUpstreamTakesOverFromHandlers(t *testing.T) {
	cfg := config()
	cfg.Catalogue = []resources.Route{{Name: "N90", Method: "GET", Path: "/x", Upstream: "access"}}
	cfg.Upstreams = map[string]*url.URL{"access": {Scheme: "http", Host: "127.0.0.1:1"}}
	if _, err := gateway.New(cfg); err != nil {
		t.Error(err)
	}
	cfg.Upstreams["acess"] = cfg.Upstreams["access"]
	if _, err := gateway.New(cfg); err == nil || !strings.Contains(err.Error(), "acess") {
		t.Errorf("a misspelt upstream: %v", err)
	}
	cfg.Assertions = nil
	if _, err := gateway.New(cfg); err == nil {
		t.Error("an edge with upstreams that can vouch for nobody")
	}
}

// TestCatalogueInUseStaysOnAnError, and another one is taken without a break.
func TestCatalogueInUseStaysOnAnError(t *testing.T) {
	e := start(t)
	l := e.dial(t)
	old := request("GET", "/api/v1/accounts/acct-a-v1/roles", "", bearer)
	broken := append(catalogue(), resources.Route{Name: "N99", Method: "GET", Path: "/new", Upstream: "nobody"})
	if e.CheckCatalogue(broken) == nil || e.SetCatalogue("rev-1", broken) == nil {
		t.Fatal("a catalogue with a row that nothing serves was taken")
	}
	if r := l.send(t, old); r.Status != 200 {
		t.Errorf("the old row: %d %s", r.Status, r.Body)
	}
	if r := l.send(t, request("GET", "/new", "", bearer)); r.Status != 404 {
		t.Errorf("the refused row: %d", r.Status)
	}
	moved := catalogue()
	moved[1].Path = "/api/v1/accounts/{accountId}/moved"
	must.Do(t, e.CheckCatalogue(moved))
	if r := l.send(t, old); r.Status != 200 {
		t.Errorf("checking a catalogue took it into use: %d", r.Status)
	}
	must.Do(t, e.SetCatalogue("rev-1", moved))
	if r := l.send(t, request("GET", "/api/v1/accounts/acct-a-v1/moved", "", bearer)); r.Status != 200 {
		t.Errorf("the new row: %d %s", r.Status, r.Body)
	}
	if r := l.send(t, old); r.Status != 405 || r.Header.Get("Allow") != "POST" {
		t.Errorf("the row that is gone: %d %v", r.Status, r.Header)
	}
}

// TestPathsBesideTheRoutes: what only looks like a route is none.
func TestPathsBesideTheRoutes(t *testing.T) {
	l := start(t).dial(t)
	for target, want := range map[string]int{
		"/api/v1/authorize": 404, "/api/v1/authorize/": 400, "/api/v1/authorize?x": 404, "/api/v1/Authorize/x": 404, "/API/v1/authorize/x": 404,
		"/api/v1/authorizex/y": 404, "/api/v1//authorize/x": 404, "//api/v1/authorize/x": 404, "/api/v1/./authorize/x": 404, "/x/../api/v1/authorize/x": 404,
		"/api/v1/%61uthorize/x": 404, "/api/v1/authorize%2Fx": 404, `/api\v1/authorize/x`: 404, "/api/v1;a/authorize/x": 404, "/": 404, "/*": 404,
		"/livez": 404, "/readyz": 404, "/metrics": 404, "/api/v1/health": 404, "/debug/pprof/": 404,
	} {
		r := l.send(t, request("POST", target, "", bearer, "X-User-ID: user-bob-v1", "X-Account-ID: acct-a-v1", "X-Action: project:instance:read"))
		if r.Status != want {
			t.Errorf("%s: %d %s, want %d", target, r.Status, r.Body, want)
		}
	}
}
