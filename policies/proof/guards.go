package proof

import (
	"io/fs"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/portcullis-authz/portcullis/policies"
)

// guardsPackage is the package of rules that are asked about changes of the tree.
const guardsPackage = "guards"

// guardSchema gives the guards the input of guards, as an annotation of theirs would.
const guardSchema = `# METADATA
# scope: subpackages
# schemas:
#   - input: schema.guards.schema
package guards
`

// addGuardSchema has guards checked against the binary's own schema of their input, whatever the tree's says.
func addGuardSchema(schemas *ast.SchemaSet, modules map[string]*ast.Module, p *Problems) {
	const file = schemaFolder + "guards/schema.json"
	guarded := false
	for _, module := range modules {
		guarded = guarded || partOf(module, 1) == guardsPackage
	}
	if !guarded {
		return
	}
	var schema any
	raw, err := fs.ReadFile(policies.Tree(), file)
	if err == nil {
		err = util.Unmarshal(raw, &schema)
	}
	if err != nil {
		p.at(file, 0, "%v", err)
		return
	}
	schemas.Put(ast.Ref{ast.SchemaRootDocument, ast.StringTerm("guards"), ast.StringTerm("schema")}, schema)
	module, err := ast.ParseModuleWithOpts(file, guardSchema, ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
	if err != nil {
		p.compiler(err)
		return
	}
	modules[file] = module
}
