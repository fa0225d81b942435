package authzen

import (
	"bytes"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// The types of MCP servers and of their rows in the policy tree.
const (
	typeMCPServer = "mcp_server"
	typeTool      = "tool"
	typePrompt    = "prompt"
	typeResource  = "resource"
)

// uses are the names of the actions on a row by its type, as COAZ-MCP has them.
var uses = map[string][]string{
	typeTool:     {"call", "tools/call"},
	typePrompt:   {"completion/complete", "get", "prompts/get"},
	typeResource: {"completion/complete", "read", "resources/read", "resources/subscribe", "resources/unsubscribe"},
}

// kindOf returns the kind of the rows of that type, "" for another type.
func kindOf(resourceType string) string {
	if uses[resourceType] == nil {
		return ""
	}
	return resourceType + "s"
}

// namesRow reports whether the resource is a row of an MCP server, so that the action need not be sent.
func (t *Tuple) namesRow() bool { return t.Resource != nil && kindOf(t.Resource.Type) != "" }

// ofMCPServer reports whether the resource is an MCP server or a row of one.
func (t *Tuple) ofMCPServer() bool {
	return t.namesRow() || t.Resource != nil && t.Resource.Type == typeMCPServer
}

// row returns the row that the question names, false for a resource of another type.
func (t *Tuple) row(tree verdict.Tree, account string) (r mcp.Row, ok bool) {
	if !t.ofMCPServer() {
		return r, false
	}
	name, action := t.Resource.ID, ""
	if t.Action != nil {
		action = t.Action.Name
	}
	kind := kindOf(t.Resource.Type)
	if kind == "" {
		kind, name, _ = strings.Cut(action, "/")
	}
	server := tree.MCPServer(t.server())
	if server == nil {
		server = &resources.MCPServer{Name: t.server()}
	}
	r = mcp.RowAt(server, account, t.Resource.Properties.Project, kind, name)
	if t.namesRow() && action != "" && action != r.Action() && !slices.Contains(uses[t.Resource.Type], action) {
		r = r.Absent()
	}
	return r, true
}

// server returns the name of the MCP server that the question names.
func (t *Tuple) server() string {
	if t.Resource.Type == typeMCPServer {
		return t.Resource.ID
	}
	return t.Resource.Properties.Server
}

// readRow notes the problems of a question about a row.
func (n *native) readRow() {
	field, properties := "resource.properties.server", &n.Resource.Properties
	if n.Resource.Type == typeMCPServer {
		field = "resource.id"
	}
	switch server := n.server(); {
	case n.Resource.Type != typeMCPServer && properties.OddServer:
		n.problem(field, "must be a string")
	case server == "":
		n.problem(field, "is missing")
	case !resources.ValidMCPServerName(server):
		n.problem(field, resources.MCPNameRule)
	default:
		n.path, n.inAccount = "mcp/"+server, true
	}
	if n.namesInProject() {
		n.path = "projects/" + properties.Project + "/" + n.path
	}
}

// readArguments notes the problem of arguments, which tools alone have.
func (n *native) readArguments() {
	switch sent := n.arguments(); {
	case sent == nil:
	case !n.namesTool():
		n.problem("context.arguments", "must not be sent: only tools have arguments")
	case !bytes.HasPrefix(sent, []byte("{")):
		n.problem("context.arguments", "must be an object")
	}
}

// namesTool reports whether the row in question is a tool.
func (t *Tuple) namesTool() bool {
	return t.Resource.Type == typeTool || t.Resource.Type == typeMCPServer && t.Action != nil && strings.HasPrefix(t.Action.Name, kindOf(typeTool)+"/")
}

// ofRow returns the question about the use of a row. One about a server is about what its lists show, which need no
// approval.
func ofRow(tuple *Tuple, r mcp.Row, user, account string, agent resources.AgentRef) resources.Question {
	q := r.Use(user, account, agent)
	if q.Call = r.Tool(); q.Call != nil {
		q.Call.Arguments, q.Call.In = tuple.arguments(), "context"
		q.Call.Approval = r.NeedsApproval() && tuple.Resource.Type != typeMCPServer
	}
	return q
}

// arguments returns the JSON of context.arguments, nil without it.
func (t *Tuple) arguments() []byte {
	if t.Context == nil {
		return nil
	}
	return t.Context.Arguments
}

// hide gives a denial about a row the reason that a missing row has.
func (t *translator) hide(tuple *Tuple, o *verdict.Outcome) {
	if o.Err != nil || o.Allowed {
		return
	}
	if r, ok := tuple.row(t.tree, ""); ok {
		o.Reason = r.Reason(o.Code, o.Reason)
	}
}
