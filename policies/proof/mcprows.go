package proof

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

var (
	definitionForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	upstreamForm   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
)

// check reports all problems of the rows of a server.
func (s *server) check(c *catalogue) {
	if !resources.ValidMCPServerName(s.name) {
		s.problems.report(s.docs[0].file, 0, "the name of an MCP server, %q, %s", s.name, resources.MCPNameRule)
	}
	if !upstreamForm.MatchString(s.row.Upstream) {
		s.report("upstream", "must be the name of an --upstream: 1 to 64 characters of [a-z0-9_-] that begin with a letter, not %q", s.row.Upstream)
	}
	s.checkWords()
	for _, name := range slices.Sorted(maps.Keys(s.row.Tools)) {
		s.checkTool(c, name, s.row.Tools[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.row.Prompts)) {
		row, field := s.row.Prompts[name], "prompts."+name
		s.checkName(field, name)
		s.checkAction(c, field, row.Action)
		s.checkEffect(field, row.Effect)
	}
	s.checkResources(c)
	s.checkInputSchemas()
}

// checkWords reports unknown words, and autonomous agents on a server that allows no agents.
func (s *server) checkWords() {
	for _, w := range words(&s.row.MCPServer) {
		if *w.value != "" && !slices.Contains(w.choices, *w.value) {
			s.report(w.member, "%q is none of %s", *w.value, strings.Join(w.choices, ", "))
		}
	}
	for _, kind := range s.row.ServerRequests {
		if !slices.Contains(resources.MCPServerRequests(), kind) {
			s.report("server_requests", "%q is none of %s", kind, strings.Join(resources.MCPServerRequests(), ", "))
		}
	}
	if s.row.Autonomous && s.row.Agents == resources.MCPAgentsNone {
		s.report("autonomous", "lets agents call without a user, and agents is none: leave one of them out")
	}
}

func (s *server) checkTool(c *catalogue, name string, row resources.MCPTool) {
	field := "tools." + name
	s.checkName(field, name)
	s.checkAction(c, field, row.Action)
	s.checkEffect(field, row.Effect)
	switch {
	case row.Definition == "" && s.row.Pin != resources.MCPPinNames:
		s.report(field, "has no definition: `portcullis mcp pin` writes it; with pin names it can be left out")
	case row.Definition != "" && s.row.Pin == resources.MCPPinNames:
		s.report(field+".definition", "pin is names, and then the gateway does not compare definitions: leave one of them out")
	case row.Definition != "" && !definitionForm.MatchString(row.Definition):
		s.report(field+".definition", "must be sha256: and 64 hexadecimal digits in small letters, as `portcullis mcp pin` writes them")
	}
	if row.Approval != "" && row.Approval != resources.MCPApprovalEachCall {
		s.report(field+".approval", "%q is not %s; leave it out to need no approval", row.Approval, resources.MCPApprovalEachCall)
	}
}

// checkResources reports malformed templates, and two templates that match the same URIs.
func (s *server) checkResources(c *catalogue) {
	for i, row := range s.row.Resources {
		if err := row.CheckTemplate(); err != nil {
			s.report("resources", "uri %q %v", row.URI, err)
		}
		s.checkAction(c, "resources", row.Action)
		for _, other := range s.row.Resources[:i] {
			if _, _, equal := row.Overlap(other); equal {
				s.report("resources", "%q is already the template of %q: leave one of them out", row.URI, other.URI)
			}
		}
	}
}

// checkName reports a name that a path of authorization.check can't end with.
func (s *server) checkName(field, name string) {
	if !resources.ValidPathSegment(name) {
		s.report(field, "the name %q %s", name, resources.PathSegmentRule)
	}
}

// checkAction reports an action that is malformed, is of the scope resource, or is granted by no system role.
func (s *server) checkAction(c *catalogue, field, id string) {
	action, err := resources.ParseAction(id)
	switch {
	case err != nil:
		s.report(field+".action", "action %q %v", id, err)
	case action.Scope == resources.ScopeResource:
		s.report(field+".action", "action %s must be of scope account or project", id)
	case !c.grants(action):
		s.report(field+".action", "action %s is granted by no system role", id)
	}
}

func (s *server) checkEffect(field, effect string) {
	if effect != resources.EffectRead && effect != resources.EffectWrite {
		s.report(field+".effect", "effect %q is neither read nor write", effect)
	}
}
