package engine

import (
	"github.com/portcullis-authz/portcullis/policies/question"
)

// Uncached is an entry point of which no verdict is cached.
type Uncached struct {
	// Entry is its name, as decision or apps.documents.decision.
	Entry string
	// Because has a line for each rule that stands in the way, with its place.
	Because []string
}

// Uncached returns the entry points of which no verdict is cached.
func (s *Set) Uncached() []Uncached { return s.uncached }

// findUncached must come before the rules call charged built-ins.
func (s *Set) findUncached() {
	for _, entry := range EntryPoints() {
		if s.queries[entry].plan == nil {
			s.uncached = append(s.uncached, Uncached{nameOf(entry), question.Against(s.tree.Compiler, entry)})
		}
	}
	for _, name := range s.tree.Apps {
		rule := AppRules(name) + ".decision"
		if because := question.AgainstApp(s.tree.Compiler, rule); len(because) > 0 {
			s.uncached = append(s.uncached, Uncached{rule[len("data."):], because})
		}
	}
}
