package compare

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
)

// part is one of the five parts of a question. They vary independently.
type part uint8

// The parts, as doc.go describes them.
const (
	requestPart part = iota // the route and its action
	personPart              // the caller, the user and the account
	targetPart              // the target and the state of its project
	holdingPart             // the assignments of the user
	grantPart               // the permissions to grant, their end, and the current time
	parts
)

// partSet is a set of parts, one bit each.
type partSet uint8

func (p part) bit() partSet { return 1 << p }

func (s partSet) has(p part) bool { return s&p.bit() != 0 }

// partOf returns the part that determines a row of the input. What is held depends on further parts (partsOf).
func partOf(path string) part {
	switch section, _, _ := strings.Cut(path, "."); {
	case slices.Contains(heldRows(), path):
		return holdingPart
	case section == "action", section == "route":
		return requestPart
	case section == "target":
		return targetPart
	case section == "grant", section == "clock", section == "now":
		return grantPart
	}
	return personPart
}

// heldRows are the rows that the assignments of the user determine.
func heldRows() []string { return []string{"subject.here", "subject.roles", "subject.assignments"} }

// sourcesOf returns the rows from which the gateway derives a row of two parts. Each source belongs to one part.
func sourcesOf(path string) []string {
	switch path {
	case "target.same_account":
		return []string{"target.account", "account.id"}
	case "target.about":
		return []string{"target.user", "principal.id", "principal.uuid", "principal.kind"}
	}
	return nil
}

// rowOf returns the number of the row at a reference into the input, -1 if it is none of them.
func rowOf(ref ast.Ref) int {
	if ref[0].Value.Compare(ast.InputRootDocument.Value) != 0 {
		return -1
	}
	return slices.IndexFunc(question.Table(), func(row question.Row) bool { return ref.String() == "input."+row.Path })
}

// readsRow says whether the group reads the row, itself or through functions that it calls.
func (g *group) readsRow(path string) bool {
	return g.reads[slices.IndexFunc(question.Table(), func(row question.Row) bool { return row.Path == path })]
}

// noteReads notes the rows that the group reads, and the constants of rows with no other use. It replaces a row of two
// parts by its sources. Every value of a source counts then.
func (g *group) noteReads(read []*question.Row) {
	g.constants = comparedConstants(g.definitions)
	g.reads = make([]bool, len(question.Table()))
	var sources []string
	for i := range question.Table() {
		row := &question.Table()[i]
		g.reads[i] = slices.Contains(read, row)
		if made := sourcesOf(row.Path); made != nil && g.reads[i] {
			g.reads[i] = false
			sources = append(sources, made...)
		}
	}
	for i, row := range question.Table() {
		if slices.Contains(sources, row.Path) {
			g.reads[i] = true
			delete(g.constants, i)
		}
	}
}
