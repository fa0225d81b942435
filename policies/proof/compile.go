package proof

import (
	"context"
	"maps"
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// compiled is a tree that answers questions. Its tests are parsed only: serving does not contain them, so that no test
// file adds a rule to it.
type compiled struct {
	parsed
	serving *ast.Compiler
	store   storage.Store
	data    map[string]any
}

// parsed is the parsed files of a tree: its modules, the tests of these, its schemas, the names of its apps, and those of
// the MCP servers with rules over arguments.
type parsed struct {
	modules, tests map[string]*ast.Module
	schemas        *ast.SchemaSet
	apps, tools    []string
}

// parseTree parses the schemas and modules, finds the packages of apps and of MCP servers, and assigns packages the
// schemas of their inputs.
func parseTree(src *policies.Source, docs map[string]documents, p *Problems) (tree parsed) {
	tree.schemas = readSchemas(src, p)
	tree.modules, tree.tests = parse(src, p)
	tree.apps = packages{appsFolder, "an app", "types and decision"}.find(src, tree.modules, tree.tests, p)
	tree.tools = packages{toolsFolder, "an MCP server", "deny"}.find(src, tree.modules, tree.tests, p)
	tree.addInputs(src, docs, p)
	return tree
}

// tested is a tree compiled together with its tests.
type tested struct {
	*ast.Compiler
	// store has the schemas as data, too, as `opa test` has.
	store storage.Store
}

// compile compiles the tree without its tests, with the checks of `opa check --strict --schema schemas` and of limits.
// It reports problems, and then returns nil.
func compile(ctx context.Context, src *policies.Source, data map[string]any, docs map[string]documents, p *Problems) *compiled {
	tree := parseTree(src, docs, p)
	if len(*p) > 0 {
		return nil
	}
	out := &compiled{parsed: tree, store: newStore(data), data: data}
	out.serving = compileWith(ctx, out.store, tree.schemas, limits.Capabilities(), p, func(c *ast.Compiler) error {
		if c.Compile(tree.modules); c.Failed() {
			return c.Errors
		}
		return nil
	})
	if out.serving == nil {
		return nil
	}
	return out
}

// withTests compiles the tree together with its tests. It reports problems, and then returns nil.
func (c *compiled) withTests(ctx context.Context, src *policies.Source, p *Problems) *tested {
	all := maps.Clone(c.tests)
	maps.Copy(all, c.modules)
	store := newStore(withSchemas(c.data, src))
	compiler := compileWith(ctx, store, c.schemas, limits.Capabilities(forTests()...), p, func(c *ast.Compiler) error { return compileTests(ctx, c, all) })
	if compiler == nil {
		return nil
	}
	return &tested{compiler, store}
}

// compileWith calls do with a new compiler and returns the compiler. It reports the error of do, and then returns nil.
func compileWith(
	ctx context.Context, store storage.Store, schemas *ast.SchemaSet, caps *ast.Capabilities, p *Problems, do func(*ast.Compiler) error,
) (c *ast.Compiler) {
	err := storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		c = newCompiler(ctx, store, txn, schemas, caps)
		return do(c)
	})
	if err != nil {
		p.compiler(err)
		return nil
	}
	return c
}

// newCompiler returns a compiler with the checks of `opa check --strict --schema` and of limits.
func newCompiler(ctx context.Context, store storage.Store, txn storage.Transaction, schemas *ast.SchemaSet, caps *ast.Capabilities) *ast.Compiler {
	return ast.NewCompiler().SetErrorLimit(0).WithCapabilities(caps).WithStrict(true).
		WithSchemas(schemas).WithUseTypeCheckAnnotations(true).
		WithPathConflictsCheck(storage.NonEmpty(ctx, store, txn)).
		WithStageAfterID(ast.StageRewriteRegoMetadataCalls, ast.CompilerStageDefinition{Name: "CheckReach", Stage: limits.CheckReach}).
		WithStageAfterID(ast.StageCheckRecursion, ast.CompilerStageDefinition{Name: "CheckWritten", Stage: limits.CheckWritten})
}

// newStore returns a store of the data. All stores share the documents' values; nothing changes them.
func newStore(data map[string]any) storage.Store {
	return inmem.NewFromASTObject(ast.MustInterfaceToValue(data).(ast.Object))
}

// withSchemas returns the data with each schema below its folder: schemas/input/schema.json is data.schemas.input.
func withSchemas(data map[string]any, src *policies.Source) map[string]any {
	schemas := map[string]any{}
	for _, name := range src.Names {
		var value any
		if isSchema(name) && util.Unmarshal(src.Files[name], &value) == nil { // readSchemas reports one that is not JSON
			mount(schemas, path.Dir(policies.Place(name)), ast.MustInterfaceToValue(value))
		}
	}
	out := maps.Clone(data)
	maps.Copy(out, schemas)
	return out
}

// forTests returns the built-ins that only tests may call. Tests check inputs against the schemas of the tree with
// json.match_schema. It terminates: checkSchemas has rejected circular schemas.
func forTests() []string { return []string{"json.match_schema"} }

// parse returns the modules that serve and the test modules, both by file name.
func parse(src *policies.Source, p *Problems) (modules, tests map[string]*ast.Module) {
	modules, tests = map[string]*ast.Module{}, map[string]*ast.Module{}
	opts := ast.ParserOptions{ProcessAnnotation: true, Capabilities: limits.Capabilities(forTests()...), RegoVersion: ast.RegoV1}
	text := 0
	for _, name := range src.Names {
		if !isModule(name) {
			continue
		}
		if text += len(src.Files[name]); text > policies.MaxRules {
			p.report(name, 0, "with this file the tree has more than %d MiB of rules: put what is data into a data.json", policies.MaxRules>>20)
			break
		}
		module, err := ast.ParseModuleWithOpts(name, string(src.Files[name]), opts)
		inlineSchemas(name, module, p)
		if module != nil {
			limits.CheckForm(module, p.atLocation)
		}
		switch {
		case err != nil:
			p.compiler(err)
		case module == nil:
			p.report(name, 0, "is empty")
		case !isTest(name):
			modules[name] = module
		case strings.HasSuffix(lastPart(module), "_test"):
			tests[name] = module
		default:
			// The compiler of the tests would have its rules, the compiler that serves would not.
			p.report(name, module.Package.Location.Row, "a test file's package must end in _test, not be %s", module.Package.Path)
		}
	}
	return modules, tests
}

func lastPart(module *ast.Module) string {
	last, _ := module.Package.Path[len(module.Package.Path)-1].Value.(ast.String)
	return string(last)
}

// readSchemas names the schemas as `opa check --schema schemas` does: schemas/input/schema.json is schema.input.schema.
// The compiler applies schemas/input/schema.json to every package that no annotation gives another schema.
func readSchemas(src *policies.Source, p *Problems) *ast.SchemaSet {
	set := ast.NewSchemaSet()
	hasInput := false
	for _, name := range src.Names {
		if !isSchema(name) {
			continue
		}
		var schema any
		if err := util.Unmarshal(src.Files[name], &schema); err != nil {
			p.report(name, 0, "isn't JSON: %v", err)
			continue
		}
		key := strings.TrimSuffix(strings.TrimPrefix(policies.Place(name), schemaFolder), path.Ext(name))
		set.Put(schemaRef(strings.Split(key, "/")...), schema)
		if key == "input/schema" {
			set.Put(ast.SchemaRootRef, schema)
			hasInput = true
		}
	}
	if !hasInput {
		p.report(schemaFolder+"input/schema.json", 0, "is missing")
	}
	return set
}
