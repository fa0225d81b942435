package policies

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Bounds of the reasons to reject a tree: a log has them on one line, and a gateway remembers those of many trees.
const (
	maxProblems = 500
	// maxProblem bounds one of them, in bytes: OPA's parser quotes a line, and a file may be one line.
	maxProblem = 2000
)

// Problem returns a reason to reject a tree, on one line of bounded length. The names and texts of a tree in it can't steer a
// terminal.
func Problem(format string, args ...any) string {
	s := fmt.Sprintf(format, args...)
	if len(s) > maxProblem {
		s = strings.ToValidUTF8(s[:maxProblem], "") + " …"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// Listed returns problems sorted, without repetitions. It counts those above maxProblems.
func Listed(problems []string) []string {
	slices.Sort(problems)
	problems = slices.Compact(problems)
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("there are %d more problems: mend these first", more))
	}
	return problems
}
