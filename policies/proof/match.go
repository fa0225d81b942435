package proof

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/limits"
)

// match checks the data of a folder against a JSON schema. It uses OPA's json.match_schema, so that a schema means the
// same here as in a test of the tree.
func (d documents) match(ctx context.Context, schema []byte, p *Problems) {
	value, _ := d.value() // readData reports a member of two documents
	errs, err := matchSchema(ctx, ast.NewTerm(value), schema)
	if err != nil {
		p.report(d[0].file, 0, "can't be checked against its schema: %v", err)
		return
	}
	errs.Foreach(func(e *ast.Term) {
		o, _ := e.Value.(ast.Object)
		field := member(o, "field")
		file, line := d.line(field)
		p.report(file, line, "%s: %s", field, member(o, "desc"))
	})
}

// matchSchema returns the mismatches as objects with field and desc.
func matchSchema(ctx context.Context, value *ast.Term, schema []byte) (errs *ast.Array, err error) {
	bctx := topdown.BuiltinContext{Context: ctx, Capabilities: limits.Capabilities()}
	operands := []*ast.Term{value, ast.StringTerm(string(schema))}
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
