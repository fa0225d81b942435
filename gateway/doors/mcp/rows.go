package mcp

import (
	"github.com/portcullis-authz/portcullis/resources"
)

// The kinds of rows, as paths name them.
const (
	kindTool     = "tools"
	kindResource = "resources"
	kindPrompt   = "prompts"
)

// row is a tool, a resource or a prompt of a server with its entry in the catalogue.
type row struct {
	kind, name string
	// listed is true if the catalogue has an entry. Nobody may use a row without one.
	listed     bool
	action     resources.Action
	effect     string
	definition string
	approval   string
	// begun is true for the task or the stream of an earlier call. That call had the approval.
	begun  bool
	schema []byte
	// arguments are those of a call of the tool, nil in any other message.
	arguments []byte
}

// rowAt returns the row of a name. The name of a resource is a URI or a template. A row of an unknown kind is not listed.
func rowAt(s *resources.MCPServer, kind, name string) row {
	switch kind {
	case kindTool:
		return toolRow(s, name)
	case kindPrompt:
		return promptRow(s, name)
	case kindResource:
		if r := templateRow(s, name); r.listed {
			return r
		}
		return resourceRow(s, name)
	}
	return row{kind: kind, name: name}
}

// toolRow returns the row of a tool.
func toolRow(s *resources.MCPServer, name string) row {
	r := row{kind: kindTool, name: name}
	if tool, ok := s.Tools[name]; ok {
		r.effect, r.definition, r.approval, r.schema = tool.Effect, tool.Definition, tool.Approval, tool.InputSchema
		r.list(tool.Action)
	}
	return r
}

// promptRow returns the row of a prompt.
func promptRow(s *resources.MCPServer, name string) row {
	r := row{kind: kindPrompt, name: name}
	if prompt, ok := s.Prompts[name]; ok {
		r.effect = prompt.Effect
		r.list(prompt.Action)
	}
	return r
}

// resourceRow returns the row of a resource. Its effect is always read.
func resourceRow(s *resources.MCPServer, uri string) row {
	r := row{kind: kindResource, name: uri, effect: resources.EffectRead}
	if one := s.Resource(uri); one != nil {
		r.list(one.Action)
	}
	return r
}

// templateRow returns the row of a listed template of resources. The catalogue must have the same template.
func templateRow(s *resources.MCPServer, template string) row {
	r := row{kind: kindResource, name: template, effect: resources.EffectRead}
	for _, one := range s.Resources {
		if one.URI == template {
			r.list(one.Action)
		}
	}
	return r
}

// list sets the action of a row. A malformed action leaves the row unlisted.
func (r *row) list(action string) {
	parsed, err := resources.ParseAction(action)
	r.action, r.listed = parsed, err == nil
}
