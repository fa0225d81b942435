package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Options are the settings of a Log. Mask, Heads and Sink are optional.
type Options struct {
	// Dir is the folder of the logs of all processes on one data folder; it is made where it is absent.
	Dir string
	// Required makes Record wait until verdicts are on disk.
	Required bool
	// Size bounds what the log takes on disk in bytes, Age how old a verdict gets.
	Size int64
	Age  time.Duration
	// Secrets sign, each of 32 bytes: the first one now, the others before.
	Secrets [][]byte
	// Heads keep where the log ends.
	Heads Heads
	// Mask says what is left out of a record.
	Mask Mask
	// Input makes the input of policy, which a mask is asked about and a sink gets.
	Input Input
	// Sink gets every record.
	Sink    *Sink
	Version string
	Now     func() time.Time
	Log     *slog.Logger
}

// Head says how far a log was written: to the line of this number in a segment, with its hash.
type Head struct {
	Log     string
	Segment int64
	Line    int64
	Hash    string
	// Signature is by the key that closes segments: write access to the store is not enough to move a head.
	Signature string
}

// Heads keep the head of each log outside of its files (the store).
type Heads interface {
	// SaveHead keeps the head of one log, in place of its former one.
	SaveHead(ctx context.Context, h Head) error
	// Heads returns those of all logs.
	Heads(ctx context.Context) ([]Head, error)
}

// gatherTime is how long verdicts gather for one write where nobody waits for it.
const gatherTime = 20 * time.Millisecond

// settleEvery is how often what was written is flushed to the disk and the head kept, where nobody
// waits for it.
const settleEvery = time.Second

var (
	errFull   = errors.New("decisionlog: too many verdicts wait to be recorded, or too large ones")
	errClosed = errors.New("decisionlog: the log is closed")
)

// Log takes verdicts and writes them from a goroutine of its own. It is safe for concurrent use.
type Log struct {
	o     Options
	dir   string
	lock  *os.File
	keys  keys
	stats stats

	mu     sync.Mutex
	queue  queue
	lostOf losses
	closed bool

	wake, full, ending chan struct{}
	background         sync.WaitGroup
	stop               context.CancelFunc
	// head is the newest one on disk that the store does not have.
	head atomic.Pointer[Head]
	// sent is how far the sink has the log; nil without a sink.
	sent    atomic.Pointer[position]
	watches watches
}

// stats are counted for metrics.
type stats struct {
	lost, written, failures, sentErased, notSent atomic.Uint64
	position                                     atomic.Pointer[position]
}

// Stats are what metrics show.
type Stats struct {
	// Written and Lost count verdicts, Failures groups that could not be written. Those that the policy tree
	// has dropped are neither written nor lost.
	Written, Lost, Failures uint64
	// LostOf has the accounts that have lost most, with how many verdicts.
	LostOf map[string]uint64
	// Waiting are verdicts that are not written yet.
	Waiting int
	// Unsent is how many bytes of records the sink does not have yet.
	Unsent int64
	// SentErased counts verdicts that were sent without their input, NotSent refused or unreadable ones.
	SentErased, NotSent uint64
}

// Open opens the log for writing. It mends what a crash has left.
func Open(ctx context.Context, o Options) (*Log, error) {
	l := &Log{
		o: o, keys: newKeys(o.Secrets),
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1), ending: make(chan struct{}),
	}
	var err error
	if l.dir, l.lock, err = claim(o.Dir); err != nil {
		return nil, fmt.Errorf("decisionlog: %w", err)
	}
	w, err := l.newWriter(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("decisionlog: %w", err), l.lock.Close())
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	if o.Heads != nil {
		// Before the first verdict: a log that the store does not know is not whole.
		first := l.saveHead(ctx)
		l.background.Go(func() { l.keepHeads(run, first) })
	}
	l.background.Go(func() { w.packAll() })
	if o.Sink != nil {
		l.background.Go(func() { l.ship(run) })
	}
	done := make(chan struct{})
	go func() { defer close(done); w.run() }()
	l.background.Go(func() { <-done })
	return l, nil
}

// Record implements resources.DecisionLog.
func (l *Log) Record(ctx context.Context, verdicts ...*resources.Judgement) error {
	if len(verdicts) == 0 {
		return nil
	}
	e := newEntry(verdicts, l.o.Required)
	err := l.put(e)
	if !l.o.Required {
		return nil
	}
	if err == nil {
		select {
		case <-e.done:
			err = e.err
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return resources.Unavailable("The decision could not be recorded; try again.", err)
	}
	return nil
}

// put adds verdicts to those that wait.
func (l *Log) put(e *entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.lose(e)
		return errClosed
	}
	if l.queue.verdicts == 0 {
		signal(l.wake)
	}
	evicted, ok := l.queue.put(e)
	for _, out := range evicted {
		l.lose(out)
		out.finish(errFull)
	}
	if !ok {
		l.lose(e)
		return errFull
	}
	if load(l.queue.verdicts, l.queue.bytes) > 0.25 {
		signal(l.full)
	}
	return nil
}

// lose counts verdicts that are answered without a record, while l.mu is held. With Required no verdict is.
func (l *Log) lose(e *entry) {
	if !l.o.Required {
		l.stats.lost.Add(uint64(len(e.judgements)))
		l.lostOf.add(e.owner, uint64(len(e.judgements)))
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take returns what is to be written together, and whether more waits.
func (l *Log) take() (out []*entry, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out = l.queue.take()
	return out, l.queue.verdicts > 0
}

// losses returns how many verdicts are missing.
func (l *Log) losses() lossCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	return lossCount{l.stats.lost.Load(), maps.Clone(l.lostOf)}
}

// Stats returns the counters of records since the start, how many wait, and the accounts that lost most.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	waiting, lost := l.queue.verdicts, l.lostOf.most(statsOfAccounts)
	l.mu.Unlock()
	return Stats{
		LostOf:  lost,
		Written: l.stats.written.Load(), Lost: l.stats.lost.Load(), Failures: l.stats.failures.Load(), Waiting: waiting,
		Unsent: l.unsent(), SentErased: l.stats.sentErased.Load(), NotSent: l.stats.notSent.Load(),
	}
}

// Close writes what waits, signs the segment and keeps the head; that it can't keep the head is a warning. Verdicts
// that come later are lost.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.ending)
	}
	l.mu.Unlock()
	l.stop()
	l.background.Wait()
	if err := l.saveHead(context.Background()); err != nil {
		l.warnOfHead(err)
	}
	return l.lock.Close()
}

func (l *Log) warnOfHead(err error) {
	l.o.Log.Warn("the end of the decision log can't be kept in the store; verify knows less of it", "error", err.Error())
}

// keepHeads keeps the head until the context ends; err is of the time when the log was opened.
func (l *Log) keepHeads(ctx context.Context, err error) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for failing := false; ; err = l.saveHead(ctx) {
		if failed := err != nil && ctx.Err() == nil; failed != failing {
			failing = failed
			if failed {
				l.warnOfHead(err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// headTime bounds a write of the head.
const headTime = 5 * time.Second

// saveHead keeps the newest head.
func (l *Log) saveHead(ctx context.Context) error {
	h := l.head.Swap(nil)
	if h == nil || l.o.Heads == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	h.Signature = l.keys.sign(h.statement())
	err := l.o.Heads.SaveHead(ctx, *h)
	if err != nil {
		l.head.CompareAndSwap(nil, h)
	}
	return err
}
