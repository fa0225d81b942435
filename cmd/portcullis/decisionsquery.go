package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// decisionsQuery says which decisions are wanted, on the command line and in a URL alike.
type decisionsQuery struct {
	id, user, account, action, place, path, verdict, since, until string
	// limit is how many decisions at most; 0 is all.
	limit int
	// oldest gives them in the order of time, follow goes on with those that are made from now on.
	oldest, follow bool
	// from is when those were made with which follow begins; 0 is now.
	from resources.Time
	// seen, where it is not nil, reports whether a decision may be handed over.
	seen func(*decisionlog.Record) (bool, error)
}

// texts returns the parts of a query that are texts, by their names.
func (q *decisionsQuery) texts() map[string]*string {
	return map[string]*string{
		"id": &q.id, "user": &q.user, "account": &q.account, "action": &q.action, "place": &q.place, "path": &q.path,
		"verdict": &q.verdict, "since": &q.since, "until": &q.until,
	}
}

// values returns the query as that of a URL.
func (q *decisionsQuery) values() url.Values {
	v := url.Values{}
	for name, text := range q.texts() {
		if *text != "" {
			v.Set(name, *text)
		}
	}
	if q.limit > 0 {
		v.Set("limit", strconv.Itoa(q.limit))
	}
	if q.oldest {
		v.Set("order", "oldest")
	}
	if q.follow {
		v.Set("follow", "true")
	}
	if q.from != 0 {
		v.Set("from", q.from.String())
	}
	return v
}

// readDecisionsQuery reads the query of a URL.
func readDecisionsQuery(v url.Values) (q decisionsQuery, err error) {
	for name := range v {
		switch text := q.texts()[name]; {
		case len(v[name]) != 1:
			err = errors.Join(err, fmt.Errorf("%s: must be sent once", name))
		case text != nil:
			*text = v.Get(name)
		case name == "limit":
			n, bad := strconv.Atoi(v.Get(name))
			if q.limit = n; bad != nil || n < 0 {
				err = errors.Join(err, errors.New("limit: must be a number of decisions, 0 for all"))
			}
		case name == "order" && (v.Get(name) == "oldest" || v.Get(name) == "newest"):
			q.oldest = v.Get(name) == "oldest"
		case name == "follow" && (v.Get(name) == "true" || v.Get(name) == "false"):
			q.follow = v.Get(name) == "true"
		case name == "from":
			at, bad := time.Parse(time.RFC3339, v.Get(name))
			if q.from = resources.At(at); bad != nil {
				err = errors.Join(err, errors.New("from: must be a time as 2026-01-31T12:00:00Z"))
			}
		default:
			err = errors.Join(err, fmt.Errorf("%s: there is no such part of a query, or it has no such value", name))
		}
	}
	return q, err
}

// filter returns the query as a filter at this time.
func (q *decisionsQuery) filter(now time.Time) (f decisionlog.Filter, err error) {
	f = decisionlog.Filter{ID: q.id, User: q.user, Account: q.account, Action: q.action, Place: q.place, Path: q.path}
	switch allowed := q.verdict == "allow"; q.verdict {
	case "":
	case "allow", "deny":
		f.Allowed = &allowed
	default:
		err = errors.New("verdict: must be allow or deny")
	}
	for name, bound := range map[string]struct {
		text string
		to   *resources.Time
	}{"since": {q.since, &f.Since}, "until": {q.until, &f.Until}} {
		if bound.text == "" {
			continue
		}
		ago, notAgo := time.ParseDuration(bound.text)
		at, notTime := time.Parse(time.RFC3339, bound.text)
		switch {
		case notAgo == nil:
			*bound.to = resources.At(now.Add(-ago))
		case notTime == nil:
			*bound.to = resources.At(at)
		default:
			err = errors.Join(err, fmt.Errorf("%s: must be a time as 2026-01-31T12:00:00Z, or how long ago as 90m", name))
		}
	}
	return f, err
}

// lookEvery is how often a follower looks for new decisions.
const lookEvery = 250 * time.Millisecond

// read hands over the decisions of a data folder.
func (q *decisionsQuery) read(ctx context.Context, r decisionlog.Reader, fn func(decisionlog.Event) error) error {
	now := time.Now()
	f, err := q.filter(now)
	if err != nil {
		return err
	}
	count := 0
	each := func(rec *decisionlog.Record) error {
		if q.seen != nil {
			if seen, err := q.seen(rec); err != nil || !seen {
				return err
			}
		}
		if err := fn(rec.Event(engine.RecordedInput)); err != nil {
			return err
		}
		if count++; count == q.limit && !q.follow {
			return decisionlog.Enough()
		}
		return nil
	}
	switch {
	case q.follow:
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		return r.Follow(ctx, f, cmp.Or(q.from, resources.At(now)), ticks(ctx, tick), each)
	case q.oldest:
		return r.Oldest(ctx, f, each)
	}
	return r.Newest(ctx, f, each)
}

// ticks passes on the ticks until the context ends.
func ticks(ctx context.Context, tick *time.Ticker) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			select {
			case out <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
