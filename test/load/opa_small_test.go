package load_test

import (
	"os"
	"path/filepath"
	"testing"
)

// smallPolicy is about the smallest policy for the corpus: it has roles in projects, without accounts, levels, states,
// credentials, deny rules and reasons.
const smallPolicy = `package small

default decision := {"allow": false}

decision := {"allow": true, "role": assignment.role} if {
	some assignment in input.assignments
	assignment.project == input.project
	data.grants[assignment.role].permissions[input.action]
}
`

// smallTree returns a folder with smallPolicy and the roles of a policy tree.
func smallTree(b *testing.B, tree string) string {
	b.Helper()
	dir := b.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "grants"), os.DirFS(filepath.Join(tree, "grants"))); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "small.rego"), []byte(smallPolicy), 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}

// smallRequest returns a writer of questions for smallPolicy, with the input that it reads.
func (w *world) smallRequest() func(out []byte, q *question) []byte {
	held := map[int][]byte{}
	var body []byte
	return func(out []byte, q *question) []byte {
		assignments, ok := held[q.user]
		if !ok {
			var list []object
			for k := range w.assignments {
				r, project := w.held(q.user, k)
				list = append(list, object{"role": r.id, "project": project})
			}
			assignments = rendered(list)
			held[q.user] = assignments
		}
		body = append(append(body[:0], `{"input":{"action":"`...), q.action...)
		body = append(append(body, `","project":"`...), q.project...)
		body = append(append(body, `","resource":"`...), q.resource...)
		body = append(append(append(body, `","assignments":`...), assignments...), "}}"...)
		return post(out, "small/decision", body)
	}
}
