package consistency_test

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// op is one change of a register or one question about it, with the times of sending (call) and answer (ret) since the
// history began.
type op struct {
	register  string
	write     bool
	value     bool // written, or read
	call, ret time.Duration
	// unknown is a change of unknown outcome. After ret it can no longer happen.
	unknown bool
	// strict is a question on the strict path.
	strict  bool
	replica int
	// question and revision are set for decisions: equal ones must have equal answers.
	question string
	revision string
}

// history records the answers to clients. It is safe for concurrent use.
type history struct {
	began time.Time

	mu  sync.Mutex
	ops []op
	// underWay has the sent changes without an answer.
	underWay map[string]op
	// broken has violations seen in a single answer.
	broken []string
	// undecided counts questions with a 503 or without an answer.
	undecided int
	// constant counts correct answers to questions with a constant answer.
	constant int
	waits    map[string][]time.Duration
}

func newHistory() *history {
	return &history{began: time.Now(), waits: map[string][]time.Duration{}, underWay: map[string]op{}}
}

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) add(o op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, o)
}

// sent records a change before the client sends it.
func (h *history) sent(o op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.unknown, o.ret = true, 1<<62
	h.underWay[o.register] = o
}

// ended records the outcome of a change; nil means that it did not happen.
func (h *history) ended(register string, o *op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.underWay, register)
	if o != nil {
		h.ops = append(h.ops, *o)
	}
}

func (h *history) none() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undecided++
}

func (h *history) violated(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = append(h.broken, text)
}

// took records a duration.
func (h *history) took(name string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits[name] = append(h.waits[name], d)
}

// answered returns the number of answered changes and questions.
func (h *history) answered() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ops) + h.constant
}

// held notes an answer that is the same for ever.
func (h *history) addConstant() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.constant++
}

// copied returns the history so far. A change under way has an unknown outcome.
func (h *history) copied() (ops []op, broken []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ops = slices.AppendSeq(slices.Clone(h.ops), maps.Values(h.underWay))
	return ops, slices.Clone(h.broken)
}
