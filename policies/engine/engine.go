package engine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

var errOtherAccount = errors.New("the facts are of another account than the question")

// keyRoom is the room that a key has before it takes memory.
const keyRoom = 512

// DefaultDeadline bounds one evaluation.
const DefaultDeadline = 500 * time.Millisecond

// defaultPoll is that of Options.
const defaultPoll = 300 * time.Millisecond

// Options tune an Engine. The zero value is the default.
type Options struct {
	// Deadline bounds one evaluation; zero is DefaultDeadline. It is time by the clock: a process
	// that its container throttles has to wait for its share of a processor meanwhile.
	Deadline time.Duration
	// Read reads the tree in a folder; nil is policies.Read.
	Read func(fs.FS) (*policies.Source, error)
	// Poll is how often Watch looks at the tree; zero is 300 ms. A change must be the same at two
	// looks before it is judged.
	Poll time.Duration
	// Verdicts is how many verdicts are cached, rounded down to a multiple of
	// eight; zero is DefaultVerdicts, less than zero none. One takes about 300 bytes, and never
	// more than 1.3 KiB.
	Verdicts int
	// CheckRoutes is asked before a reload whose catalogue differs from the one in
	// force; an error refuses the reload. It must not call the engine's Reload.
	CheckRoutes func([]resources.Route) error
	// CheckChange is asked before a reload with the tree in force and the one that is to take its place; an error
	// refuses the reload. It may take long: decisions go on meanwhile. It must not call the engine's Reload.
	CheckChange func(ctx context.Context, inForce, next *Set) error
	// Gate bounds the concurrent and the waiting evaluations of requests; it refuses more with KindUnavailable. nil is
	// unbounded. Inside skips the gate.
	Gate *gate.Gate
	// Pace has evaluations rest; the zero value has none do so. A rest does not count for the deadline.
	Pace     limits.Pace
	Observer Observer
}

func (o *Options) read(tree fs.FS) (*policies.Source, error) {
	if o.Read == nil {
		return policies.Read(tree)
	}
	return o.Read(tree)
}

// Engine answers by the tree in force. It is safe for concurrent use.
type Engine struct {
	load    Loader
	opts    Options
	current atomic.Pointer[Set]
	refusal atomic.Pointer[error]
	reload  sync.Mutex // one reload at a time
}

// Loader compiles a tree that has proved itself, or proves it: proof.Load. Its error tells every problem.
type Loader func(ctx context.Context, src *policies.Source) (*Set, error)

// New loads the tree. The error is of reading it, or the loader's.
func New(ctx context.Context, tree fs.FS, load Loader, opts Options) (*Engine, error) {
	src, err := opts.read(tree)
	if err != nil {
		return nil, err
	}
	return NewOf(ctx, src, load, opts)
}

// NewOf is New for a tree that was read.
func NewOf(ctx context.Context, src *policies.Source, load Loader, opts Options) (*Engine, error) {
	if opts.Deadline <= 0 {
		opts.Deadline = DefaultDeadline
	}
	if opts.Poll <= 0 {
		opts.Poll = defaultPoll
	}
	opts.Verdicts = cmp.Or(opts.Verdicts, DefaultVerdicts)
	opts.Observer = opts.Observer.complete()
	set, err := load(ctx, src)
	if err != nil {
		return nil, err
	}
	e := &Engine{load: load, opts: opts}
	e.bring(set)
	return e, nil
}

// Decide answers whether the facts' user may do the action on the target. An error
// is a *resources.Error of KindUnavailable and comes with the zero decision.
func (e *Engine) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return e.Pin().Decide(ctx, q)
}

// Access answers whether the principal may make the request; the facts are those
// of the principal in the account in question. Errors are as for Decide.
func (e *Engine) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return e.Pin().Access(ctx, q)
}

// ask returns the cached verdict of an equal question, or evaluates. After the end of the context it evaluates, which
// fails, with or without a cache.
func (e *Engine) ask(
	ctx context.Context, set *Set, admission *gate.Gate, limit time.Duration, entry string, q resources.Question,
) (d resources.Decision, err error) {
	piece := &struct { // what a cached verdict takes of memory, in one piece
		q    resources.Question
		room [keyRoom]byte
	}{q: q}
	start, hit, rejected := time.Time{}, false, false
	defer func() {
		if r := recover(); r != nil { // while the key or the input was made
			err = panicked(entry, r)
		}
		if !rejected && (err != nil || !hit) {
			d, err = e.finish(entry, start, d, err)
		}
	}()
	if q.Facts.Subject != nil && q.Facts.Subject.AccountID != q.AccountID {
		return d, &failed{FailureFacts, errOtherAccount}
	}
	if entry == EntryDecision {
		if d, hit = set.Unlisted(q.Action); hit {
			return d, nil
		}
	}
	key := set.key(piece.room[:0], entry, &piece.q)
	if d, hit = e.cached(ctx, set, entry, key); hit {
		return question.FillReason(&piece.q, d), nil
	}
	if err = admission.Enter(ctx, q.AccountID); err != nil { // a full gate is not a failure of the policy
		rejected = true
		return d, err
	}
	defer admission.Leave()
	if d, hit = e.cached(ctx, set, entry, key); hit { // an equal question may have been evaluated meanwhile
		return question.FillReason(&piece.q, d), nil
	}
	start = time.Now()
	if d, err = set.evaluate(ctx, entry, &piece.q, limit); err == nil {
		set.keep(key, d)
		d = question.FillReason(&piece.q, d)
	}
	return d, err
}

// keep caches a verdict. It copies the texts: they can be parts of the caller's strings.
func (s *Set) keep(key []byte, d resources.Decision) {
	if s.verdicts != nil && key != nil {
		d.Code, d.Reason = strings.Clone(d.Code), strings.Clone(d.Reason)
		s.verdicts.put(key, d, len(d.Code)+len(d.Reason))
	}
}

// cached returns the verdict of an equal question; false is a miss.
func (e *Engine) cached(ctx context.Context, set *Set, entry string, key []byte) (resources.Decision, bool) {
	d, hit := set.verdicts.get(ctx, key)
	if hit {
		e.opts.Observer.Cached(nameOf(entry))
	}
	return d, hit
}

// nameOf returns the entry point's name for counting.
func nameOf(entry string) string { return strings.TrimPrefix(entry, "data.authz.") }

// finish counts the evaluation and turns a failure into the domain's error. The start
// is zero where it failed before it began.
func (e *Engine) finish(entry string, start time.Time, d resources.Decision, err error) (resources.Decision, error) {
	var took time.Duration
	if !start.IsZero() {
		took = time.Since(start)
	}
	name := nameOf(entry)
	if err == nil {
		e.opts.Observer.Evaluated(name, took, "")
		return d, nil
	}
	e.opts.Observer.Evaluated(name, took, FailureOf(err))
	return resources.Decision{}, resources.Unavailable("The decision could not be made.", err)
}

// Routes returns the action catalogue in force by name, a copy.
func (e *Engine) Routes() []resources.Route { return e.current.Load().Routes() }

// Roles returns the system roles in force by id, a copy.
func (e *Engine) Roles() []resources.Role { return e.current.Load().Roles() }

// Actions returns the actions that the tree in force lists, by id, a copy.
func (e *Engine) Actions() []resources.ListedAction { return e.current.Load().Actions() }

// Revision names the tree in force.
func (e *Engine) Revision() string { return e.current.Load().Revision() }

// Source returns the files of the tree in force; nobody changes them.
func (e *Engine) Source() *policies.Source { return e.current.Load().tree.Source }

// LastRefusal returns why the newest tree was not taken; nil where the newest is in force.
func (e *Engine) LastRefusal() error {
	if err := e.refusal.Load(); err != nil {
		return *err
	}
	return nil
}
