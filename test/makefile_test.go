package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// TestMakefileNamesLongTests guarantees a full run in `make setups` for each test of the faults, and for each unit test with
// less to do under -short. No other target of CI runs them in full.
func TestMakefileNamesLongTests(t *testing.T) {
	named, folders, whole := strings.Split(makeVariable(t, "LONG_TESTS"), "|"), strings.Fields(makeVariable(t, "LONG_IN")), strings.Fields(makeVariable(t, "LONG"))
	packages, shortened := map[string]functions{}, 0
	eachFunction(t, "..", func(folder string, f *ast.FuncDecl) {
		if strings.HasPrefix(folder, "../test") && folder != "../test/faults" {
			return
		}
		folder = "." + strings.TrimPrefix(folder, "..")
		if packages[folder] == nil {
			packages[folder] = functions{}
		}
		packages[folder][f.Name.Name] = append(packages[folder][f.Name.Name], f)
	})
	for folder, p := range packages {
		for name := range p {
			if !strings.HasPrefix(name, "Test") || name == "TestMain" || !p.doesLess(name, map[string]bool{}) || slices.Contains(whole, folder) {
				continue
			}
			if shortened++; !slices.Contains(named, name) || !slices.Contains(folders, folder) {
				t.Errorf("%s of %s does less under -short: name it in LONG_TESTS, and its folder in LONG_IN", name, folder)
			}
		}
	}
	for _, name := range named {
		if !slices.ContainsFunc(folders, func(folder string) bool { return packages[folder][name] != nil }) {
			t.Errorf("LONG_TESTS has %s, which no folder of LONG_IN has", name)
		}
	}
	if shortened == 0 {
		t.Error("no test does less under -short")
	}
}

// functions are those of a package by their names: methods of several types may share one.
type functions map[string][]*ast.FuncDecl

// doesLess reports whether a function, or one of the package that it names, does less under -short. What needs a MongoDB
// does.
func (p functions) doesLess(name string, seen map[string]bool) (less bool) {
	if seen[name] {
		return false
	}
	seen[name] = true
	for _, f := range p[name] {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				less = less || p.doesLess(n.Name, seen)
			case *ast.SelectorExpr:
				x, _ := n.X.(*ast.Ident)
				less = less || x != nil && (x.Name == "tier" ||
					x.Name == "servers" && (strings.HasSuffix(n.Sel.Name, "Mongo") || n.Sel.Name == "MongoWithUsers" || n.Sel.Name == "NeedMongod"))
			}
			return !less
		})
	}
	return less
}

// TestMakefileRunsNightlyTests guarantees that `make nightly` runs each test and benchmark with the build tag nightly.
func TestMakefileRunsNightlyTests(t *testing.T) {
	runs, functions := nightlyRuns(t), 0
	eachFile(t, "..", func(folder string, file *ast.File) {
		if !slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool { return c.List[0].Text == "//go:build nightly" }) {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Benchmark") || f.Name.Name == plainProxy {
				continue
			}
			functions++
			if !slices.ContainsFunc(runs[folder], func(names *regexp.Regexp) bool { return names.MatchString(f.Name.Name) }) {
				t.Errorf("no target of make nightly runs %s of %s", f.Name.Name, folder)
			}
		}
	})
	if functions == 0 {
		t.Error("no test is for the night")
	}
}

// plainProxy is a program that benchmarks start, in the form of a test.
const plainProxy = "TestPlainProxy"

// nightlyRuns returns the names of tests and benchmarks that the targets of `make nightly` run with the tag, by folder.
func nightlyRuns(t *testing.T) map[string][]*regexp.Regexp {
	t.Helper()
	text := string(must.Get(os.ReadFile("../Makefile"))(t))
	_, recipe, _ := strings.Cut(text, "\nnightly:")
	recipe, _, _ = strings.Cut(recipe, "\n\n")
	targets, runs, target := strings.Fields(recipe), map[string][]*regexp.Regexp{}, ""
	for line := range strings.Lines(text) {
		if name, _, isRule := strings.Cut(line, ":"); isRule && !strings.HasPrefix(line, "\t") {
			target = name
		}
		for _, run := range strings.Split(line, " -- ") {
			if !slices.Contains(targets, target) || !regexp.MustCompile(`-tags[ =]nightly`).MatchString(run) {
				continue
			}
			for _, names := range regexp.MustCompile(`-(?:run|bench) '?([^' ]+)`).FindAllStringSubmatch(run, -1) {
				for _, folder := range regexp.MustCompile(`\./[\w/]+`).FindAllString(run, -1) {
					folder = "." + folder
					runs[folder] = append(runs[folder], regexp.MustCompile(strings.ReplaceAll(names[1], "$$", "$")))
				}
			}
		}
	}
	return runs
}

// TestRaceLeavesOutWhatStartsNoGoroutine guarantees that a package left out of `make race` starts no goroutine, and runs its
// tests one after the other.
func TestRaceLeavesOutWhatStartsNoGoroutine(t *testing.T) {
	for _, folder := range strings.Fields(makeVariable(t, "SEQUENTIAL")) {
		functions := 0
		eachFunction(t, filepath.Join("..", folder), func(_ string, f *ast.FuncDecl) {
			functions++
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s: %s starts a goroutine", folder, f.Name.Name)
				case *ast.SelectorExpr:
					if n.Sel.Name == "Go" || n.Sel.Name == "Parallel" {
						t.Errorf("%s: %s starts a goroutine", folder, f.Name.Name)
					}
				}
				return true
			})
		})
		if functions == 0 {
			t.Errorf("SEQUENTIAL has %s, where no function is", folder)
		}
	}
}

// makeVariable returns what the Makefile sets a variable to.
func makeVariable(t *testing.T, name string) string {
	t.Helper()
	text := must.Get(os.ReadFile("../Makefile"))(t)
	line := regexp.MustCompile(`(?m)^` + name + ` *= *(.*)$`).FindSubmatch(text)
	if line == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return string(line[1])
}

// eachFunction calls do with each function below a folder.
func eachFunction(t *testing.T, root string, do func(folder string, f *ast.FuncDecl)) {
	t.Helper()
	eachFile(t, root, func(folder string, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				do(folder, f)
			}
		}
	})
}

// eachFile calls do with each Go file below a folder.
func eachFile(t *testing.T, root string, do func(folder string, file *ast.File)) {
	t.Helper()
	must.Do(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		do(filepath.ToSlash(filepath.Dir(file)), parsed)
		return nil
	}))
}
