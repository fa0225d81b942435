package catalogue_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// sentMCP are the headers of a call.
type sentMCP catalogue.MCPHeaders

func (h sentMCP) MCPHeaders() catalogue.MCPHeaders { return catalogue.MCPHeaders(h) }

func sent(method, name string) sentMCP {
	return sentMCP{Version: "2026-07-28", RouteMCP: resources.RouteMCP{Method: method, Name: name}}
}

// toolRows are rows of an MCP server, and wider ones without mcp beside them.
func toolRows() []resources.Route {
	row := func(name, method, path, mcp, tool string) resources.Route {
		return resources.Route{
			Name: name, Method: method, Host: "w.example", Path: path, Action: "project:widget:read", Effect: "read", Upstream: "external",
			MCP: resources.RouteMCP{Method: mcp, Name: tool},
		}
	}
	all := []resources.Route{
		row("list", "POST", "/projects/{p}/mcp", "tools/list", ""), row("close", "POST", "/projects/{project}/mcp", "tools/call", "close_ticket"),
		row("search", "POST", "/projects/{p}/mcp", "tools/call", "search_tickets"), row("open", "POST", "/open", "tools/list", ""),
		row("any", "*", "/projects/{p}/mcp", "", ""), row("wide", "POST", "/{rest+}", "", ""),
	}
	all[3].Access = []string{"public"}
	return all
}

// TestMessagesOfOnePathHaveRowsOfTheirOwn guarantees that both headers name the row. No call of the path falls through to
// another one.
func TestMessagesOfOnePathHaveRowsOfTheirOwn(t *testing.T) {
	x, err := catalogue.New(toolRows())
	if err != nil {
		t.Fatal(err)
	}
	const path = "/projects/proj-b-v1/mcp"
	find := func(method, path string, h sentMCP) (route.Match, error) {
		return x.Find(catalogue.Call{Host: "w.example", Method: method, Path: path, MCP: h})
	}
	for want, h := range map[string]sentMCP{"close": sent("tools/call", "close_ticket"), "search": sent("tools/call", "search_tickets"), "list": sent("tools/list", "")} {
		m, err := find("POST", path, h)
		if err != nil || m.Route.Name != want || m.Place.ProjectID != "proj-b-v1" {
			t.Errorf("%+v: %+v, %v", h, m.Row, err)
		}
	}
	if m, err := find("GET", path, sent("tools/call", "close_ticket")); err != nil || m.Route.Name != "any" {
		t.Errorf("another method: %+v, %v", m.Row, err)
	}
	if m, err := find("POST", "/elsewhere", sentMCP{Malformed: catalogue.HeaderMCPName}); err != nil || m.Route.Name != "wide" {
		t.Errorf("a path without such rows: %+v, %v", m.Row, err)
	}
	old, none, twice := sent("tools/call", "close_ticket"), sent("tools/call", "close_ticket"), sent("tools/call", "")
	old.Version, none.Version, twice.Malformed = "2025-11-25", "", catalogue.HeaderMCPName
	long, word := old, old
	long.Version = "2026-07-28, 2025-11-25"
	word.Version = "zzzzzzzzzz"
	for name, c := range map[string]struct {
		sentMCP
		want resources.Kind
	}{
		"no headers":          {sentMCP{}, resources.KindNotFound},
		"no method":           {sent("", "close_ticket"), resources.KindNotFound},
		"no name":             {sent("tools/call", ""), resources.KindNotFound},
		"no such tool":        {sent("tools/call", "drop_database"), resources.KindNotFound},
		"another spelling":    {sent("tools/call", "Close_ticket"), resources.KindNotFound},
		"another method":      {sent("Tools/call", "close_ticket"), resources.KindNotFound},
		"joined":              {sent("tools/call", "close_ticket, close_ticket"), resources.KindNotFound},
		"encoded":             {sent("tools/call", "=?base64?Y2xvc2VfdGlja2V0?="), resources.KindNotFound},
		"a name for a list":   {sent("tools/list", "close_ticket"), resources.KindNotFound},
		"twice":               {twice, resources.KindBadRequest},
		"an older revision":   {old, resources.KindBadRequest},
		"no date":             {word, resources.KindBadRequest},
		"no revision":         {none, resources.KindBadRequest},
		"two revisions":       {long, resources.KindBadRequest},
		"a public row's tool": {sent("tools/call", "close_ticket"), resources.KindNotFound},
	} {
		target := path
		if name == "a public row's tool" {
			target = "/open"
		}
		call := catalogue.Call{Host: "w.example", Method: "POST", Path: target, MCP: c.sentMCP}
		if m, err := x.Find(call); !resources.IsKind(err, c.want) || m.Row != nil || x.Public(call) {
			t.Errorf("%s: %+v, %v", name, m.Row, err)
		}
	}
	if m, err := x.Find(catalogue.Call{Host: "w.example", Method: "POST", Path: path}); !resources.IsKind(err, resources.KindNotFound) {
		t.Errorf("a call whose headers nobody has read: %+v, %v", m.Row, err)
	}
	if !x.Public(catalogue.Call{Host: "w.example", Method: "POST", Path: "/open", MCP: sent("tools/list", "")}) {
		t.Error("a public row is not public")
	}
}

// TestRowsOfMessagesThatNoCallCouldHaveAreRefused guarantees that a path has rows with mcp or rows without it. The
// gateway serves no row with mcp: it does not read the headers for its own rows.
func TestRowsOfMessagesThatNoCallCouldHaveAreRefused(t *testing.T) {
	for want, change := range map[string]func(r *resources.Route){
		"one of them has no mcp":                         func(r *resources.Route) { r.MCP = resources.RouteMCP{} },
		"has the method, host, path and mcp of route":    func(r *resources.Route) { r.MCP.Name = "close_ticket" },
		"is for rows with the method POST":               func(r *resources.Route) { r.Method = "*" },
		"and the upstream external":                      func(r *resources.Route) { r.Upstream = "tickets" },
		"method must be that of a message":               func(r *resources.Route) { r.MCP = resources.RouteMCP{Name: "x"} },
		"name must be there for tools/call":              func(r *resources.Route) { r.MCP.Name = "" },
		"and for no other method":                        func(r *resources.Route) { r.MCP.Method = "tools/list" },
		"name must be 1 to 1000 visible ASCII":           func(r *resources.Route) { r.MCP.Name = "close ticket" },
		"characters that do not begin with =?":           func(r *resources.Route) { r.MCP.Name = "=?base64?eA==?=" },
		"name must be 1 to 1000 visible ASCII character": func(r *resources.Route) { r.MCP.Name = strings.Repeat("x", 1001) },
	} {
		rows := toolRows()
		added := rows[2]
		added.Name, added.MCP.Name = "added", "other"
		change(&added)
		for _, all := range [][]resources.Route{append(toolRows(), added), append([]resources.Route{added}, toolRows()...)} {
			if _, err := catalogue.New(all); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
}

// BenchmarkFind has the cost of a call beside rows with mcp, and of one to them.
func BenchmarkFind(b *testing.B) {
	x, err := catalogue.New(append(rows(), toolRows()...))
	if err != nil {
		b.Fatal(err)
	}
	for name, c := range map[string]catalogue.Call{
		"plain": {Host: "w.example", Method: "GET", Path: "/own/user-c-v1", MCP: sent("tools/call", "close_ticket")},
		"mcp":   {Host: "w.example", Method: "POST", Path: "/projects/proj-b-v1/mcp", MCP: sent("tools/call", "close_ticket")},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Find(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
