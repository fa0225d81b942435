package resources_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestRowsOfDifferentMessagesHaveNoCallInCommon guarantees that comparisons find the heirs of a row: rows without mcp, and
// rows for the same message.
func TestRowsOfDifferentMessagesHaveNoCallInCommon(t *testing.T) {
	row := func(method, name string) *resources.Route {
		return &resources.Route{Method: "POST", Path: "/mcp", Upstream: "external", MCP: resources.RouteMCP{Method: method, Name: name}}
	}
	for _, c := range []struct {
		a, b  *resources.Route
		meets bool
	}{
		{row("tools/call", "a"), row("tools/call", "a"), true},
		{row("tools/call", "a"), row("tools/call", "b"), false},
		{row("tools/call", "a"), row("prompts/get", "a"), false},
		{row("tools/call", "a"), row("", ""), true},
		{row("", ""), row("tools/list", ""), true},
	} {
		if meets, _ := c.a.Overlap(c.b); meets != c.meets {
			t.Errorf("%+v, %+v: %t", c.a.MCP, c.b.MCP, meets)
		}
	}
}
