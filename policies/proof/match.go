package proof

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/limits"
)

// match checks the document against a JSON schema, with the validator that OPA has
// for policies: a schema means the same to an author, to the compiler and here.
func (d *document) match(ctx context.Context, schema []byte, p *Problems) {
	errs, err := matchSchema(ctx, d.raw, schema)
	if err != nil {
		p.at(d.file, 0, "can't be held against its schema: %v", err)
		return
	}
	errs.Foreach(func(e *ast.Term) {
		o, _ := e.Value.(ast.Object)
		field := member(o, "field")
		p.at(d.file, d.line(field), "%s: %s", field, member(o, "desc"))
	})
}

// matchSchema gives the list of what does not fit.
func matchSchema(ctx context.Context, doc, schema []byte) (errs *ast.Array, err error) {
	bctx := topdown.BuiltinContext{Context: ctx, Capabilities: limits.Capabilities()}
	operands := []*ast.Term{ast.StringTerm(string(doc)), ast.StringTerm(string(schema))}
	err = topdown.GetBuiltin("json.match_schema")(bctx, operands, func(result *ast.Term) error {
		errs = result.Value.(*ast.Array).Elem(1).Value.(*ast.Array)
		return nil
	})
	return errs, err
}

func member(o ast.Object, key string) string {
	if t := o.Get(ast.StringTerm(key)); t != nil {
		s, _ := t.Value.(ast.String)
		return string(s)
	}
	return ""
}
