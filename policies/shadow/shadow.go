package shadow

import (
	"context"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/resources"
)

// Outcomes of a question.
const (
	Same     = "same"
	NewAllow = "new_allow"
	NewDeny  = "new_deny"
	// Error is a failure of the candidate, Late an answer that does not come in time.
	Error   = "error"
	Late    = "late"
	Dropped = "dropped"
)

// Outcomes returns all outcomes of a question.
func Outcomes() []string { return []string{Same, NewAllow, NewDeny, Error, Late, Dropped} }

const (
	// Deadline bounds the evaluation of one question, without its pauses.
	Deadline = 50 * time.Millisecond
	// queued bounds the questions that wait.
	queued = 1024
	// cachedVerdicts bounds the cache of the candidate's verdicts, of 300 bytes each.
	cachedVerdicts = 1 << 16
	// retry is the interval of reading a folder again that has no accepted tree.
	retry = time.Second
	// firstRest and longestRest are the pauses after one failure, and after many in a row.
	firstRest, longestRest = 10 * time.Millisecond, time.Second
)

// pace gives the candidate a fiftieth of one processor, in slices that delay no caller.
func pace() limits.Pace { return limits.Pace{Slice: 50 * time.Microsecond, Share: 0.02} }

// Policy decides questions (policies/engine).
type Policy interface {
	Decide(ctx context.Context, q resources.Question) (resources.Decision, error)
	Access(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Revision and Routes are those of the tree.
	Revision() string
	Routes() []resources.Route
}

// Options are the settings of a shadow.
type Options struct {
	// Dir is the folder of the candidate's tree. It is watched.
	Dir string
	// Sample is the share of questions that are judged, from 0 to 1.
	Sample float64
	// Read reads the tree in a folder (overlay.Read).
	Read func(fs.FS) (*policies.Source, error)
	// Load compiles and proves the candidate (proof.Load).
	Load engine.Loader
	// Observe is called with the outcome of each question; nil is nobody.
	Observe func(outcome string)
	Log     *slog.Logger
}

// Shadow judges beside the tree in force. It is safe for concurrent use.
type Shadow struct {
	opts  Options
	queue chan judged
	// ready says that there is a candidate. Without one no question is copied.
	ready    atomic.Bool
	findings *findings
	// candidate is nil until the first tree is accepted. rows are its own.
	candidate atomic.Pointer[engine.Engine]
	rows      rows
}

// judged is a question with the verdict of the tree in force.
type judged struct {
	id       string
	access   bool
	question resources.Question
	live     resources.Decision
}

// New returns a shadow without a candidate; Run finds it.
func New(opts Options) *Shadow {
	if opts.Observe == nil {
		opts.Observe = func(string) {}
	}
	return &Shadow{opts: opts, queue: make(chan judged, queued), findings: newFindings()}
}

// Offer queues a question that the tree in force judged, at the entry point access or else decision. The id names the
// verdict in examples, "" for a verdict without an id. It never waits, and keeps nothing of the caller's.
func (s *Shadow) Offer(id string, access bool, q *resources.Question, live resources.Decision) {
	if !s.ready.Load() || s.opts.Sample < 1 && rand.Float64() >= s.opts.Sample { //nolint:gosec // no secret
		return
	}
	if len(s.queue) == cap(s.queue) { // before the copy
		s.count(Dropped)
		return
	}
	live.Reason = strings.Clone(live.Reason) // it may be a part of the question
	select {
	case s.queue <- judged{id, access, outliving(q), live}:
	default:
		s.count(Dropped)
	}
}

// Run watches the candidate's folder and judges until ctx is done.
func (s *Shadow) Run(ctx context.Context) {
	candidate := s.await(ctx)
	if candidate == nil {
		return
	}
	s.findings.reset(candidate.Revision())
	s.candidate.Store(candidate)
	s.ready.Store(true)
	defer s.ready.Store(false)
	s.opts.Log.Info("a candidate policy judges beside the one in force", "dir", s.opts.Dir, "candidate_revision", candidate.Revision())
	watching, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = candidate.Watch(watching, s.opts.Dir, nil) // the error is the context's
	}()
	s.work(ctx, candidate)
	stop()
	<-ended
}

// await returns an engine of the first tree in the folder that passes the gate; nil if ctx ends before.
func (s *Shadow) await(ctx context.Context) *engine.Engine {
	options := engine.Options{
		Deadline: Deadline, Verdicts: cachedVerdicts, Pace: pace(), Read: s.opts.Read,
		Observer: engine.Observer{Reloaded: s.reloaded, Refused: s.refused},
	}
	look := time.NewTicker(retry)
	defer look.Stop()
	refused := ""
	for {
		src, err := s.opts.Read(policies.Dir(s.opts.Dir))
		var state string
		if err == nil {
			state = src.Revision
		} else {
			state = err.Error()
		}
		if state != refused {
			var candidate *engine.Engine
			if err == nil {
				candidate, err = engine.NewOf(ctx, src, s.opts.Load, options)
			}
			if err == nil {
				return candidate
			}
			if ctx.Err() == nil {
				s.refused(nil, err)
			}
			refused = state
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

func (s *Shadow) reloaded(revision string) {
	s.findings.reset(revision)
	s.opts.Log.Info("the candidate policy was reloaded", "candidate_revision", revision)
}

func (s *Shadow) refused(_ *policies.Source, err error) {
	s.findings.refuse(err)
	s.opts.Log.Error("the candidate policy was refused; nothing judges beside the policy in force, or its last good tree does",
		"dir", s.opts.Dir, "error", err.Error())
}

func (s *Shadow) count(outcome string) {
	s.findings.outcomes[outcome].Add(1)
	s.opts.Observe(outcome)
}
