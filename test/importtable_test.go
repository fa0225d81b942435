package test

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// TestEveryPermissionIsUsed by a file of the product, or in a package of tests by any file: the table allows no import
// that nobody needs.
func TestEveryPermissionIsUsed(t *testing.T) {
	used := map[string][]string{}
	must.Do(t, goFiles("..", func(p string) error {
		pkg := path.Dir(p)
		if strings.HasSuffix(p, "_test.go") && !isOneOf(pkg, testPackages) {
			return nil
		}
		imports, err := importsOf(filepath.Join("..", filepath.FromSlash(p)))
		used[pkg] = append(used[pkg], imports...)
		return err
	}))
	for pkg, r := range mayImport {
		for _, may := range r.inside {
			if !slices.Contains(used[pkg], module+"/"+may) {
				t.Errorf("%s does not import %s: take it out of its row", pkg, may)
			}
		}
		for _, may := range r.outside {
			if !slices.ContainsFunc(used[pkg], func(imp string) bool { return isBelow(imp, may) }) {
				t.Errorf("%s does not import %s: take it out of its row", pkg, may)
			}
		}
	}
}

// TestPageHasTheTable: the list in docs/architecture.md is made from the table. `make reference` writes it.
func TestPageHasTheTable(t *testing.T) {
	const name = "../docs/architecture.md"
	raw := must.Get(os.ReadFile(name))(t)
	before, rest, begun := strings.Cut(string(raw), "<!-- imports -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end -->")
	if !begun || !ended {
		t.Fatalf("%s has no <!-- imports --> with its <!-- end -->", name)
	}
	page := before + "<!-- imports -->\n" + importList() + "<!-- end -->" + after
	switch {
	case page == string(raw):
	case os.Getenv("PORTCULLIS_TEST_WRITE") == "":
		t.Fatalf("%s and the table differ; run `make reference`", name)
	default:
		must.Do(t, os.WriteFile(name, []byte(page), 0o600))
	}
}

// importList returns an item for each package of the product and what it may import. Packages with equal rows share one.
func importList() string {
	var order []string
	sharing := map[string][]string{}
	for _, pkg := range slices.Sorted(maps.Keys(mayImport)) {
		if isOneOf(pkg, testPackages) {
			continue
		}
		may := mayImport[pkg].String()
		if sharing[may] == nil {
			order = append(order, may)
		}
		sharing[may] = append(sharing[may], "`"+pkg+"`")
	}
	var list strings.Builder
	for _, may := range order {
		line := "-"
		for word := range strings.FieldsSeq(strings.Join(sharing[may], ", ") + ": " + may) {
			if len(line)+1+len(word) > 120 {
				list.WriteString(line + "\n")
				line = " "
			}
			line += " " + word
		}
		list.WriteString(line + "\n")
	}
	return list.String()
}

// String returns what the row allows, for a reader.
func (r row) String() string {
	inside := slices.DeleteFunc(slices.Clone(r.inside), func(pkg string) bool { return isOneOf(pkg, testPackages) })
	outside := make([]string, len(r.outside))
	for i, path := range r.outside {
		outside[i] = strings.TrimPrefix(path, "github.com/")
	}
	slices.Sort(inside)
	slices.Sort(outside)
	may := slices.Concat(inside, outside)
	if r.all {
		may = append([]string{"everything outside of `cmd`,"}, strings.Join(may, ", "))
		return strings.Join(may, " ")
	}
	return cmp.Or(strings.Join(may, ", "), "nothing")
}

func TestPackageWithoutImportsNeedsARow(t *testing.T) {
	if len(forbidden("utils", nil, false)) == 0 {
		t.Error("a package without a row was not found")
	}
}
