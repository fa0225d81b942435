package proof

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources"
)

// mcpFolder holds a folder for each MCP server, with its data.json.
const mcpFolder = "mcp"

var (
	// mcpName is the form of a server's name, a segment of paths.
	mcpName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	// mcpDefinition is the form of a definition, and mcpOffered that of the name of a tool or a prompt.
	// mcpScheme begins a URI, mcpLiteral is a segment of a template that stands for itself, and mcpParameter one for any.
	mcpDefinition = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	mcpOffered    = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
	mcpScheme     = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:(//)?`)
	mcpLiteral    = regexp.MustCompile(`^[^{}\s%?#]+$`)
	mcpParameter  = regexp.MustCompile(`^\{[A-Za-z_][A-Za-z0-9_]*\}$`)
)

// readServers returns the MCP servers by name, and tells all that is wrong with them.
func (c *catalogue) readServers(ctx context.Context, src *policies.Source, docs map[string]documents, p *Problems) {
	for _, folder := range slices.Sorted(maps.Keys(docs)) {
		if path.Dir(folder) != mcpFolder {
			if folder == mcpFolder || strings.HasPrefix(folder, mcpFolder+"/") {
				p.report(docs[folder][0].file, 0, "is in no server's folder: those are mcp/<server>/data.json")
			}
			continue
		}
		before := len(*p)
		server := c.readServer(ctx, src, path.Base(folder), docs[folder], p)
		if len(*p) == before {
			c.servers = append(c.servers, server)
		}
	}
}

// readServer returns one server.
func (c *catalogue) readServer(ctx context.Context, src *policies.Source, name string, docs documents, p *Problems) *resources.MCPServer {
	s := &resources.MCPServer{Name: name}
	schema := schemaFolder + mcpFolder + "/schema.json"
	switch {
	case !mcpName.MatchString(name) || name == "accounts" || name == "projects":
		p.report(docs[0].file, 0, "a server's name is 1 to 64 characters of [a-z0-9_-] that begin with a letter, and neither accounts nor projects")
		return s
	case len(docs) > 1:
		p.report(docs[1].file, 0, "the server has another data.json")
		return s
	case src.File(schema) == nil:
		p.report(schema, 0, "is missing")
		return s
	}
	before := len(*p)
	if docs.match(ctx, src.File(schema), p); len(*p) > before {
		return s
	}
	dec := json.NewDecoder(bytes.NewReader(docs[0].raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		p.report(docs[0].file, 0, "%v", err)
		return s
	}
	s.Agents, s.Consent = cmp.Or(s.Agents, resources.MCPAgentsRegistered), cmp.Or(s.Consent, resources.MCPConsentRequired)
	s.Pin, s.Denial = cmp.Or(s.Pin, resources.MCPPinDefinitions), cmp.Or(s.Denial, resources.MCPDenialError)
	s.Credential = cmp.Or(s.Credential, resources.MCPCredentialAssertion)
	c.checkServer(s, docs, p)
	return s
}

// checkServer wants actions of system roles, a definition of each pinned tool, and templates with one reading.
func (c *catalogue) checkServer(s *resources.MCPServer, docs documents, p *Problems) {
	problem := func(member, format string, args ...any) {
		file, line := docs.line(member)
		p.report(file, line, "%s: %s", member, fmt.Sprintf(format, args...))
	}
	granted := func(member, id string) {
		action, err := resources.ParseAction(id)
		if err != nil {
			problem(member, "action %q %v", id, err)
			return
		}
		if !c.grants(action) {
			problem(member, "action %s is granted by no system role", id)
		}
		c.used = append(c.used, action)
	}
	word := func(member, value string, words ...string) {
		if !slices.Contains(words, value) {
			problem(member, "%q is none of %s", value, strings.Join(words, ", "))
		}
	}
	if !mcpName.MatchString(s.Upstream) {
		problem("upstream", "must be the name of an --upstream")
	}
	word("agents", s.Agents, resources.MCPAgentsRegistered, resources.MCPAgentsAny, resources.MCPAgentsNone)
	word("consent", s.Consent, resources.MCPConsentRequired, resources.MCPConsentNotRequired)
	word("pin", s.Pin, resources.MCPPinDefinitions, resources.MCPPinNames)
	word("denial", s.Denial, resources.MCPDenialError, resources.MCPDenialResult)
	word("credential", s.Credential, resources.MCPCredentialAssertion, resources.MCPCredentialExchange, resources.MCPCredentialSecret, resources.MCPCredentialNone)
	for _, kind := range s.ServerRequests {
		word("server_requests", kind, resources.MCPServerRequests()...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		tool, member := s.Tools[name], "tools."+name
		granted(member, tool.Action)
		word(member, tool.Effect, resources.EffectRead, resources.EffectWrite)
		if tool.Approval != "" {
			word(member, tool.Approval, resources.MCPApprovalEachCall)
		}
		if tool.Definition != "" && !mcpDefinition.MatchString(tool.Definition) {
			problem(member, "definition must be sha256: and 64 hexadecimal digits")
		}
		if pathWord(name) {
			problem(member, "the name must be 1 to 128 characters of [A-Za-z0-9_.-], and no word of a path")
		}
		if s.Pin == resources.MCPPinDefinitions && tool.Definition == "" {
			problem(member, `has no definition: portcullis mcp pin writes it, or "pin": "names" holds tools to their names`)
		}
		if s.Pin == resources.MCPPinNames && tool.Definition != "" {
			problem(member, `has a definition beside "pin": "names": leave one of them out`)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Prompts)) {
		granted("prompts."+name, s.Prompts[name].Action)
		word("prompts."+name, s.Prompts[name].Effect, resources.EffectRead, resources.EffectWrite)
		if pathWord(name) {
			problem("prompts."+name, "the name must be 1 to 128 characters of [A-Za-z0-9_.-], and no word of a path")
		}
	}
	seen := map[string]bool{}
	for i, one := range s.Resources {
		member := fmt.Sprintf("resources.%d", i)
		granted(member, one.Action)
		if !isTemplate(one.URI) {
			problem(member, "uri %q must be a URI whose {parameters} are whole segments, a {last+} one the rest", one.URI)
		}
		if seen[one.URI] {
			problem(member, "uri %q has a row already", one.URI)
		}
		seen[one.URI] = true
	}
}

// pathWord reports whether a path of E3 can't have the name as a segment.
func pathWord(name string) bool {
	return !mcpOffered.MatchString(name) || strings.Trim(name, ".") == "" || strings.EqualFold(name, "accounts") || strings.EqualFold(name, "projects")
}

// isTemplate reports whether a text is a URI whose parameters are whole segments; one with a + takes the rest.
func isTemplate(uri string) bool {
	scheme := mcpScheme.FindString(uri)
	segments := strings.Split(uri[len(scheme):], "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		rest, isRest := strings.CutSuffix(segment, "+}")
		switch {
		case segment == "" && i == 0 && !last: // file:///etc
		case mcpLiteral.MatchString(segment), mcpParameter.MatchString(segment):
		case isRest && last && mcpParameter.MatchString(rest+"}"):
		default:
			return false
		}
	}
	return scheme != ""
}
