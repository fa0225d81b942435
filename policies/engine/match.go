package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/cache"
)

// pieceSize is about how many bytes of a document are looked at at once.
const pieceSize = 16 << 10

// pieces are the document's members, some at a time as an object of their own, and where
// in the file that would begin. An empty object is one piece.
func (d *document) pieces() iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		from := int64(bytes.IndexByte(d.raw, '{')) + 1
		if len(d.ends) == 0 {
			yield(from-1, []byte("{}"))
		}
		for i, end := range d.ends {
			if end-from < pieceSize && i < len(d.ends)-1 {
				continue
			}
			members := bytes.TrimLeft(d.raw[from:end], ", \t\r\n")
			if !yield(end-int64(len(members))-1, slices.Concat([]byte("{"), members, []byte("}"))) {
				return
			}
			from = end
		}
	}
}

// match holds the document against a JSON schema, with the validator that OPA has
// for policies: a schema means the same to an author, to the compiler and here. It is
// given a piece at a time where that is the same; of a whole that doesn't fit it says why.
func (d *document) match(ctx context.Context, schema []byte, pace *pace, p *Problems) {
	known := cache.NewInterQueryValueCache(ctx, nil) // the schema is compiled once
	if ofPiece := d.schemaOfPiece(schema); ofPiece != nil {
		fits := true
		for _, piece := range d.pieces() {
			pace.rest()
			errs, err := matchSchema(ctx, piece, ofPiece, known)
			if fits = err == nil && errs.Len() == 0; !fits {
				break
			}
		}
		if fits {
			return
		}
	}
	errs, err := matchSchema(ctx, d.raw, schema, known)
	if err != nil {
		p.at(d.file, 0, "can't be held against its schema: %v", err)
		return
	}
	errs.Foreach(func(e *ast.Term) {
		o, _ := e.Value.(ast.Object)
		field := text(o, "field")
		p.at(d.file, d.line(field), "%s: %s", field, text(o, "desc"))
	})
}

// matchSchema gives the list of what does not fit.
func matchSchema(ctx context.Context, doc, schema []byte, known cache.InterQueryValueCache) (errs *ast.Array, err error) {
	bctx := topdown.BuiltinContext{Context: ctx, Capabilities: capabilities(), InterQueryBuiltinValueCache: known}
	operands := []*ast.Term{ast.StringTerm(string(doc)), ast.StringTerm(string(schema))}
	err = topdown.GetBuiltin("json.match_schema")(bctx, operands, func(result *ast.Term) error {
		errs = result.Value.(*ast.Array).Elem(1).Value.(*ast.Array)
		return nil
	})
	return errs, err
}

// schemaOfPiece is the schema without what it says of the whole document, once that is
// found to hold: that members are there. It is nil where the document is to be held
// against the schema as a whole: it doesn't hold, or more might be said of the whole.
func (d *document) schemaOfPiece(schema []byte) []byte {
	var says map[string]any
	if json.Unmarshal(schema, &says) != nil || !refersToDefinitions(says) {
		return nil
	}
	for keyword := range says {
		switch keyword {
		case "$schema", "title", "description", "type", "required", "properties", "additionalProperties", "definitions":
		default:
			return nil
		}
	}
	if required, given := says["required"]; given {
		names, isList := required.([]any)
		members := d.value.(ast.Object) // or it would not have been read
		if !isList || slices.ContainsFunc(names, func(name any) bool {
			s, isString := name.(string)
			return !isString || members.Get(ast.StringTerm(s)) == nil
		}) {
			return nil
		}
	}
	delete(says, "required")
	rest, err := json.Marshal(says)
	if err != nil {
		return nil
	}
	return rest
}

// refersToDefinitions says whether that is all that the schema refers to: a reference to
// the whole would be one to another schema.
func refersToDefinitions(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if to, isString := value.(string); key == "$ref" && (!isString || !strings.HasPrefix(to, "#/definitions/")) {
				return false
			}
			if !refersToDefinitions(value) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !refersToDefinitions(e) })
	}
	return true
}

func text(o ast.Object, key string) string {
	if t := o.Get(ast.StringTerm(key)); t != nil {
		s, _ := t.Value.(ast.String)
		return string(s)
	}
	return ""
}
