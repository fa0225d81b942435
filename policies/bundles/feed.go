package bundles

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources/durable"
)

// Results of a poll.
const (
	ResultTaken     = "taken"
	ResultUnchanged = "unchanged"
	ResultRefused   = "refused"
	ResultFailed    = "failed"
)

// Results returns all results of a poll.
func Results() []string { return []string{ResultTaken, ResultUnchanged, ResultRefused, ResultFailed} }

// jitter is by how much of itself the time between two polls is longer or shorter.
const jitter = 0.2

// FeedConfig says where bundles come from.
type FeedConfig struct {
	// From is a file, or an https URL.
	From string
	// Key checks signatures; nil takes unsigned bundles.
	Key *Key
	// AllowOlder takes signed bundles that are older than the one in force.
	AllowOlder bool
	// Dir is where the last good one is kept.
	Dir string
	// Poll is the time between two polls, but for the jitter.
	Poll time.Duration
	// Client asks for a URL; nil is a client of its own.
	Client *http.Client
	// Observe receives the result of each poll.
	Observe func(result string)
	Log     *slog.Logger
}

// Feed follows one source. It is not safe for concurrent use.
type Feed struct {
	FeedConfig
	// etag and seen name the newest bundle that was judged.
	etag string
	seen [sha256.Size]byte
	// refused is true if the policy rejected this bundle, failing if the last poll failed.
	refused, failing bool
	// unkept is the bundle in force until it is kept; keepFails is true if the last attempt to keep it failed.
	unkept    []byte
	keepFails bool
	// inForce tells the age of the bundle that was taken last, nil before one was.
	inForce *policies.Source
}

// NewFeed returns a feed that has asked for nothing.
func NewFeed(c FeedConfig) *Feed {
	if c.Client == nil {
		c.Client = newClient()
	}
	if c.Observe == nil {
		c.Observe = func(string) {}
	}
	return &Feed{FeedConfig: c}
}

// Policy is what bundles are for.
type Policy interface {
	// Take brings a tree into force, or returns why not.
	Take(ctx context.Context, src *policies.Source) error
	// Refuse reports a newest bundle without a valid tree.
	Refuse(err error) error
}

// Start calls take with the newest bundle of the source, and with the last good one if that fails. refused says why the
// newest bundle was rejected, for the caller's log. It is nil if the bundle is in force, and if it could not be fetched. With
// an error neither bundle can be used.
func (f *Feed) Start(ctx context.Context, take func(*policies.Source) error) (refused, err error) {
	kept, keptErr := f.kept()
	raw, err := f.fetch(ctx)
	if err == nil {
		if err = f.judge(raw, take); err == nil {
			f.unkept = raw
			return nil, nil
		}
		refused, f.refused = err, true
	}
	if keptErr == nil {
		keptErr = take(kept)
	}
	if keptErr != nil {
		return nil, fmt.Errorf("%w; no last good one can be used either: %w", err, keptErr)
	}
	if f.failing = refused == nil; f.failing {
		f.Log.Warn("the policy bundle can't be had; the last good one is in force", "from", shown(f.From), "error", err.Error())
	}
	return refused, nil
}

// Started keeps the bundle with which the gateway has started. The gateway calls it when it can serve the catalogue
// of that bundle.
func (f *Feed) Started() { f.keep() }

// kept returns the tree of the last good bundle. That bundle was in force when the gateway ended, and no older one is
// taken, also if the program has another base by now and the tree can't be laid over it.
func (f *Feed) kept() (*policies.Source, error) {
	raw, err := ReadFile(f.keptAt())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		f.inForce, err = read(raw, f.Key)
	}
	if err != nil {
		f.Log.Warn("the last good policy bundle can't be read: nothing tells whether the next one is older", "file", f.keptAt(), "error", err.Error())
		return nil, err
	}
	return laid(f.inForce)
}

// judge has a bundle taken.
func (f *Feed) judge(raw []byte, take func(*policies.Source) error) error {
	src, err := f.open(raw)
	if err == nil {
		err = take(src)
	}
	if err == nil {
		f.taken(src)
	}
	return err
}

// open reads a bundle, and refuses a signed one that is older than the one in force.
func (f *Feed) open(raw []byte) (*policies.Source, error) {
	src, err := Open(raw, f.Key)
	if err != nil {
		f.etag = "" // it may have come in part
		return nil, err
	}
	if f.Key != nil && !f.AllowOlder && f.inForce != nil {
		if err := NotOlder(src, f.inForce); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// taken notes what is in force.
func (f *Feed) taken(src *policies.Source) {
	if f.Key != nil && !f.AllowOlder && !SaysAge(src) && (f.inForce == nil || SaysAge(f.inForce)) {
		f.Log.Warn("nothing tells an older policy bundle from this one; build bundles with a revision that is a version or a number (opa build -r)",
			"from", shown(f.From), "revision", src.Bundle)
	}
	f.inForce = src
}

// Follow keeps the policy at the source until ctx is done, and returns ctx's error then. A signal on now has it ask at
// once, and judge again what it has refused.
func (f *Feed) Follow(ctx context.Context, policy Policy, now <-chan os.Signal) error {
	for {
		wait := time.NewTimer(time.Duration(float64(f.Poll) * (1 - jitter + 2*jitter*rand.Float64()))) //nolint:gosec // no secret
		select {
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		case <-now:
			wait.Stop()
			if f.refused {
				f.etag, f.seen = "", [sha256.Size]byte{}
			}
		case <-wait.C:
		}
		result := f.look(ctx, policy)
		f.keep()
		if ctx.Err() == nil {
			f.Observe(result)
		}
	}
}

// look asks the source once.
func (f *Feed) look(ctx context.Context, policy Policy) (result string) {
	raw, err := f.fetch(ctx)
	if ctx.Err() != nil {
		return ResultFailed
	}
	if err != nil {
		if !f.failing {
			f.Log.Warn("the policy bundle can't be had; the tree in force stays", "from", shown(f.From), "error", err.Error())
		}
		f.failing = true
		return ResultFailed
	}
	if f.failing {
		f.Log.Info("the policy bundle can be had again", "from", shown(f.From))
	}
	f.failing = false
	if raw == nil {
		return ResultUnchanged
	}
	f.refused = true
	src, err := f.open(raw)
	if err != nil {
		_ = policy.Refuse(err) // which logs it
		return ResultRefused
	}
	if policy.Take(ctx, src) != nil { // it was logged
		return ResultRefused
	}
	f.taken(src)
	f.refused, f.unkept = false, raw
	return ResultTaken
}

// keptAt returns the file of the last good one.
func (f *Feed) keptAt() string {
	source := sha256.Sum256([]byte(f.From))
	return filepath.Join(f.Dir, fmt.Sprintf("policy-bundle-%x.tar.gz", source[:8]))
}

// keep writes the bundle in force, unless it is kept. After a failure each poll tries it again: a start without the source
// would fail, or bring an older tree back.
func (f *Feed) keep() {
	if f.unkept == nil {
		return
	}
	err := os.MkdirAll(f.Dir, 0o700)
	if err == nil {
		err = durable.Write(f.keptAt(), f.unkept)
	}
	switch {
	case err == nil && f.keepFails:
		f.Log.Info("the policy bundle is kept now")
	case err != nil && !f.keepFails:
		f.Log.Warn("the policy bundle can't be kept in the data folder, and is tried again: a start without its source would fail, or take an older one",
			"error", err.Error())
	}
	if f.keepFails = err != nil; err == nil {
		f.unkept = nil
	}
}
