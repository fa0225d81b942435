package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

func TestFilePlantedInTheTreeIsFound(t *testing.T) {
	before, _ := must.Two(examine(".."))(t)
	root := t.TempDir()
	copyGoFiles(t, "..", root)
	plants := map[string]string{
		"gateway/zz_planted.go":              "package gateway\n\nimport _ \"" + opa + "/v1/rego\"\n",
		"gateway/zz_planted_plan9.go":        "//go:build never\n\npackage gateway\n\nimport s \"" + module + "/store\"\n",
		"resources/users/zz_planted.go":      "package users\n\nimport . \"" + module + "/resources/access\"\n",
		"policies/engine/zz_planted_test.go": "package engine_test\n\nimport _ `" + module + "/cmd/portcullis`\n",
		"utils/zz_planted.go":                "package utils\n",
		"store/zz_planted.go":                "package store\n\nimport \"unclosed\n",
		// These are not findings: the go command looks into neither folder.
		"store/testdata/zz_planted.go": "package x\n\nimport _ \"" + opa + "\"\n",
		".hidden/zz_planted.go":        "package x\n",
	}
	for name, text := range plants {
		writeFile(t, filepath.Join(root, filepath.FromSlash(name)), []byte(text))
	}
	after, _ := must.Two(examine(root))(t)
	after = slices.DeleteFunc(after, func(f string) bool { return slices.Contains(before, f) })
	want := []string{
		"gateway/zz_planted.go: gateway must not import " + opa + "/v1/rego",
		"gateway/zz_planted_plan9.go: gateway must not import " + module + "/store",
		"policies/engine/zz_planted_test.go: policies/engine must not import " + module + "/cmd/portcullis",
		"resources/users/zz_planted.go: resources/users must not import " + module + "/resources/access",
		"store/zz_planted.go: ",
		"utils/zz_planted.go: package utils has no row in the table",
	}
	if !slices.EqualFunc(after, want, strings.HasPrefix) {
		t.Errorf("found:\n%s\nwant:\n%s", strings.Join(after, "\n"), strings.Join(want, "\n"))
	}
}

func copyGoFiles(t *testing.T, source, target string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(source, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != source && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || filepath.Ext(p) != ".go" {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, p)
		if err != nil {
			return err
		}
		writeFile(t, filepath.Join(target, rel), text)
		return nil
	}))
}

func writeFile(t *testing.T, name string, text []byte) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o750))
	must.Do(t, os.WriteFile(name, text, 0o600))
}
