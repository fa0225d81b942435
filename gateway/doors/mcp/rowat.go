package mcp

import (
	"fmt"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Row is a row of a server at a place, for doors that ask about its use without a message.
type Row struct {
	server *resources.MCPServer
	place  place
	row    row
}

// RowAt returns the row of a name. The kind is tools, prompts or resources. The name of a resource is a URI or a
// template. account and project are "" if the place does not name them.
func RowAt(s *resources.MCPServer, account, project, kind, name string) Row {
	return Row{s, place{account: account, project: project, server: s.Name}, rowAt(s, kind, name)}
}

// Action returns the action of the row, or "" if the policy has no such row.
func (r Row) Action() string { return r.row.action.ID }

// Absent returns a row that the policy does not have, with the same name.
func (r Row) Absent() Row {
	r.row = row{kind: r.row.kind, name: r.row.name}
	return r
}

// Use returns the door's question about the use of the row by a user. The reference names the agent that acts for the
// user.
func (r Row) Use(user, account string, agent resources.AgentRef) resources.Question {
	if !agent.Named() {
		return questionOf(r.server, r.place, r.row, user, account, nil)
	}
	return questionOf(r.server, r.place, r.row, user, account, agentOf(r.server, agent))
}

// Tool returns the call of a tool at the place, without arguments and without a need for an approval. It is nil for other
// rows.
func (r Row) Tool() *resources.ToolCall {
	if r.row.kind != kindTool {
		return nil
	}
	return &resources.ToolCall{Server: r.server.Name, Tool: r.row.name, ProjectID: r.place.project}
}

// NeedsApproval says whether each call of the row needs an approval.
func (r Row) NeedsApproval() bool { return r.row.approval != "" }

// Reason returns the reason of a denial, with the user in the third person. It names the row and not its action, so that it
// is the same without a row.
func (r Row) Reason(code, reason string) string {
	name := fmt.Sprintf("the %s %q of the server %q", kindWord(r.row.kind), shortened(r.row.name), r.server.Name)
	switch code {
	case codeNoRole:
		return "no active role of the user lets them use " + name
	case codeDelegation:
		return "the user has not delegated the use of " + name + " to the agent"
	case verdict.CodeAgentRole:
		return "no active role of the agent lets it use " + name
	}
	return reason
}

// RowNames returns the rows of a server by kind and name, such as tools/search, in order.
func RowNames(s *resources.MCPServer) []string {
	var names []string
	for _, r := range used(s) {
		names = append(names, r.kind+"/"+r.name)
	}
	return names
}
