package pins

import (
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// formatServer returns the rows of an MCP server, each on a line: a review shows the rows that change.
func formatServer(s *resources.MCPServer) []byte {
	var members []string
	add := func(name, text string) { members = append(members, quoteJSON(name)+": "+text) }
	word := func(name, value string) {
		if value != "" {
			add(name, quoteJSON(value))
		}
	}
	word("upstream", s.Upstream)
	word("title", s.Title)
	word("agents", s.Agents)
	if s.Autonomous {
		add("autonomous", "true")
	}
	word("consent", s.Consent)
	word("pin", s.Pin)
	word("denial", s.Denial)
	if len(s.ServerRequests) > 0 {
		add("server_requests", onOneLine(s.ServerRequests))
	}
	word("credential", s.Credential)
	if len(s.Tools) > 0 {
		add("tools", object(byName(s.Tools), "  "))
	}
	if len(s.Resources) > 0 {
		var rows []string
		for _, row := range s.Resources {
			rows = append(rows, onOneLine(row))
		}
		add("resources", "[\n    "+strings.Join(rows, ",\n    ")+"\n  ]")
	}
	if len(s.Prompts) > 0 {
		add("prompts", object(byName(s.Prompts), "  "))
	}
	return []byte(object(members, "") + "\n")
}

// byName returns rows as members of an object, in order.
func byName[T any](rows map[string]T) (members []string) {
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		members = append(members, quoteJSON(name)+": "+onOneLine(rows[name]))
	}
	return members
}

// object returns an object with its members on a line each, behind an indent.
func object(members []string, indent string) string {
	if len(members) == 0 {
		return "{}"
	}
	return "{\n" + indent + "  " + strings.Join(members, ",\n"+indent+"  ") + "\n" + indent + "}"
}

// onOneLine returns the JSON of a row as people write it.
func onOneLine(row any) string {
	text, _ := jsonv2.Marshal(row, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true)) // rows are texts
	return string(text)
}

func quoteJSON(text string) string { return onOneLine(text) }
