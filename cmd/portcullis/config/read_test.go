package config_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEachFlagIsRead guarantees that the program reads the setting of each flag. A check of the setting alone reads nothing.
func TestEachFlagIsRead(t *testing.T) {
	bound, read := map[string]bool{}, map[string]bool{}
	for _, root := range []string{"..", "../../../gateway"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				name := ""
				if function, isFunction := d.(*ast.FuncDecl); isFunction && file.Name.Name == "config" {
					name = strings.ToLower(function.Name.Name)
				}
				switch {
				case strings.HasSuffix(name, "flags"):
					fields(d, bound)
				case !strings.HasPrefix(name, "validate"):
					selected(d, read)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(bound) < 60 {
		t.Errorf("only %d settings were found", len(bound))
	}
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		if !read[name] {
			t.Errorf("nobody reads the setting %s", name)
		}
	}
}

// fields adds the names of the fields to which a declaration binds flags.
func fields(d ast.Decl, names map[string]bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if address, isUnary := n.(*ast.UnaryExpr); isUnary && address.Op == token.AND {
			if field, isField := address.X.(*ast.SelectorExpr); isField {
				names[field.Sel.Name] = true
			}
		}
		return true
	})
}

// selected adds the names of the fields and methods that a declaration selects.
func selected(d ast.Decl, names map[string]bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if field, isField := n.(*ast.SelectorExpr); isField {
			names[field.Sel.Name] = true
		}
		return true
	})
}
