package engine

import (
	"github.com/portcullis-authz/portcullis/policies/question"
)

// Costly is an entry point without cached verdicts, or with one for each value of a text.
type Costly struct {
	// Entry is its name, as decision or apps.documents.decision.
	Entry string
	// Because has a line for each rule to blame, with its place.
	Because []string
}

// Uncached returns the entry points without cached verdicts.
func (s *Set) Uncached() []Costly { return s.uncached }

// ByText returns the entry points with a cached verdict for each value of a text: an id, a path.
func (s *Set) ByText() []Costly { return s.byText }

// findCosts finds both; it must come before the rules call charged built-ins.
func (s *Set) findCosts() {
	for _, entry := range EntryPoints() {
		if s.queries[entry].keyed == nil {
			s.uncached = append(s.uncached, Costly{nameOf(entry), question.Obstacles(s.tree.Compiler, entry)})
		} else if because := question.ByText(s.tree.Compiler, entry); len(because) > 0 {
			s.byText = append(s.byText, Costly{nameOf(entry), because})
		}
	}
	for _, name := range s.tree.Apps {
		rule := AppRules(name) + ".decision"
		if because := question.AppObstacles(s.tree.Compiler, rule); len(because) > 0 {
			s.uncached = append(s.uncached, Costly{rule[len("data."):], because})
		}
	}
}
