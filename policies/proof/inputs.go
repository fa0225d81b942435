package proof

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/portcullis-authz/portcullis/policies"
)

// Packages that are asked about an input of their own. The schema of the other packages' input applies to all packages
// without such an annotation.
const (
	guardsPackage = "guards"     // asked about changes of the tree
	logPackage    = "system.log" // asked about records of the decision log
)

// inputAnnotation gives a package and those below it a schema of their input, as an annotation of theirs would.
const inputAnnotation = `# METADATA
# scope: subpackages
# schemas:
#   - input: schema.%s.schema
package %s
`

// addInputs has the compiler check the packages of apps, of guards and of the decision log against the schemas of their own
// inputs. Guards have the binary's schema; a tree without a schema of the log has the binary's, too.
func (tree *parsed) addInputs(src *policies.Source, p *Problems) {
	if len(tree.apps) > 0 {
		if file := schemaFile("app"); src.File(file) == nil {
			p.report(file, 0, "is missing: the rules of apps are held against it; copy that of the tree of the binary")
		} else {
			tree.annotate(appsFolder, "app", p)
		}
	}
	if tree.has(guardsPackage) {
		tree.addSchema("guards", p)
		tree.annotate(guardsPackage, "guards", p)
	}
	if tree.has(logPackage) {
		if src.File(schemaFile("log")) == nil {
			tree.addSchema("log", p)
		}
		tree.annotate(logPackage, "log", p)
	}
}

func schemaFile(name string) string { return schemaFolder + name + "/schema.json" }

// has says whether the tree has modules of the package or below it.
func (tree *parsed) has(name string) bool {
	for _, module := range tree.modules {
		if module.Package != nil && strings.HasPrefix(module.Package.Path.String()+".", "data."+name+".") {
			return true
		}
	}
	return false
}

// addSchema adds a schema of the binary.
func (tree *parsed) addSchema(name string, p *Problems) {
	var schema any
	raw, err := fs.ReadFile(policies.Tree(), schemaFile(name))
	if err == nil {
		err = util.Unmarshal(raw, &schema)
	}
	if err != nil {
		p.report(schemaFile(name), 0, "%v", err)
		return
	}
	tree.schemas.Put(ast.Ref{ast.SchemaRootDocument, ast.StringTerm(name), ast.StringTerm("schema")}, schema)
}

func (tree *parsed) annotate(name, schema string, p *Problems) {
	file := schemaFile(schema)
	opts := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1}
	module, err := ast.ParseModuleWithOpts(file, fmt.Sprintf(inputAnnotation, schema, name), opts)
	if err != nil {
		p.compiler(err)
		return
	}
	tree.modules[file] = module
}
