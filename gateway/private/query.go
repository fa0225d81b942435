package private

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// Query says which decisions are wanted, on the command line and in a URL alike.
type Query struct {
	decisions.Search
	// Limit is how many decisions at most; 0 is all.
	Limit int
	// Oldest gives them in the order of time, Follow goes on with those that are made from now on.
	Oldest, Follow bool
	// From is when those were made with which Follow begins; 0 is now.
	From resources.Time
	// Seen, where it is not nil, reports whether a decision may be handed over.
	Seen func(*decisionlog.Record) (bool, error)
}

// texts returns the parts of a query that are texts, by their names.
func (q *Query) texts() map[string]*string {
	return map[string]*string{
		"id": &q.ID, "user": &q.User, "account": &q.Account, "action": &q.Action, "place": &q.Place, "path": &q.Path,
		"verdict": &q.Verdict, "since": &q.Since, "until": &q.Until,
	}
}

func (q *Query) values() url.Values {
	v := url.Values{}
	for name, text := range q.texts() {
		if *text != "" {
			v.Set(name, *text)
		}
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Oldest {
		v.Set("order", "oldest")
	}
	if q.Follow {
		v.Set("follow", "true")
	}
	if q.From != 0 {
		v.Set("from", q.From.String())
	}
	return v
}

// readQuery reads the query of a URL. A parameter without a value is refused: it would drop a filter.
func readQuery(raw string) (q Query, err error) {
	v, err := url.ParseQuery(raw)
	if err != nil {
		return q, errors.New("the query must be well-formed, with its values percent-encoded")
	}
	for name := range v {
		switch text := q.texts()[name]; {
		case len(v[name]) != 1:
			err = errors.Join(err, fmt.Errorf("%s: must be sent once", name))
		case text != nil && v.Get(name) != "":
			*text = v.Get(name)
		case name == "limit":
			n, bad := strconv.Atoi(v.Get(name))
			if q.Limit = n; bad != nil || n < 0 {
				err = errors.Join(err, errors.New("limit: must be a number of decisions, 0 for all"))
			}
		case name == "order" && (v.Get(name) == "oldest" || v.Get(name) == "newest"):
			q.Oldest = v.Get(name) == "oldest"
		case name == "follow" && (v.Get(name) == "true" || v.Get(name) == "false"):
			q.Follow = v.Get(name) == "true"
		case name == "from":
			moment, bad := time.Parse(time.RFC3339, v.Get(name))
			if q.From = resources.At(moment); bad != nil {
				err = errors.Join(err, errors.New("from: must be a time as 2026-01-31T12:00:00Z"))
			}
		default:
			err = errors.Join(err, fmt.Errorf("%s: must be a known parameter with one of its values", name))
		}
	}
	return q, err
}

// lookEvery is how often a follower looks for new decisions.
const lookEvery = 250 * time.Millisecond

// Read hands over the decisions of a log's folder. input renders what policy read of a recorded question.
func (q *Query) Read(ctx context.Context, r decisionlog.Reader, input decisionlog.Input, fn func(decisionlog.Event) error) error {
	now := time.Now()
	f, err := q.Filter(now)
	if err != nil {
		return err
	}
	count := 0
	each := func(rec *decisionlog.Record) error {
		if q.Seen != nil {
			if seen, err := q.Seen(rec); err != nil || !seen {
				return err
			}
		}
		e := rec.Event(input)
		if q.ID != "" && !q.Follow {
			if e.Place, err = rec.Place(); err != nil {
				return err
			}
		}
		if err := fn(e); err != nil {
			return err
		}
		if count++; count == q.Limit && !q.Follow {
			return decisionlog.Enough()
		}
		return nil
	}
	switch {
	case q.Follow:
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		return r.Follow(ctx, f, cmp.Or(q.From, resources.At(now)), tick.C, each)
	case q.Oldest:
		return r.Oldest(ctx, f, each)
	}
	return r.Newest(ctx, f, each)
}
