package proof

import (
	"context"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources"
)

// actionRows is data.actions: the actions that other services ask about.
type actionRows struct {
	// Strict denies actions that the tree does not list.
	Strict bool `json:"strict"`
	Known  map[string]struct {
		Description string `json:"description"`
	} `json:"known"`
}

// readActions checks actions/data.json against its schema. A tree without the file lists no actions there.
func readActions(ctx context.Context, src *policies.Source, docs map[string]documents, p *Problems) (rows actionRows) {
	if docs[actionsFolder] != nil {
		readRows(ctx, src, docs, actionsFolder, &rows, p)
	}
	return rows
}

// listActions lists the actions of routes, of MCP servers and of data.actions.known, each once, sorted by id.
func (c *catalogue) listActions(rows actionRows, docs documents, p *Problems) {
	c.strict = rows.Strict
	all := map[string]resources.ListedAction{}
	for _, id := range c.named() {
		if action, err := resources.ParseAction(id); err == nil { // checkRoutes and readServers report malformed ids
			all[action.ID] = resources.ListedAction{Action: action}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(rows.Known)) {
		action, err := resources.ParseAction(id)
		if err != nil {
			file, line := docs.line("known." + id)
			p.report(file, line, "known: action %q %v", id, err)
		}
		description := rows.Known[id].Description
		if description == "" {
			file, line := docs.line("known." + id)
			p.report(file, line, "known: %s has no description: say what the action does", id)
		}
		all[id] = resources.ListedAction{Action: action, Description: description}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		c.actions = append(c.actions, all[id])
	}
}

// named returns the actions in the rows of routes and MCP servers.
func (c *catalogue) named() (ids []string) {
	for _, route := range c.routes {
		ids = append(ids, route.Action)
	}
	for _, server := range c.servers {
		for _, tool := range server.Tools {
			ids = append(ids, tool.Action)
		}
		for _, resource := range server.Resources {
			ids = append(ids, resource.Action)
		}
		for _, prompt := range server.Prompts {
			ids = append(ids, prompt.Action)
		}
	}
	return ids
}
