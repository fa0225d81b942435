package proof

import (
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/portcullis-authz/portcullis/policies"
)

// maxSchema bounds the values of a schema after each reference is replaced by its target.
const maxSchema = 20_000

// schemaProblem returns why a schema is rejected, or "". OPA expands references without a bound. A circle of references
// overflows the stack, and Go can't recover from that. References that double at each step take all memory.
func schemaProblem(schema any) string {
	e := expansion{root: schema, budget: maxSchema}
	e.follow(schema)
	return e.problem
}

// checkSchemas reports the schemas of the tree that schemaProblem rejects. It must run before OPA reads a schema.
// readSchemas reports schemas that are not JSON.
func checkSchemas(src *policies.Source, p *Problems) {
	for _, name := range src.Names {
		var schema any
		if !isSchema(name) || util.Unmarshal(src.Files[name], &schema) != nil {
			continue
		}
		if problem := schemaProblem(schema); problem != "" {
			p.report(name, 0, "%s", problem)
		}
	}
}

// expansion walks a schema with its references replaced.
type expansion struct {
	root    any
	budget  int
	problem string
}

// follow walks a schema and the targets of its references, until it finds a problem.
func (e *expansion) follow(v any) {
	if e.budget--; e.budget < 0 && e.problem == "" {
		e.problem = "its references go round in a circle or are too many"
	}
	if e.problem != "" {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		e.object(v)
	case []any:
		for _, inner := range v {
			e.follow(inner)
		}
	}
}

// object walks the keywords of a schema.
func (e *expansion) object(o map[string]any) {
	for name, inner := range o {
		text, isText := inner.(string)
		switch {
		case name == "enum" || name == "const" || name == "default" || name == "examples":
			// They hold values, not schemas.
		case name == "$ref" && isText:
			e.reference(text)
		case (name == "$id" || name == "id") && isText:
			e.problem = "has an " + name + ", which changes what references mean"
		default:
			e.follow(inner)
		}
	}
}

// reference follows a JSON pointer into the same schema.
func (e *expansion) reference(ref string) {
	pointer, local := strings.CutPrefix(ref, "#")
	node, ok := e.root, local
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" || pointer == "/" || !ok {
			break
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch value := node.(type) {
		case map[string]any:
			node, ok = value[token]
		case []any:
			i, err := strconv.Atoi(token)
			if ok = err == nil && i >= 0 && i < len(value); ok {
				node = value[i]
			}
		default:
			ok = false
		}
	}
	if !ok {
		e.problem = "refers to " + strconv.Quote(ref) + ", which is not in it"
		return
	}
	e.follow(node)
}

// inlineSchemas reports the schemas in a module's annotations that schemaProblem rejects.
func inlineSchemas(name string, module *ast.Module, p *Problems) {
	if module == nil {
		return
	}
	for _, a := range module.Annotations {
		for _, s := range a.Schemas {
			if s.Definition == nil {
				continue
			}
			if problem := schemaProblem(*s.Definition); problem != "" {
				p.report(name, a.Location.Row, "a schema %s", problem)
			}
		}
	}
}
