package proof

import (
	"io/fs"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/portcullis-authz/portcullis/policies"
)

// logSchemaFile is the schema of what system.log is asked about. A tree that has none is held to the
// binary's.
const logSchemaFile = schemaFolder + "log/schema.json"

// logSchema gives package system.log the input of a record, as an annotation of its own would.
const logSchema = `# METADATA
# scope: subpackages
# schemas:
#   - input: schema.log.schema
package system.log
`

// addLogSchema has the rules about the decision log checked against the schema of a record.
func addLogSchema(src *policies.Source, modules map[string]*ast.Module, schemas *ast.SchemaSet, p *Problems) {
	if !hasLogRules(modules) {
		return
	}
	if src.File(logSchemaFile) == nil {
		raw, err := fs.ReadFile(policies.Tree(), logSchemaFile)
		var schema any
		if err == nil {
			err = util.Unmarshal(raw, &schema)
		}
		if err != nil {
			p.at(logSchemaFile, 0, "%v", err)
			return
		}
		schemas.Put(ast.MustParseRef("schema.log.schema"), schema)
	}
	module, err := ast.ParseModuleWithOpts(logSchemaFile, logSchema, ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
	if err != nil {
		p.compiler(err)
		return
	}
	modules[logSchemaFile] = module
}

// hasLogRules says whether a module is of package system.log.
func hasLogRules(modules map[string]*ast.Module) bool {
	for _, module := range modules {
		if partOf(module, 1) == "system" && partOf(module, 2) == "log" {
			return true
		}
	}
	return false
}
