package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	root = "../.."
	// mostLines and mostReadmeLines bound a page, mostChars a line of it.
	mostLines, mostReadmeLines, mostChars = 300, 150, 120
)

// walk calls visit with each file of the repository that may name a page, by its path from the root.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	skipped := []string{"testdata", "node_modules", "bin", "dist", "data"}
	must.Do(t, fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci"; {
		case err != nil:
			return err
		case d.IsDir() && (hidden || slices.Contains(skipped, d.Name()) && !strings.HasPrefix(name, "policies/")):
			return fs.SkipDir
		case d.Type().IsRegular() && !hidden:
			visit(name)
		}
		return nil
	}))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path.Join(root, name)))(t)
	return string(text)
}

// pages returns the text of each page of the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	walk(t, func(name string) {
		if path.Ext(name) == ".md" {
			all[name] = read(t, name)
		}
	})
	if len(all) < 30 {
		t.Fatalf("%d pages", len(all))
	}
	return all
}

func TestPagesKeepTheirLimits(t *testing.T) {
	t.Parallel()
	for name, text := range pages(t) {
		for _, problem := range limits(name, text) {
			t.Error(problem)
		}
	}
}

// limits returns where a page is too long or too wide.
func limits(name, text string) (problems []string) {
	most := mostLines
	if name == "README.md" {
		most = mostReadmeLines
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > most {
		problems = append(problems, fmt.Sprintf("%s has %d lines, and may have %d", name, len(lines), most))
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > mostChars {
			problems = append(problems, fmt.Sprintf("%s:%d has %d characters, and may have %d", name, i+1, n, mostChars))
		}
	}
	return problems
}

// TestEveryLinkLeadsSomewhere: to a file or a folder of the repository, and to a heading of a page. Every page is
// reached from the README.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	reached, next := map[string]bool{}, []string{"README.md"}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if reached[name] {
			continue
		}
		reached[name] = true
		names, problems := follow(all, name)
		for _, problem := range problems {
			t.Error(problem)
		}
		next = append(next, names...)
	}
	for name := range all {
		if !reached[name] {
			t.Errorf("no link leads from the README to %s", name)
		}
	}
}

var (
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// follow returns the pages linked by a page, and its dead links.
func follow(all map[string]string, name string) (names, problems []string) {
	for _, l := range link.FindAllStringSubmatch(code.ReplaceAllString(all[name], ""), -1) {
		target, anchor, _ := strings.Cut(l[1], "#")
		if strings.Contains(target, "://") {
			continue
		}
		dest := name
		if target != "" {
			dest = path.Join(path.Dir(name), target)
		}
		if _, err := os.Stat(path.Join(root, dest)); err != nil || strings.HasPrefix(dest, "..") {
			problems = append(problems, fmt.Sprintf("%s: %s is not there", name, l[1]))
			continue
		}
		if text, isPage := all[dest]; isPage {
			names = append(names, dest)
			if anchor != "" && !slices.Contains(anchors(text), anchor) {
				problems = append(problems, fmt.Sprintf("%s: %s has no heading #%s", name, dest, anchor))
			}
		} else if anchor != "" {
			problems = append(problems, fmt.Sprintf("%s: %s is no page with headings", name, l[1]))
		}
	}
	return names, problems
}

// anchors returns the names of the headings of a page, as GitHub makes them.
func anchors(text string) (names []string) {
	fenced := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	seen := map[string]int{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ +(.*)$`).FindAllStringSubmatch(fenced, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1])
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, seen[name]-1)
		}
		names = append(names, name)
	}
	return names
}

// TestFilesNamePagesThatExist: messages of the program, comments, alerts and scripts.
func TestFilesNamePagesThatExist(t *testing.T) {
	t.Parallel()
	all, named := pages(t), 0
	walk(t, func(name string) {
		if slices.Contains([]string{".png", ".gz", ".json", ".sum"}, path.Ext(name)) {
			return
		}
		for _, page := range regexp.MustCompile(`\bdocs/(?:architecture|(?:operate|author|integrate|reference)/[a-z-]+)\.md\b`).FindAllString(read(t, name), -1) {
			named++
			if _, isPage := all[page]; !isPage {
				t.Errorf("%s names %s, which is not there", name, page)
			}
		}
	})
	if named < 20 {
		t.Errorf("%d names of pages were found", named)
	}
}

// TestCommentsNameFilesThatExist: a comment names a Go file of its own folder, or by its path from the root.
func TestCommentsNameFilesThatExist(t *testing.T) {
	t.Parallel()
	named := 0
	walk(t, func(name string) {
		if path.Ext(name) != ".go" {
			return
		}
		files, problems := commented(name, read(t, name))
		named += files
		for _, problem := range problems {
			t.Error(problem)
		}
	})
	if named < 30 {
		t.Errorf("%d names of files were found", named)
	}
}

var (
	comment  = regexp.MustCompile(`(?m)(?:^|\s)//.*$`)
	fileName = regexp.MustCompile(`(?:^|[\s(])([a-z0-9_]+(?:/[a-z0-9_]+)*\.go)\b`)
)

// commented returns how many Go files the comments of a file name, and those that are not there.
func commented(name, text string) (files int, problems []string) {
	for _, c := range comment.FindAllString(text, -1) {
		for _, file := range fileName.FindAllStringSubmatch(c, -1) {
			files++
			_, beside := os.Stat(path.Join(root, path.Dir(name), file[1]))
			_, below := os.Stat(path.Join(root, file[1]))
			if beside != nil && below != nil {
				problems = append(problems, fmt.Sprintf("%s names %s, which is not there", name, file[1]))
			}
		}
	}
	return files, problems
}

// TestTheMapHasEveryFolder: the README names each folder at the top with those right below it, and no other. The layout
// of the architecture has them, too.
func TestTheMapHasEveryFolder(t *testing.T) {
	t.Parallel()
	shown := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^- `([a-z/]+)/`:(.*(?:\n  .*)*)$").FindAllStringSubmatch(read(t, "README.md"), -1) {
		shown[row[1]] = row[2]
	}
	for _, problem := range unmapped(t, shown) {
		t.Error(problem)
	}
	_, layout, _ := strings.Cut(read(t, "docs/architecture.md"), "\n## Layout\n")
	layout, _, _ = strings.Cut(layout, "\n## ")
	for top, below := range folders(t) {
		for _, sub := range below {
			if top != "test" && top != "docs" && !regexp.MustCompile(`(?m)[ (]`+sub+`(/|,|\))`).MatchString(layout) {
				t.Errorf("the layout does not have %s/%s", top, sub)
			}
		}
	}
}

// folders returns the folders at the top of the repository, each with those right below it.
func folders(t *testing.T) map[string][]string {
	t.Helper()
	folders := map[string][]string{}
	walk(t, func(name string) {
		top, rest, below := strings.Cut(name, "/")
		if !below || top == ".ci" {
			return
		}
		if top == "cmd" {
			top, rest = "cmd/portcullis", strings.TrimPrefix(rest, "portcullis/")
		}
		if sub, _, isFolder := strings.Cut(rest, "/"); isFolder && !slices.Contains(folders[top], sub) {
			folders[top] = append(folders[top], sub)
		} else if folders[top] == nil {
			folders[top] = []string{}
		}
	})
	return folders
}

// unmapped returns the folders that the rows of the map lack or invent. The folders of test have a page of their own.
func unmapped(t *testing.T, shown map[string]string) (problems []string) {
	t.Helper()
	folders := folders(t)
	for top, below := range folders {
		text, is := shown[top]
		if !is {
			problems = append(problems, "the map has no row for "+top)
		}
		if top == "test" {
			text = read(t, "test/README.md")
		}
		for _, sub := range below {
			if !strings.Contains(text, "`"+sub+"`") {
				problems = append(problems, fmt.Sprintf("the map does not have %s/%s", top, sub))
			}
		}
		for _, name := range regexp.MustCompile("`([a-z0-9]+)`").FindAllStringSubmatch(shown[top], -1) {
			if !slices.Contains(below, name[1]) {
				problems = append(problems, fmt.Sprintf("the map has %s/%s, which is not there", top, name[1]))
			}
		}
	}
	for top := range shown {
		if folders[top] == nil {
			problems = append(problems, fmt.Sprintf("the map has %s, which is not there", top))
		}
	}
	return problems
}

// TestABadPageIsFound: what is planted.
func TestABadPageIsFound(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("é", mostChars)
	all := map[string]string{
		"README.md":    "# A `b` c\n[x](#a-b-c) [y](docs/nowhere.md) [z](#a) `[v](w)` [o](https://example.com/nowhere)\n[u](../..)",
		"docs/long.md": strings.Repeat("x\n", mostLines+1) + wide + "\n" + wide + "é\n",
	}
	_, problems := follow(all, "README.md")
	want := []string{"README.md: docs/nowhere.md is not there", "README.md: README.md has no heading #a", "README.md: ../.. is not there"}
	if !slices.Equal(problems, want) {
		t.Errorf("%q", problems)
	}
	if problems := limits("docs/long.md", all["docs/long.md"]); len(problems) != 2 {
		t.Errorf("%q", problems)
	}
	_, problems = commented("store/store.go", strings.ReplaceAll("# x is in gone.go\nx := 1 # as y of store.go, gateway/edge.go (edge.go)\n", "#", "//"))
	if want := []string{"store/store.go names gone.go, which is not there", "store/store.go names edge.go, which is not there"}; !slices.Equal(problems, want) {
		t.Errorf("%q", problems)
	}
	shown := map[string]string{"gateway": "`route` `helpers`", "utils": ""}
	problems = unmapped(t, shown)
	for _, want := range []string{"the map has gateway/helpers, which is not there", "the map does not have gateway/verdict", "the map has no row for store", "the map has utils, which is not there"} {
		if !slices.Contains(problems, want) {
			t.Errorf("not found: %s", want)
		}
	}
}
