package consistency_test

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// op is one change of a register or one question about it, with when it was sent and
// answered, both since the history began.
type op struct {
	register  string
	write     bool
	value     bool // written, or told
	call, ret time.Duration
	// unknown is a change whose outcome was not told; ret is when it can't happen any more.
	unknown bool
	// strict is a question that asked for the strict path.
	strict  bool
	replica int
	// question and revision are of decisions: equal ones have equal answers.
	question string
	revision string
}

// history is what clients were told. It is safe for concurrent use.
type history struct {
	began time.Time

	mu  sync.Mutex
	ops []op
	// underWay are changes that were sent and not answered yet.
	underWay map[string]op
	// broken are violations that were seen without looking at the whole.
	broken []string
	// undecided counts questions that were answered with 503 or not at all.
	undecided int
	// constant counts right answers to questions that have one for ever.
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

// sent notes a change before it is sent.
func (h *history) sent(o op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.unknown, o.ret = true, 1<<62
	h.underWay[o.register] = o
}

// ended notes what became of it; nil is nothing.
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

func (h *history) violated(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = append(h.broken, what)
}

// took notes how long something took.
func (h *history) took(what string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits[what] = append(h.waits[what], d)
}

// answered is how many questions were.
func (h *history) answered() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ops) + h.constant
}

// held notes an answer that is the same for ever.
func (h *history) held() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.constant++
}

// copied is what there is so far; a change under way is one of unknown outcome.
func (h *history) copied() (ops []op, broken []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ops = slices.AppendSeq(slices.Clone(h.ops), maps.Values(h.underWay))
	return ops, slices.Clone(h.broken)
}
