package mcp

import (
	"github.com/portcullis-authz/portcullis/resources"
)

// The kinds of what a server offers, as paths name them.
const (
	kindTool     = "tools"
	kindResource = "resources"
	kindPrompt   = "prompts"
)

// row is what a call uses of a server: a tool, a resource or a prompt.
type row struct {
	kind, name string
	// listed says that the catalogue has it; what it lacks exists for nobody.
	listed     bool
	action     resources.Action
	effect     string
	definition string
	approval   string
	schema     []byte
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

// resourceRow returns the row of a resource. Reading is all that a resource can be used for.
func resourceRow(s *resources.MCPServer, uri string) row {
	r := row{kind: kindResource, name: uri, effect: resources.EffectRead}
	if one := s.Resource(uri); one != nil {
		r.list(one.Action)
	}
	return r
}

// templateRow returns the row of a template of resources that a server lists: the same template has to be a row.
func templateRow(s *resources.MCPServer, template string) row {
	r := row{kind: kindResource, name: template, effect: resources.EffectRead}
	for _, one := range s.Resources {
		if one.URI == template {
			r.list(one.Action)
		}
	}
	return r
}

// list notes the action of a row of the catalogue. One that is none leaves the row unlisted.
func (r *row) list(action string) {
	parsed, err := resources.ParseAction(action)
	r.action, r.listed = parsed, err == nil
}
