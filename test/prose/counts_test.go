package prose_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// The kinds of what is counted, in the order of the list.
const (
	clauses = iota // sentences with two or more relative words
	phrases        // phrases with a plainer form
	names          // declared names that are prepositions or pronouns
	kinds
)

var titles = [kinds]string{"sentences with two or more of that, which, who, where", "phrases with a plainer form", "names that are prepositions or pronouns"}

var (
	relative = regexp.MustCompile(`(?i)\b(that|which|who|whom|whose|where)\b`)
	ending   = regexp.MustCompile(`[.!?](\s|$)`)
	phrase   = regexp.MustCompile(`\b([Tt]here )?(is|are|was|were) no [a-z]+|(?i:\bof (which|whom)\b|\bwhere there (is|are) none\b|\bwhatever\b|\bwhoever\b|\brests? on\b|\bbe none\b|\b(is|are|be) told\b)|^Else\b`)
)

var vague = strings.Fields(`about against at by found fresh from here in into it known left mine of on others ours own
	that theirs there these this those to told what which who whom whose with within without`)

// count is what one package has.
type count struct {
	// places says where each kind was found, and what.
	places [kinds][]string
	// sentences and relatives count all sentences of comments, and the relative words in them.
	sentences, relatives int
}

// add counts one file. A nil text reads the file of that name.
func (c *count) add(name string, text any) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for s := range strings.SplitSeq(ending.ReplaceAllString(strings.Join(strings.Fields(group.Text()), " "), "$0\n"), "\n") {
			c.sentence(files.Position(group.Pos()), strings.TrimSpace(s))
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		for _, id := range declared(n) {
			if slices.Contains(vague, id.Name) {
				c.place(names, files.Position(id.Pos()), id.Name)
			}
		}
		return true
	})
	return nil
}

func (c *count) sentence(place token.Position, text string) {
	if text == "" {
		return
	}
	words := len(relative.FindAllString(text, -1))
	c.sentences++
	c.relatives += words
	if words >= 2 {
		c.place(clauses, place, text)
	}
	for _, hit := range phrase.FindAllString(text, -1) {
		if !strings.Contains(hit, "here ") && !strings.HasSuffix(hit, " longer") {
			c.place(phrases, place, text)
		}
	}
}

func (c *count) place(kind int, place token.Position, text string) {
	c.places[kind] = append(c.places[kind], fmt.Sprintf("%s:%d: %s", place.Filename, place.Line, text))
}

// declared returns the names that a node declares.
func declared(n ast.Node) []*ast.Ident {
	switch n := n.(type) {
	case *ast.Field:
		return n.Names
	case *ast.ValueSpec:
		return n.Names
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return identifiers(n.Lhs...)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			return identifiers(n.Key, n.Value)
		}
	}
	return nil
}

func identifiers(all ...ast.Expr) []*ast.Ident {
	var ids []*ast.Ident
	for _, e := range all {
		if id, is := e.(*ast.Ident); is {
			ids = append(ids, id)
		}
	}
	return ids
}
