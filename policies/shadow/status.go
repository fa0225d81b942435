package shadow

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// maxActions is how many actions with flips are told apart; those of others are counted together.
	maxActions = 1000
	// maxExamples is how many verdicts of one action and outcome are named.
	maxExamples = 3
	// otherActions stands for the actions beyond maxActions.
	otherActions = "(others)"
)

// Status is what a candidate has shown since it is the candidate.
type Status struct {
	Dir string `json:"dir"`
	// Revision names the candidate, "" while there is none.
	Revision string `json:"revision"`
	// Refused is why the newest tree in the folder is not the candidate, "" where it is.
	Refused string `json:"refused,omitempty"`
	// Outcomes counts the questions by outcome, Flips those with another verdict by action, the most frequent first.
	Outcomes map[string]int64 `json:"outcomes"`
	Flips    []Flips          `json:"flips"`
	// LastError is why the candidate had no answer to the last question to which it had none.
	LastError string `json:"last_error,omitempty"`
}

// Flips are the questions about one action that the candidate judges otherwise.
type Flips struct {
	Action   string `json:"action"`
	NewAllow int64  `json:"new_allow"`
	NewDeny  int64  `json:"new_deny"`
	// Examples are ids of live verdicts, by outcome.
	Examples map[string][]string `json:"examples"`
}

func (f *Flips) total() int64 { return f.NewAllow + f.NewDeny }

// findings are what a candidate has shown.
type findings struct {
	// outcomes are counted on the way of requests; the map never changes.
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

// reset begins with a new candidate.
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

// flip counts a question that the candidate judges otherwise, and says whether it is an example to be told.
func (f *findings) flip(action, outcome, id string) (example bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.flips[action]
	if of == nil {
		if len(f.flips) >= maxActions {
			action = otherActions
		}
		if of = f.flips[action]; of == nil {
			of = &Flips{Action: action, Examples: map[string][]string{}}
			f.flips[action] = of
		}
	}
	n := &of.NewDeny
	if outcome == NewAllow {
		n = &of.NewAllow
	}
	if *n++; *n > maxExamples {
		return false
	}
	if id != "" {
		of.Examples[outcome] = append(of.Examples[outcome], id)
	}
	return true
}

// Status returns what the candidate has shown so far.
func (s *Shadow) Status() Status {
	f := s.found
	f.mu.Lock()
	defer f.mu.Unlock()
	out := Status{
		Dir: s.opts.Dir, Revision: f.revision, Refused: f.refusal, LastError: f.failure,
		Outcomes: map[string]int64{}, Flips: []Flips{},
	}
	if candidate := s.candidate.Load(); candidate != nil && candidate.LastRefusal() == nil { // the folder may have the candidate again
		out.Refused = ""
	}
	for outcome, n := range f.outcomes {
		out.Outcomes[outcome] = n.Load()
	}
	for _, of := range f.flips {
		one := *of
		one.Examples = map[string][]string{}
		for outcome, ids := range of.Examples {
			one.Examples[outcome] = slices.Clone(ids)
		}
		out.Flips = append(out.Flips, one)
	}
	slices.SortFunc(out.Flips, func(a, b Flips) int {
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(a.Action, b.Action))
	})
	return out
}
