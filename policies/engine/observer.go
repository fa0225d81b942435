package engine

import "time"

// Observer is told what happens, for logs and metrics. A nil function is not
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
	// CheckRoutes said.
	Refused func(err error)
}

func (o *Observer) evaluated(entry string, took time.Duration, failure Failure) {
	if o.Evaluated != nil {
		o.Evaluated(entry, took, failure)
	}
}

func (o *Observer) cached(entry string) {
	if o.Cached != nil {
		o.Cached(entry)
	}
}

func (o *Observer) reloaded(revision string) {
	if o.Reloaded != nil {
		o.Reloaded(revision)
	}
}

func (o *Observer) refused(err error) {
	if o.Refused != nil {
		o.Refused(err)
	}
}
