package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/arguments"
	"github.com/portcullis-authz/portcullis/resources"
)

const (
	mcpFolder = "mcp"
	// inputSchemas is the name of a server's folder, and of the member of its data, with the schemas of its tools'
	// arguments.
	inputSchemas = "schema"
)

// serverRow is one MCP server in data.mcp.
type serverRow struct {
	resources.MCPServer

	Schema map[string]jsontext.Value `json:"schema"`
}

// server is an MCP server while readServers checks it.
type server struct {
	name string
	// docs are the documents of mcp/<name>/, schemas those of mcp/<name>/schema/.
	docs, schemas documents
	row           serverRow
	problems      *Problems
}

// readServers checks the rows of MCP servers against their schema and against what the gateway can serve. It needs the
// roles in c.
func (c *catalogue) readServers(ctx context.Context, src *policies.Source, docs map[string]documents, p *Problems) {
	schema := schemaFolder + mcpFolder + "/schema.json"
	for _, folder := range slices.Sorted(maps.Keys(docs)) {
		parts := strings.Split(folder, "/")
		if parts[0] != mcpFolder {
			continue
		}
		nested := len(parts) == 3 && parts[2] == inputSchemas
		if len(parts) != 2 && !nested {
			p.report(docs[folder][0].file, 0, "isn't read: the rows of an MCP server are in mcp/<server>/data.json, the schemas of its tools in mcp/<server>/schema/data.json")
			continue
		}
		if nested {
			if docs[path.Dir(folder)] == nil {
				p.report(docs[folder][0].file, 0, "there is no %s/data.json beside it", path.Dir(folder))
			}
			continue
		}
		if src.File(schema) == nil {
			p.report(schema, 0, "is missing")
			return
		}
		s := &server{name: parts[1], docs: docs[folder], schemas: docs[folder+"/"+inputSchemas], problems: p}
		before := len(*p)
		if s.match(ctx, src.File(schema)); len(*p) > before {
			continue
		}
		if s.decode(); len(*p) > before {
			continue
		}
		s.check(c)
		c.servers[s.name] = s.complete()
	}
}

// report adds a problem with a member of the server, at its line.
func (s *server) report(member, format string, args ...any) {
	docs, inFile := s.docs, member
	if nested, ok := strings.CutPrefix(member, inputSchemas+"."); ok && s.schemas != nil {
		docs, inFile = s.schemas, nested
	}
	row, _, _ := strings.Cut(inFile, ".")
	file, line := docs.line(inFile, inFile[:max(strings.LastIndexByte(inFile, '.'), 0)], row)
	s.problems.report(file, line, "%s: %s", cmp.Or(member, s.name), fmt.Sprintf(format, args...))
}

// match checks the server's data against the schema of data.mcp.
func (s *server) match(ctx context.Context, schema []byte) {
	value, _ := s.docs.value() // readData reports a member of two documents
	if s.schemas != nil {
		schemas, _ := s.schemas.value()
		value, _ = value.Merge(ast.NewObject([2]*ast.Term{ast.StringTerm(inputSchemas), ast.NewTerm(schemas)}))
		if value == nil { // both have the member "schema": readData reports it
			return
		}
	}
	all := ast.ObjectTerm([2]*ast.Term{ast.StringTerm(s.name), ast.NewTerm(value)})
	errs, err := matchSchema(ctx, all, schema)
	if err != nil {
		s.report("", "can't be checked against its schema: %v", err)
		return
	}
	errs.Foreach(func(e *ast.Term) {
		o, _ := e.Value.(ast.Object)
		s.report(strings.TrimPrefix(strings.TrimPrefix(member(o, "field"), s.name), "."), "%s", member(o, "desc"))
	})
}

// decode reads the server's data. It refuses unknown members itself: an author can loosen the tree's schema.
func (s *server) decode() {
	for _, doc := range s.docs {
		if err := jsonv2.Unmarshal(doc.raw, &s.row, jsonv2.RejectUnknownMembers(true)); err != nil {
			s.problems.report(doc.file, 0, "%v", err)
		}
	}
	for _, doc := range s.schemas {
		if err := jsonv2.Unmarshal(doc.raw, &s.row.Schema); err != nil {
			s.problems.report(doc.file, 0, "%v", err)
		}
	}
}

// complete returns the server with its name, the defaults of the words that its row leaves out, and the schemas of its
// tools.
func (s *server) complete() *resources.MCPServer {
	out := s.row.MCPServer
	out.Name = s.name
	for _, w := range words(&out) {
		if *w.value == "" {
			*w.value = w.choices[0]
		}
	}
	for name, tool := range out.Tools {
		tool.InputSchema = s.row.Schema[name]
		out.Tools[name] = tool
	}
	return &out
}

// word is a member of a server with a few known values; the first one is the default.
type word struct {
	member  string
	value   *string
	choices []string
}

func words(s *resources.MCPServer) []word {
	return []word{
		{"agents", &s.Agents, []string{resources.MCPAgentsRegistered, resources.MCPAgentsAny, resources.MCPAgentsNone}},
		{"consent", &s.Consent, []string{resources.MCPConsentRequired, resources.MCPConsentNotRequired}},
		{"pin", &s.Pin, []string{resources.MCPPinDefinitions, resources.MCPPinNames}},
		{"denial", &s.Denial, []string{resources.MCPDenialError, resources.MCPDenialResult}},
		{"credential", &s.Credential, []string{
			resources.MCPCredentialAssertion, resources.MCPCredentialExchange, resources.MCPCredentialSecret, resources.MCPCredentialNone,
		}},
	}
}

// checkInputSchemas reports schemas without a tool, and those that CheckInputSchema rejects.
func (s *server) checkInputSchemas() {
	for _, name := range slices.Sorted(maps.Keys(s.row.Schema)) {
		member := inputSchemas + "." + name
		if _, exists := s.row.Tools[name]; !exists {
			s.report(member, "tools has no row of this name: take the schema out")
		}
		if err := CheckInputSchema(s.row.Schema[name]); err != nil {
			s.report(member, "%v: take the schema out", err)
		}
	}
}

// CheckInputSchema returns why a tree can't contain the schema of a tool's arguments. OPA's validator does not
// terminate with every schema, and the gateway's has to compile it.
func CheckInputSchema(raw []byte) error {
	var schema any
	if err := util.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("isn't JSON: %w", err)
	}
	if _, isObject := schema.(map[string]any); !isObject {
		return errors.New("must be a JSON schema of an object")
	}
	if problem := schemaProblem(schema); problem != "" {
		return errors.New(problem)
	}
	_, err := arguments.Compile(raw)
	return err
}
