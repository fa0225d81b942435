package policytest

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Edit is a change of a tree in pieces, each of which can be taken back by itself.
type Edit struct {
	Base   Tree
	Pieces []Piece
}

// Piece is a text of a file in the old tree and in the new one. It takes the place of At, a text that the base's file has
// once, or is a file by itself where At is empty. An empty text is a line, or a file, that the tree lacks.
type Piece struct{ File, At, Old, New string }

// Trees returns the old tree and the new one.
func (e *Edit) Trees() (before, after Tree) {
	before, after = e.Base, e.Base
	for _, p := range e.Pieces {
		before, after = p.put(before, p.Old), p.put(after, p.New)
	}
	return before, after
}

func (p *Piece) put(t Tree, text string) Tree {
	switch {
	case p.At == "" && text == "":
		return t
	case p.At == "":
		return t.With(p.File, text)
	}
	return t.With(p.File, strings.Replace(string(t[p.File].Data), p.At, text, 1))
}

// Changes says whether the file is one of the edit's.
func (e *Edit) Changes(file string) bool {
	return slices.ContainsFunc(e.Pieces, func(p Piece) bool { return p.File == file })
}

// String has the texts of each piece: with "-" before those of the old tree, "+" before those of the new one.
func (e *Edit) String() string {
	var out strings.Builder
	write := func(sign, text string) {
		if text = strings.TrimSpace(text); text != "" {
			out.WriteString(sign + strings.ReplaceAll(text, "\n", "\n"+sign) + "\n")
		}
	}
	for _, p := range e.Pieces {
		out.WriteString("--- " + p.File + "\n")
		if p.Old == p.New {
			write("  ", p.Old)
			continue
		}
		write("- ", p.Old)
		write("+ ", p.New)
	}
	return out.String()
}

// Minimised returns the edit without what can be left out while it stays as the test wants it.
func (e *Edit) Minimised(stays func(*Edit) bool) *Edit {
	for smaller := true; smaller; {
		smaller = false
		for _, next := range e.smaller() {
			if stays(next) {
				e, smaller = next, true
				break
			}
		}
	}
	return e
}

// smaller returns the edits that lack a piece, the change of a piece, or a line of one.
func (e *Edit) smaller() (out []*Edit) {
	with := func(i int, p ...Piece) {
		out = append(out, &Edit{e.Base, slices.Replace(slices.Clone(e.Pieces), i, i+1, p...)})
	}
	for i, p := range e.Pieces {
		with(i)
		if p.Old != p.New {
			with(i, Piece{p.File, p.At, p.Old, p.Old})
			with(i, Piece{p.File, p.At, p.New, p.New})
		}
	}
	for i, p := range e.Pieces {
		for _, without := range lineless(p.Old) {
			if p.Old == p.New {
				with(i, Piece{p.File, p.At, without, without})
				continue
			}
			with(i, Piece{p.File, p.At, without, p.New})
			for _, other := range lineless(p.New) {
				if len(p.Old)-len(without) == len(p.New)-len(other) {
					with(i, Piece{p.File, p.At, without, other})
				}
			}
		}
		for _, without := range lineless(p.New) {
			with(i, Piece{p.File, p.At, p.Old, without})
		}
	}
	return out
}

// lineless returns the text without each of its lines, and without each of its paragraphs.
func lineless(text string) (out []string) {
	for _, by := range []string{"\n\n", "\n"} {
		parts := strings.Split(text, by)
		for i := 0; i < len(parts) && len(parts) > 1; i++ {
			out = append(out, strings.Join(slices.Delete(slices.Clone(parts), i, i+1), by))
		}
	}
	return out
}

// Words are those that the edit's pieces name.
func (e *Edit) Words() *Words {
	var sources []string
	for _, p := range e.Pieces {
		sources = append(sources, p.Old, p.New)
	}
	return NewWords(sources...)
}

// Few returns a tree with the rules and roles given, few rows of its catalogue, and no tests: comparing it is cheap. Each
// row and each role is a line.
func Few(tb testing.TB, from fs.FS) Tree {
	tb.Helper()
	t := Copy(tb, from)
	for name := range t {
		if strings.HasSuffix(name, "_test.rego") {
			t = t.Without(name)
		}
	}
	var rows []string
	for _, name := range []string{
		"account.create", "account.get", "api_key.create", "docs.get", "group.create", "group.list", "kubernetes_cluster.create", "kubernetes_cluster.list", "project.delete",
		"role.create", "role.list", "role_assignment.list_of_user", "security_group.list", "user.update", "user_profile.update", "authorization.check",
	} {
		line := regexp.MustCompile(`(?m)^  "` + regexp.QuoteMeta(name) + `": .*\}`).FindString(string(t["routes/data.json"].Data))
		if line == "" {
			tb.Fatalf("no row %s", name)
		}
		rows = append(rows, line)
	}
	grants := regexp.MustCompile(`\n {4,}(\S)?`).ReplaceAllString(string(t["grants/data.json"].Data), " $1")
	grants = strings.ReplaceAll(grants, "\n  }", " }")
	return t.With("routes/data.json", "{\n"+strings.Join(rows, ",\n")+"\n}\n").With("grants/data.json", grants)
}
