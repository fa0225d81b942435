package decisionlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/portcullis-authz/portcullis/resources"
)

// Reader reads the logs of a folder, also while they are written.
type Reader struct {
	// Dir is the folder of Options.Dir.
	Dir string
	// Progress, where it is not nil, is told how many segments were read, and of how many.
	Progress func(read, of int)
}

// Filter says which records are wanted. The zero value wants all.
type Filter struct {
	ID string
	// User is the user in question, or the caller.
	User, Account, Action string
	// Place is a path, below the account or with it; what is below it counts, too.
	Place string
	// Path is what was asked, as authz/decision.
	Path string
	// Allowed, where it is not nil, is the verdict.
	Allowed *bool
	// Since and Until bound the time, each where it is not zero.
	Since, Until resources.Time
}

// about is what filters look at.
type about struct {
	id, path, account, action, project, rest string
	users                                    []string
	allowed, known                           bool
}

// about returns what is known of the record.
func (r *Record) about() about {
	if t := r.told; t != nil {
		a := about{
			id: t.ID, path: t.Path, account: t.Account, action: t.Action, project: t.Target.Project, rest: t.Target.Rest,
			users: []string{t.Caller.ID}, allowed: t.Allow, known: true,
		}
		if r.subject != nil {
			a.users = append(a.users, r.subject.UserID)
		}
		return a
	}
	e := r.event
	var in struct {
		Action    struct{ ID string }
		Principal struct{ ID string }
		Account   struct{ ID string }
		Subject   struct{ ID string }
		Target    struct{ Project, Rest string }
	}
	var result struct{ Allow, Decision *bool }
	_ = errors.Join( // of what is masked nothing is known
		json.Unmarshal(e.Input, &in, json.MatchCaseInsensitiveNames(true)),
		json.Unmarshal(e.Result, &result, json.MatchCaseInsensitiveNames(true)),
	)
	a := about{
		id: e.DecisionID, path: e.Path, account: in.Account.ID, action: in.Action.ID, project: in.Target.Project, rest: in.Target.Rest,
		users: []string{in.Principal.ID, in.Subject.ID},
	}
	for _, said := range []*bool{result.Allow, result.Decision} {
		if said != nil {
			a.allowed, a.known = *said, true
		}
	}
	return a
}

// Matches says whether the record is wanted.
func (f *Filter) Matches(r *Record) bool {
	if f.Since != 0 && r.At < f.Since || f.Until != 0 && r.At > f.Until {
		return false
	}
	a := r.about()
	is := func(want, got string) bool { return want == "" || want == got }
	return is(f.ID, a.id) && is(f.Account, a.account) && is(f.Action, a.action) && is(f.Path, a.path) &&
		(f.User == "" || a.users[0] == f.User || a.users[len(a.users)-1] == f.User) &&
		(f.Allowed == nil || a.known && a.allowed == *f.Allowed) && (f.Place == "" || a.within(f.Place))
}

// within says whether the record is about the place or about something below it.
func (a *about) within(place string) bool {
	place = strings.Trim(place, "/")
	at := "accounts/" + a.account
	if !strings.HasPrefix(place, "accounts/") {
		place = at + "/" + place
	}
	if a.project != "" {
		at += "/projects/" + a.project
	}
	if a.rest != "" {
		at += "/" + a.rest
	}
	return at == place || strings.HasPrefix(at, place+"/")
}

// Newest hands over the records that the filter wants, the newest first, until fn returns errStop or
// another error.
func (r Reader) Newest(ctx context.Context, f Filter, fn func(*Record) error) error {
	return r.merge(ctx, f, fn, func(a, b *Record) bool { return a.At > b.At }, r.backward)
}

// Oldest is Newest in the order of time.
func (r Reader) Oldest(ctx context.Context, f Filter, fn func(*Record) error) error {
	return r.merge(ctx, f, fn, func(a, b *Record) bool { return a.At < b.At }, r.forward)
}

type outcome struct {
	record *Record
	err    error
}

// merge reads all logs at once; first says which of two records comes first.
func (r Reader) merge(
	ctx context.Context, f Filter, fn func(*Record) error, first func(a, b *Record) bool, read func(dir string, f Filter) iter.Seq[outcome],
) error {
	dirs, err := logsIn(r.Dir)
	if err != nil {
		return err
	}
	type source struct {
		next func() (outcome, bool)
		now  outcome
	}
	var open []*source
	for _, dir := range dirs {
		next, stop := iter.Pull(read(dir, f))
		defer stop()
		if now, more := next(); more {
			open = append(open, &source{next, now})
		}
	}
	for len(open) > 0 && ctx.Err() == nil {
		best := 0
		for i, s := range open {
			if s.now.err != nil {
				return s.now.err
			}
			if first(s.now.record, open[best].now.record) {
				best = i
			}
		}
		if err := fn(open[best].now.record); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
		now, more := open[best].next()
		if open[best].now = now; !more {
			open = append(open[:best], open[best+1:]...)
		}
	}
	return ctx.Err()
}

// Enough ends a reading.
func Enough() error { return errStop }

// forward gives the records of a log in the order of time.
func (r Reader) forward(dir string, f Filter) iter.Seq[outcome] {
	return func(yield func(outcome) bool) {
		err := newCursor(dir, position{}).read(func(rec *Record) error {
			if f.Matches(rec) && !yield(outcome{record: rec}) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(outcome{err: err})
		}
	}
}

// backward gives the records of a log, the newest first.
func (r Reader) backward(dir string, f Filter) iter.Seq[outcome] {
	return func(yield func(outcome) bool) {
		all, err := segmentsOf(dir)
		if err != nil {
			yield(outcome{err: err})
			return
		}
		for i := len(all) - 1; i >= 0; i-- {
			more, err := segmentBackward(all[i], f, yield)
			if err != nil {
				yield(outcome{err: err})
			}
			if r.Progress != nil {
				r.Progress(len(all)-i, len(all))
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// segmentBackward gives the records of a segment, the newest first. It says whether older ones can be
// wanted.
func segmentBackward(s segment, f Filter, yield func(outcome) bool) (more bool, err error) {
	text, err := s.read()
	if err != nil {
		return false, err
	}
	reader := newSegmentReader()
	var lines [][]byte
	for len(text) > 0 {
		raw, rest, whole := bytes.Cut(text, []byte{'\n'})
		if text = rest; !whole {
			break
		}
		switch kindOf(raw) {
		case "told", "event":
			lines = append(lines, raw)
		default:
			if _, err := reader.line(raw); err != nil {
				return false, inSegment(s, err)
			}
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		rec, err := reader.line(lines[i])
		switch {
		case err != nil:
			return false, inSegment(s, err)
		case f.Matches(rec):
			if !yield(outcome{record: rec}) {
				return false, nil
			}
		case f.Since != 0 && rec.At < f.Since-sortedWithin:
			return false, nil
		}
	}
	return true, nil
}

// sortedWithin is by how many milliseconds the records of a log may be out of order: one has the time
// at which it was asked for.
const sortedWithin resources.Time = 60_000

func inSegment(s segment, err error) error {
	return fmt.Errorf("%s: %w", filepath.Base(s.path), err)
}

// Follow hands over the records that are written from now on, until the context ends. It looks when it
// is told to.
func (r Reader) Follow(ctx context.Context, f Filter, look <-chan struct{}, fn func(*Record) error) error {
	cursors := map[string]*cursor{}
	for first := true; ; first = false {
		dirs, err := logsIn(r.Dir)
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			if cursors[dir] == nil {
				cursors[dir] = newCursor(dir, position{})
			}
			err := cursors[dir].read(func(rec *Record) error {
				if first || !f.Matches(rec) {
					return nil
				}
				return fn(rec)
			})
			if err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look:
		}
	}
}
