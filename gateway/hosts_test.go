package gateway_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestRowsOfAHostServeItsCallsAlone guarantees that a call with another name of the host, or with a name of two
// readings, is not the host's. The edge does not serve calls judged for a proxy.
func TestRowsOfAHostServeItsCallsAlone(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Catalogue = append(c.Catalogue,
			resources.Route{Name: "host.list", Method: "GET", Host: "Widgets.example", Path: "/own/{id}", Access: []string{"member"}, Upstream: "access"},
			resources.Route{Name: "host.any", Method: "*", Host: "widgets.example", Path: "/own/{rest+}", Access: []string{"member"}, Upstream: "access"},
			resources.Route{Name: "page.get", Spec: "N13", Method: "GET", Path: "/page", Access: []string{"public"}, Upstream: "access"},
			resources.Route{Name: "ours.get", Method: "GET", Path: "/ours", Access: []string{"public"}, Upstream: "access"},
			resources.Route{Name: "elsewhere", Method: "*", Path: "/{rest+}", Access: []string{"public"}, Upstream: "external"},
		)
		for _, name := range []string{"host.list", "host.any", "page.get", "ours.get"} {
			c.Handlers["access"][name] = ok
		}
	})
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		want         int
	}{
		"the host":                  {"GET", "/own/1", []string{"Host: widgets.example"}, 200},
		"other letters and a port":  {"GET", "/own/1", []string{"Host: WIDGETS.example:8080"}, 200},
		"any method":                {"PATCH", "/own/1", []string{"Host: widgets.example"}, 200},
		"the rest":                  {"GET", "/own/1/2", []string{"Host: widgets.example"}, 200},
		"no rest":                   {"GET", "/own/", []string{"Host: widgets.example"}, 404},
		"small letters":             {"patch", "/own/1", []string{"Host: widgets.example"}, 405},
		"TRACE":                     {"TRACE", "/own/1/2", []string{"Host: widgets.example"}, 404},
		"CONNECT":                   {"CONNECT", "/own/1/2", []string{"Host: widgets.example"}, 404},
		"another host":              {"GET", "/own/1", []string{"Host: other.example"}, 404},
		"no host's name":            {"GET", "/own/1", []string{"Host: "}, 400},
		"a dot at the end":          {"GET", "/own/1", []string{"Host: widgets.example."}, 400},
		"an empty port":             {"GET", "/own/1", []string{"Host: widgets.example:"}, 400},
		"no port":                   {"GET", "/own/1", []string{"Host: widgets.example:x"}, 400},
		"an encoded host":           {"GET", "/own/1", []string{"Host: widgets%2eexample"}, 400},
		"a host below it":           {"GET", "/own/1", []string{"Host: a.widgets.example"}, 404},
		"a user":                    {"GET", "/own/1", []string{"Host: x@widgets.example"}, 400},
		"two hosts in one":          {"GET", "/own/1", []string{"Host: widgets.example, other.example"}, 400},
		"two headers":               {"GET", "/own/1", []string{"Host: widgets.example", "Host: widgets.example"}, 400},
		"a header that a proxy set": {"GET", "/own/1", []string{"Host: other.example", "X-Forwarded-Host: widgets.example"}, 404},
		"the absolute form":         {"GET", "http://widgets.example/own/1", []string{"Host: widgets.example"}, 400},
		"every host":                {"GET", "/api/v1/accounts/acct-a-v1/roles", []string{"Host: widgets.example"}, 200},
		"every host, malformed":     {"GET", "/api/v1/accounts/acct-a-v1/roles", []string{"Host: widgets.example."}, 400},
		"nothing there, malformed":  {"GET", "/nothing", []string{"Host: widgets.example."}, 400},
		"the gateway's page":        {"GET", "/page", []string{"Host: other.example"}, 200},
		"its page on the host":      {"GET", "/page", []string{"Host: widgets.example"}, 404},
		"its page, other letters":   {"GET", "/page", []string{"Host: WIDGETS.example:80"}, 404},
		"an open row of one's own":  {"GET", "/ours", []string{"Host: widgets.example"}, 200},
		"another method of a page":  {"POST", "/page", []string{"Host: widgets.example"}, 404},
		"a call that is elsewhere":  {"GET", "/anything", []string{"Host: widgets.example"}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			raw := c.method + " " + c.path + " HTTP/1.1\r\n" + strings.Join(append(c.headers, bearer, jsonType), "\r\n") + "\r\n\r\n"
			if r := e.send(t, raw); r.Status != c.want {
				t.Errorf("%d %s, want %d", r.Status, r.Body, c.want)
			}
		})
	}
	if r := e.send(t, "GET /page HTTP/1.0\r\n\r\n"); r.Status != 200 {
		t.Errorf("no host at all, by HTTP/1.0: %d %s", r.Status, r.Body)
	}
}
