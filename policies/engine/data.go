package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// document is one data.json of the tree.
type document struct {
	file  string
	raw   []byte
	value map[string]any
	// lines tells where a member is, by its dotted path.
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
	doc := &document{file: name, raw: b, lines: map[string]int{}}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber() // as OPA reads data: no number loses digits
	if err := dec.Decode(&doc.value); err != nil {
		at := dec.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		p.at(name, line(b, at), "isn't a JSON object: %v", err)
		return nil
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		p.at(name, line(b, dec.InputOffset()), "there is more after the JSON object")
		return nil
	}
	doc.locate(json.NewDecoder(bytes.NewReader(b)), "", p)
	return doc
}

// locate notes the lines of all members and reports those that are given twice,
// of which the decoder would silently take the last.
func (d *document) locate(dec *json.Decoder, at string, p *Problems) {
	token, err := dec.Token()
	if err != nil {
		return // decoded before: it is well-formed
	}
	open, ok := token.(json.Delim)
	if !ok {
		return
	}
	seen := map[string]int{}
	for i := 0; dec.More(); i++ {
		name := strconv.Itoa(i)
		if open == '{' {
			key, _ := dec.Token()
			name, _ = key.(string)
		}
		member := strings.TrimPrefix(at+"."+name, ".")
		here := line(d.raw, dec.InputOffset())
		if first, twice := seen[name]; twice {
			p.at(d.file, here, "%s is given twice, first in line %d", member, first)
		}
		seen[name], d.lines[member] = here, here
		d.locate(dec, member, p)
	}
	_, _ = dec.Token() // the closing bracket
}

func line(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte("\n"))
}

// mount puts a document under its folder; false where something is there already.
func mount(root map[string]any, folder string, value map[string]any) bool {
	at := root
	if folder != "." {
		for part := range strings.SplitSeq(folder, "/") {
			next, ok := at[part].(map[string]any)
			if !ok {
				if _, taken := at[part]; taken {
					return false
				}
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
	}
	for k, v := range value {
		if _, taken := at[k]; taken {
			return false
		}
		at[k] = v
	}
	return true
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
			p.at(d.file, d.lines[field], "%s: %s", field, text(o, "desc"))
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
