package gateway_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// tools adds rows for messages of an MCP server behind a proxy, and a wider row without mcp.
func tools(c *gateway.Config) {
	row := func(name, action, method, tool string) resources.Route {
		return resources.Route{
			Name: name, Method: "POST", Path: "/tickets/mcp", Action: action, Upstream: "external", MCP: resources.RouteMCP{Method: method, Name: tool},
		}
	}
	c.Catalogue = append(c.Catalogue, row("t.search", "project:ticket:read", "tools/call", "search_tickets"), row("t.close", "project:ticket:close", "tools/call", "close_ticket"),
		resources.Route{Name: "t.rest", Method: "*", Path: "/tickets/{rest+}", Action: "project:ticket:any", Upstream: "external"})
}

// TestHeadersOfMCPNameTheRow guarantees that the headers Mcp-Method and Mcp-Name choose among the rows of a path, in each
// way a proxy asks. The gateway refuses a call without a row.
func TestHeadersOfMCPNameTheRow(t *testing.T) {
	e := start(t, asking, tools)
	const version, call = "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"
	for name, c := range map[string]struct {
		headers []string
		status  int
		action  string
	}{
		"a tool":               {[]string{version, call, "Mcp-Name: search_tickets"}, 200, "project:ticket:read"},
		"another tool":         {[]string{version, call, "mcp-name: close_ticket"}, 200, "project:ticket:close"},
		"a claim of the other": {[]string{version, call, "Mcp-Name: close_ticket", "X-Action: project:ticket:read"}, 400, ""},
		"no headers":           {nil, 404, ""},
		"no method":            {[]string{version, "Mcp-Name: close_ticket"}, 404, ""},
		"no name":              {[]string{version, call}, 404, ""},
		"an empty name":        {[]string{version, call, "Mcp-Name:"}, 400, ""},
		"an unknown tool":      {[]string{version, call, "Mcp-Name: drop_database"}, 404, ""},
		"another spelling":     {[]string{version, call, "Mcp-Name: Search_Tickets"}, 404, ""},
		"another method":       {[]string{version, "Mcp-Method: tools/list"}, 404, ""},
		"two names":            {[]string{version, call, "Mcp-Name: search_tickets", "Mcp-Name: close_ticket"}, 400, ""},
		"two equal names":      {[]string{version, call, "Mcp-Name: search_tickets", "Mcp-Name: search_tickets"}, 400, ""},
		"two methods":          {[]string{version, call, "Mcp-Method: tools/list", "Mcp-Name: search_tickets"}, 400, ""},
		"an underscore":        {[]string{version, call, "Mcp_Name: search_tickets"}, 400, ""},
		"one more underscore":  {[]string{version, call, "Mcp-Name: search_tickets", "Mcp_Name: close_ticket"}, 400, ""},
		"an older revision":    {[]string{"MCP-Protocol-Version: 2025-11-25", call, "Mcp-Name: search_tickets"}, 400, ""},
		"no revision":          {[]string{call, "Mcp-Name: search_tickets"}, 400, ""},
		"two revisions":        {[]string{version, version, call, "Mcp-Name: search_tickets"}, 400, ""},
	} {
		for way, raw := range map[string]string{
			"forward-auth": request("GET", "/forward-auth", "", append([]string{bearer, "X-Original-Method: POST", "X-Original-URI: /tickets/mcp?x"}, c.headers...)...),
			"verify":       request("POST", "/verify/tickets/mcp", "", append([]string{bearer}, c.headers...)...),
		} {
			if r := e.send(t, raw); r.Status != c.status || r.Header.Get("X-Action") != c.action {
				t.Errorf("%s by %s: %d %s %q", name, way, r.Status, r.Body, r.Header.Get("X-Action"))
			}
		}
	}
	for _, c := range []struct{ method, path string }{{"GET", "/tickets/mcp"}, {"POST", "/tickets/other"}} {
		if r := e.send(t, request(c.method, "/verify"+c.path, "", bearer)); r.Status != 200 || r.Header.Get("X-Action") != "project:ticket:any" {
			t.Errorf("%s %s: %d %s", c.method, c.path, r.Status, r.Body)
		}
	}
}

// TestHeadersOfMCPNameTheRowForEnvoy guarantees the same over gRPC.
func TestHeadersOfMCPNameTheRowForEnvoy(t *testing.T) {
	e := start(t, tools)
	for tool, want := range map[string]string{"search_tickets": "project:ticket:read", "close_ticket": "project:ticket:close", "drop_database": "", "": ""} {
		call := envoy("/tickets/mcp", heads{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})
		call.Method = "POST"
		got, err := e.Foreign(t.Context(), call)
		action := ""
		for _, h := range got.Headers {
			if strings.EqualFold(h.Name, "X-Action") {
				action = h.Value
			}
		}
		if action != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", tool, action, err)
		}
	}
}
