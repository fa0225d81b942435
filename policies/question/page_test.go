package question_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/question"
)

// TestTheReferenceHasTheTable guarantees that authors read of every value of the input, whether it is a column or a
// text, and of every word of a column.
func TestTheReferenceHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/input.md")
	if err != nil {
		t.Fatal(err)
	}
	columns, texts, both := strings.Cut(string(page), "\n## Texts\n")
	if !both {
		t.Fatal("the page has no section of texts")
	}
	lines := map[bool]map[string]string{true: {}, false: {}} // by whether they are texts
	for isText, section := range map[bool]string{false: columns, true: texts} {
		for _, line := range regexp.MustCompile("(?m)^\\| `([a-z_]+\\.?[a-z_]*)` \\|.*$").FindAllStringSubmatch(section, -1) {
			lines[isText][line[1]] = line[0]
		}
	}
	for _, row := range question.Table() {
		line := lines[row.Kind == question.Text][row.Path]
		if line == "" {
			t.Errorf("%s is not in its section", row.Path)
		}
		for _, word := range row.Values {
			if word != "" && !strings.Contains(line, "`"+word+"`") {
				t.Errorf("%s: the page does not have the word %s", row.Path, word)
			}
		}
		delete(lines[row.Kind == question.Text], row.Path)
	}
	for _, left := range lines {
		for path := range left {
			if strings.Contains(path, ".") {
				t.Errorf("%s is not in the table", path)
			}
		}
	}
}
