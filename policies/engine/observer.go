package engine

import (
	"time"

	"github.com/portcullis-authz/portcullis/policies"
)

// Observer sees evaluations and reloads, for logs and metrics. A nil function is not
// called. They are called on the goroutine that decides or reloads, must not
// block, and may be called by many at once.
type Observer struct {
	// Evaluated is called after each evaluation with the entry point's name, one of
	// CountedEntries, and the time it took; failure is "" for an answer.
	Evaluated func(entry string, took time.Duration, failure Failure)
	// Cached is called instead on a hit in the cache of verdicts.
	Cached func(entry string)
	// Reloaded is called after a new tree came into force.
	Reloaded func(revision string)
	// Refused is called when a changed tree was not taken; err is Problems, or what
	// CheckRoutes said. The source is nil if the tree could not be read.
	Refused func(src *policies.Source, err error)
}

// complete returns the observer with functions that do nothing in place of nil.
func (o Observer) complete() Observer {
	if o.Evaluated == nil {
		o.Evaluated = func(string, time.Duration, Failure) {}
	}
	if o.Cached == nil {
		o.Cached = func(string) {}
	}
	if o.Reloaded == nil {
		o.Reloaded = func(string) {}
	}
	if o.Refused == nil {
		o.Refused = func(*policies.Source, error) {}
	}
	return o
}
