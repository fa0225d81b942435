package policytest

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Edit is a change of a tree in pieces. Each piece can be reverted alone.
type Edit struct {
	Base   Tree
	Pieces []Piece
}

// Piece is a text of a file in the old tree and in the new one. It replaces At, a text that occurs once in the file of
// the base. If At is empty, the text is a whole file. An empty Old or New removes At, or leaves out the file.
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

// Changes reports whether the edit has a piece of the file.
func (e *Edit) Changes(file string) bool {
	return slices.ContainsFunc(e.Pieces, func(p Piece) bool { return p.File == file })
}

// String returns the texts of each piece, those of the old tree after "-", those of the new one after "+".
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

// Minimised removes pieces, changes, paragraphs and lines of the edit as long as stays returns true for the rest.
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

// smaller returns the edits without one piece, one change of a piece, or one line or paragraph of a piece.
func (e *Edit) smaller() (out []*Edit) {
	replace := func(i int, p ...Piece) {
		out = append(out, &Edit{e.Base, slices.Replace(slices.Clone(e.Pieces), i, i+1, p...)})
	}
	for i, p := range e.Pieces {
		replace(i)
		if p.Old != p.New {
			replace(i, Piece{p.File, p.At, p.Old, p.Old})
			replace(i, Piece{p.File, p.At, p.New, p.New})
		}
	}
	for i, p := range e.Pieces {
		for _, shorter := range shortened(p.Old) {
			if p.Old == p.New {
				replace(i, Piece{p.File, p.At, shorter, shorter})
				continue
			}
			replace(i, Piece{p.File, p.At, shorter, p.New})
			for _, other := range shortened(p.New) {
				if len(p.Old)-len(shorter) == len(p.New)-len(other) {
					replace(i, Piece{p.File, p.At, shorter, other})
				}
			}
		}
		for _, shorter := range shortened(p.New) {
			replace(i, Piece{p.File, p.At, p.Old, shorter})
		}
	}
	return out
}

// shortened returns copies of the text, each without one of its paragraphs or lines.
func shortened(text string) (out []string) {
	for _, separator := range []string{"\n\n", "\n"} {
		parts := strings.Split(text, separator)
		for i := 0; i < len(parts) && len(parts) > 1; i++ {
			out = append(out, strings.Join(slices.Delete(slices.Clone(parts), i, i+1), separator))
		}
	}
	return out
}

// Words returns the words in the texts of the edit's pieces.
func (e *Edit) Words() *Words {
	var sources []string
	for _, p := range e.Pieces {
		sources = append(sources, p.Old, p.New)
	}
	return NewWords(sources...)
}

// Few returns the rules and roles of a tree with few rows of its catalogue, and without its tests: comparing such trees
// is cheap. Each row and each role is a line.
func Few(tb testing.TB, source fs.FS) Tree {
	tb.Helper()
	t := Copy(tb, source)
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
