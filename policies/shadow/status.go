package shadow

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// maxActions bounds the actions whose flips are counted one by one.
	maxActions = 1000
	// maxExamples bounds the examples of one action and outcome.
	maxExamples = 3
	// otherActions stands for the actions beyond maxActions.
	otherActions = "(others)"
)

// Status counts what a candidate did since it was accepted.
type Status struct {
	Dir string `json:"dir"`
	// Revision names the candidate, "" without one.
	Revision string `json:"revision"`
	// Refused is why the newest tree in the folder is not the candidate, "" if it is.
	Refused string `json:"refused,omitempty"`
	// Outcomes counts questions by outcome. Flips counts other verdicts by action, the most frequent first.
	Outcomes map[string]int64 `json:"outcomes"`
	Flips    []Flips          `json:"flips"`
	// LastError is the candidate's last failure.
	LastError string `json:"last_error,omitempty"`
}

// Flips counts the questions about one action that the candidate judges otherwise.
type Flips struct {
	Action   string `json:"action"`
	NewAllow int64  `json:"new_allow"`
	NewDeny  int64  `json:"new_deny"`
	// Examples are ids of verdicts in force, by outcome.
	Examples map[string][]string `json:"examples"`
}

func (f *Flips) total() int64 { return f.NewAllow + f.NewDeny }

// findings collects the status of a candidate.
type findings struct {
	// outcomes are counted by requests too. The map never changes.
	outcomes map[string]*atomic.Int64
	mu       sync.Mutex
	revision string
	refusal  string
	failure  string
	flips    map[string]*Flips
}

func newFindings() *findings {
	f := &findings{outcomes: map[string]*atomic.Int64{}, flips: map[string]*Flips{}}
	for _, outcome := range Outcomes() {
		f.outcomes[outcome] = &atomic.Int64{}
	}
	return f
}

// reset starts over for a new candidate.
func (f *findings) reset(revision string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision, f.refusal, f.failure = revision, "", ""
	f.flips = map[string]*Flips{}
	for _, n := range f.outcomes {
		n.Store(0)
	}
}

func (f *findings) refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusal = err.Error()
}

func (f *findings) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure = err.Error()
}

// flip counts a question that the candidate judges otherwise, and says whether it is an example for the log.
func (f *findings) flip(action, outcome, id string) (example bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counted := f.flips[action]
	if counted == nil {
		if len(f.flips) >= maxActions {
			action = otherActions
		}
		if counted = f.flips[action]; counted == nil {
			counted = &Flips{Action: action, Examples: map[string][]string{}}
			f.flips[action] = counted
		}
	}
	n := &counted.NewDeny
	if outcome == NewAllow {
		n = &counted.NewAllow
	}
	if *n++; *n > maxExamples {
		return false
	}
	if id != "" {
		counted.Examples[outcome] = append(counted.Examples[outcome], id)
	}
	return true
}

// Status returns the status of the candidate.
func (s *Shadow) Status() Status {
	f := s.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	out := Status{
		Dir: s.opts.Dir, Revision: f.revision, Refused: f.refusal, LastError: f.failure,
		Outcomes: map[string]int64{}, Flips: []Flips{},
	}
	if candidate := s.candidate.Load(); candidate != nil && candidate.LastRefusal() == nil { // the folder may hold the candidate again
		out.Refused = ""
	}
	for outcome, n := range f.outcomes {
		out.Outcomes[outcome] = n.Load()
	}
	for _, counted := range f.flips {
		one := *counted
		one.Examples = map[string][]string{}
		for outcome, ids := range counted.Examples {
			one.Examples[outcome] = slices.Clone(ids)
		}
		out.Flips = append(out.Flips, one)
	}
	slices.SortFunc(out.Flips, func(a, b Flips) int {
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(a.Action, b.Action))
	})
	return out
}
