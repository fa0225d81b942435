package proof

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/portcullis-authz/portcullis/policies"
)

// Packages with an input of their own, and so with a schema of their own. schemas/input/schema.json applies to the
// other packages.
const (
	guardsPackage = "guards"     // its input is a comparison of two trees
	logPackage    = "system.log" // its input is a record of the decision log
)

// inputAnnotation is a module that assigns a schema of the input to a package and those below it.
const inputAnnotation = `# METADATA
# scope: subpackages
# schemas:
#   - input: %s
package %s
`

// addInputs assigns the packages of apps, of guards, of the decision log and of MCP servers the schemas of their inputs.
// Apps have the schema of the tree. Guards and MCP servers have the embedded one. The log has that of the tree, or else
// the embedded one.
func (tree *parsed) addInputs(src *policies.Source, docs map[string]documents, p *Problems) {
	if len(tree.apps) > 0 {
		if file := schemaFile("app"); src.File(file) == nil {
			p.report(file, 0, "is missing: the rules of apps are checked against it; copy it from the embedded tree")
		} else {
			tree.annotate(appsFolder, schemaRef("app", "schema"), file, p)
		}
	}
	if tree.has(guardsPackage) {
		tree.addSchema("guards", p)
		tree.annotate(guardsPackage, schemaRef("guards", "schema"), schemaFile("guards"), p)
	}
	if tree.has(logPackage) {
		if src.File(schemaFile("log")) == nil {
			tree.addSchema("log", p)
		}
		tree.annotate(logPackage, schemaRef("log", "schema"), schemaFile("log"), p)
	}
	for _, server := range tree.tools {
		tree.addToolInput(server, docs, p)
	}
}

// schemaRef returns the name of a schema in annotations.
func schemaRef(parts ...string) ast.Ref {
	ref := ast.Ref{ast.SchemaRootDocument}
	for _, part := range parts {
		ref = append(ref, ast.StringTerm(part))
	}
	return ref
}

func schemaFile(name string) string { return schemaFolder + name + "/schema.json" }

// has reports whether the tree has modules of the package or below it.
func (tree *parsed) has(name string) bool {
	for _, module := range tree.modules {
		if module.Package != nil && strings.HasPrefix(module.Package.Path.String()+".", "data."+name+".") {
			return true
		}
	}
	return false
}

// addSchema adds a schema of the embedded tree.
func (tree *parsed) addSchema(name string, p *Problems) {
	if schema := embeddedSchema(name, p); schema != nil {
		tree.schemas.Put(schemaRef(name, "schema"), schema)
	}
}

// embeddedSchema returns a schema of the embedded tree.
func embeddedSchema(name string, p *Problems) (schema any) {
	raw, err := fs.ReadFile(policies.Tree(), schemaFile(name))
	if err == nil {
		err = util.Unmarshal(raw, &schema)
	}
	if err != nil {
		p.report(schemaFile(name), 0, "%v", err)
	}
	return schema
}

// annotate adds the module of inputAnnotation for a package, under the name of a file.
func (tree *parsed) annotate(name string, schema ast.Ref, file string, p *Problems) {
	opts := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1}
	module, err := ast.ParseModuleWithOpts(file, fmt.Sprintf(inputAnnotation, schema, name), opts)
	if err != nil {
		p.compiler(err)
		return
	}
	tree.modules[file] = module
}
