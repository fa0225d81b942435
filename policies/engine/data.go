package engine

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// document is one data.json of the tree.
type document struct {
	file string
	raw  []byte
	// value is what all who read the document share; it is never changed.
	value ast.Value
	// lines tells where a member is, by its dotted path; nil until somebody asks.
	lines map[string]int
}

// readData gives `data` as OPA's own commands would make it, each data.json under
// its folder's name, and the documents by folder.
func readData(src *source, p *Problems) (map[string]any, map[string]*document) {
	root, docs := map[string]any{}, map[string]*document{}
	for _, name := range src.names {
		switch {
		case isModule(name), isSchema(name):
		case isData(name):
			doc := readDocument(name, src.files[name], p)
			if doc == nil {
				continue
			}
			docs[path.Dir(name)] = doc
			if !mount(root, path.Dir(name), doc.value) {
				p.at(name, 0, "another data.json already has data of this name")
			}
		default:
			p.at(name, 0, "isn't read: data belongs in a file named data.json, schemas in %s", schemaFolder)
		}
	}
	return root, docs
}

func readDocument(name string, b []byte, p *Problems) *document {
	doc := &document{file: name, raw: b}
	r := newReading(doc, p)
	value, err := r.whole()
	if err != nil {
		at := r.dec.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		p.at(name, line(b, at), "%v", err)
		return nil
	}
	doc.value = value
	return doc
}

// line is where a member is; 0 where there is none of that path. Most documents are
// never asked: their lines would take more than all else that is done with them.
func (d *document) line(member string) int {
	if d.lines == nil {
		d.lines = map[string]int{}
		r := newReading(d, &Problems{}) // which were told
		r.lines = d.lines
		_, _ = r.whole() // was read before
	}
	return d.lines[member]
}

// mount puts a document under its folder; false where something is there already.
func mount(root map[string]any, folder string, value ast.Value) bool {
	at := root
	if folder != "." {
		for part := range strings.SplitSeq(folder, "/") {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				if there, taken := at[part].(ast.Value); taken && !fill(next, there) {
					return false
				}
				at[part] = next
			}
			at = next
		}
	}
	return fill(at, value)
}

// fill adds the members of an object; false where it is none, or a name is taken.
func fill(at map[string]any, value ast.Value) bool {
	members, ok := value.(ast.Object)
	if !ok {
		return false
	}
	members.Foreach(func(k, v *ast.Term) {
		name := string(k.Value.(ast.String)) // as of every member that was read from JSON
		if _, taken := at[name]; taken {
			ok = false
		}
		at[name] = v.Value
	})
	return ok
}

// match holds the document against a JSON schema, with the validator that OPA has
// for policies: a schema means the same to an author, to the compiler and here.
func (d *document) match(ctx context.Context, schema []byte, p *Problems) {
	bctx := topdown.BuiltinContext{Context: ctx, Capabilities: capabilities()}
	operands := []*ast.Term{ast.StringTerm(string(d.raw)), ast.StringTerm(string(schema))}
	err := topdown.GetBuiltin("json.match_schema")(bctx, operands, func(result *ast.Term) error {
		errs, _ := result.Value.(*ast.Array).Elem(1).Value.(*ast.Array)
		errs.Foreach(func(e *ast.Term) {
			o, _ := e.Value.(ast.Object)
			field := text(o, "field")
			p.at(d.file, d.line(field), "%s: %s", field, text(o, "desc"))
		})
		return nil
	})
	if err != nil {
		p.at(d.file, 0, "can't be held against its schema: %v", err)
	}
}

func text(o ast.Object, key string) string {
	if t := o.Get(ast.StringTerm(key)); t != nil {
		s, _ := t.Value.(ast.String)
		return string(s)
	}
	return ""
}
