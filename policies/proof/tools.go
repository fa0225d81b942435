package proof

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/question"
)

// toolsFolder has a folder for each MCP server with rules over the arguments of its tools.
const toolsFolder = "tools"

// addToolInput assigns the rules of an MCP server the schema of their input. It adds the schema of each tool's arguments
// for the annotations of rules, as schema.tools.<server>.<tool>.
func (tree *parsed) addToolInput(server string, docs map[string]documents, p *Problems) {
	rows := docs[path.Join(mcpFolder, server)]
	if rows == nil {
		p.report(path.Join(toolsFolder, server), 0, "the tree has no MCP server %q: add %s/%s/data.json, or take the folder out", server, mcpFolder, server)
		return
	}
	schemas := map[string]any{}
	for tool, value := range toolSchemas(docs, server) {
		schema, err := ast.JSON(value)
		if err != nil || schemaProblem(schema) != "" { // checkInputSchemas reports it
			continue
		}
		schemas[tool] = schema
		tree.schemas.Put(schemaRef(toolsFolder, server, tool), schema)
	}
	input, ok := embeddedSchema(toolsFolder, p).(map[string]any)
	if !ok {
		return
	}
	value, _ := rows.value()
	if names, closed := argumentNames(membersOf(value, "tools"), schemas); closed {
		properties := maps.Clone(input["properties"].(map[string]any))
		properties["arguments"] = map[string]any{"type": "object", "properties": names}
		input["properties"] = properties
	}
	tree.schemas.Put(schemaRef(toolsFolder, server), input)
	tree.annotate(packages{folder: toolsFolder}.path(server), schemaRef(toolsFolder, server), schemaFile(toolsFolder)+" of "+server, p)
}

// toolSchemas returns the schemas of a server's tools by the tools' names. A bundle has them in the server's own document.
func toolSchemas(docs map[string]documents, server string) map[string]ast.Value {
	folder := path.Join(mcpFolder, server)
	rows, _ := docs[folder].value()
	beside, _ := docs[path.Join(folder, inputSchemas)].value()
	out := membersOf(rows, inputSchemas)
	maps.Copy(out, membersOf(ast.NewObject([2]*ast.Term{ast.StringTerm(inputSchemas), ast.NewTerm(beside)}), inputSchemas))
	return out
}

// membersOf returns the members of an object that is a member of another.
func membersOf(o ast.Object, name string) map[string]ast.Value {
	out := map[string]ast.Value{}
	if t := o.Get(ast.StringTerm(name)); t != nil {
		if members, ok := t.Value.(ast.Object); ok {
			members.Foreach(func(k, v *ast.Term) {
				if text, ok := k.Value.(ast.String); ok {
					out[string(text)] = v.Value
				}
			})
		}
	}
	return out
}

// argumentNames returns a schema of anything for each argument of any tool. closed is false if a tool has no schema, or one
// that does not list its arguments.
func argumentNames(tools map[string]ast.Value, schemas map[string]any) (names map[string]any, closed bool) {
	names, closed = map[string]any{}, true
	for tool := range tools {
		schema, ok := schemas[tool].(map[string]any)
		closed = closed && ok
		for keyword, value := range schema {
			switch keyword {
			case "properties":
				properties, _ := value.(map[string]any)
				for name := range properties {
					names[name] = map[string]any{}
				}
			case "additionalProperties", "unevaluatedProperties":
				closed = closed && value == false
			case "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependencies", "dependentSchemas":
				closed = false
			}
		}
	}
	return names, closed
}

// checkTools reports rules of MCP servers that can say more than a denial with a message.
func checkTools(c *ast.Compiler, servers []string, p *Problems) {
	for _, server := range servers {
		deny := ast.MustParseRef(engine.ToolRules(server) + ".deny")
		rules := c.GetRulesWithPrefix(deny)
		if len(rules) == 0 {
			p.report(path.Join(toolsFolder, server), 0, `there is no rule deny: say which calls are denied, as deny contains "a reason" if …`)
		}
		for _, rule := range rules {
			if rule.Head.DocKind() != ast.PartialSetDoc || !rule.Ref().GroundPrefix().Equal(deny) || rule.Default {
				p.report(rule.Location.File, rule.Location.Row, `deny must be a set of messages: write deny contains "a reason" if …`)
			}
		}
	}
}

// IdleRules returns a warning for each rule over arguments that reads none.
func IdleRules(set *engine.Set) (warnings []string) {
	c := set.Compiled().Compiler
	for _, server := range set.MCPServers() {
		for _, rule := range c.GetRulesExact(ast.MustParseRef(engine.ToolRules(server) + ".deny")) {
			if !readsArguments(c, rule) {
				warnings = append(warnings, rule.Location.File+":"+strconv.Itoa(rule.Location.Row)+
					": deny reads no argument: who may call a tool is for its action and roles to say; read input.arguments, or take the rule out")
			}
		}
	}
	slices.Sort(warnings)
	return warnings
}

// UnfoldedRules returns a warning for each rule that reads arguments of a tool without a schema. At such a tool nothing
// rejects a member in another case.
func UnfoldedRules(set *engine.Set) (warnings []string) {
	c := set.Compiled().Compiler
	for _, server := range set.MCPServers() {
		tools := set.MCPServer(server).Tools
		for _, rule := range c.GetRulesExact(ast.MustParseRef(engine.ToolRules(server) + ".deny")) {
			names, named := toolsOf(rule)
			if !named {
				names = slices.Sorted(maps.Keys(tools))
			}
			names = slices.DeleteFunc(names, func(name string) bool { row, has := tools[name]; return !has || row.InputSchema != nil })
			if len(names) == 0 || !readsArguments(c, rule) {
				continue
			}
			if more := len(names) - maxToolsNamed; more > 0 {
				names = append(names[:maxToolsNamed], fmt.Sprintf("%d more", more))
			}
			warnings = append(warnings, fmt.Sprintf("%s:%d: deny reads arguments of tools without a schema (%s): it does not see a member in another case, such as Name for name; add their schemas",
				rule.Location.File, rule.Location.Row, strings.Join(names, ", ")))
		}
	}
	slices.Sort(warnings)
	return warnings
}

// maxToolsNamed bounds the tools that a warning names.
const maxToolsNamed = 5

// toolsOf returns the tools to which a rule applies by its own comparison of input.tool with a text, a set or an array.
// named is false if it has none.
func toolsOf(rule *ast.Rule) (names []string, named bool) {
	tool := ast.NewTerm(ast.MustParseRef("input.tool"))
	stands := []*ast.Term{tool} // with the variables that the compiler has for it
	isTool := func(t *ast.Term) bool { return slices.ContainsFunc(stands, t.Equal) }
	for _, expr := range rule.Body {
		if expr.IsEquality() && expr.Operand(1).Equal(tool) {
			if _, ok := expr.Operand(0).Value.(ast.Var); ok {
				stands = append(stands, expr.Operand(0))
			}
		}
	}
	for _, expr := range rule.Body {
		if expr.Negated || len(expr.With) > 0 || !expr.IsEquality() && !expr.Operator().Equal(ast.Member.Ref()) {
			continue
		}
		one, other := expr.Operand(0), expr.Operand(1)
		if expr.IsEquality() && !isTool(one) {
			one, other = other, one
		}
		if texts, constant := textsOf(other); constant && isTool(one) {
			return texts, true
		}
	}
	return nil, false
}

// textsOf returns a text, or the texts of a set or an array of nothing else.
func textsOf(t *ast.Term) (texts []string, constant bool) {
	if text, ok := t.Value.(ast.String); ok {
		return []string{string(text)}, true
	}
	constant = true
	each := func(member *ast.Term) {
		text, ok := member.Value.(ast.String)
		texts, constant = append(texts, string(text)), constant && ok
	}
	switch all := t.Value.(type) {
	case ast.Set:
		all.Foreach(each)
	case *ast.Array:
		all.Foreach(each)
	default:
		return nil, false
	}
	return texts, constant
}

// readsArguments reports whether a rule, or one that it depends on, may read input.arguments.
func readsArguments(c *ast.Compiler, rule *ast.Rule) bool {
	paths, _ := question.Reads(question.Reachable(c, []*ast.Rule{rule}, nil))
	return slices.ContainsFunc(paths, func(path string) bool { return path == "" || question.PartOf(path, "arguments") })
}
