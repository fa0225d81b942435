package private

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// Log is the decision log of a running gateway.
type Log struct {
	// URL is that of the private listener.
	URL string
	// Bearer returns the token of a request. It must outlive FollowWithin, which is the longest answer.
	Bearer func() (string, error)
}

// Ask hands over the decisions of a running gateway. It follows on where the gateway has ended an answer.
func (q *Query) Ask(ctx context.Context, l Log, fn func(decisionlog.Event) error) error {
	if _, err := q.Filter(time.Now()); err != nil {
		return err
	}
	asked, met := *q, overlap{}
	for {
		err := asked.once(ctx, l, func(e decisionlog.Event) error {
			if q.Follow && met.before(&e) {
				return nil
			}
			return fn(e)
		})
		if err != nil || !q.Follow || ctx.Err() != nil {
			return err
		}
		asked.From = met.begin(asked.From)
	}
}

// once hands over the decisions of one answer.
func (q *Query) once(ctx context.Context, l Log, fn func(decisionlog.Event) error) error {
	address, err := decisionsURL(l.URL, q.values())
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	token, err := l.Bearer()
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	for dec := json.NewDecoder(resp.Body); ; {
		var e decisionlog.Event
		switch err := dec.Decode(&e); {
		case ctx.Err() != nil && q.Follow: // a follower ends so
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && resp.Trailer.Get(TrailerWhole) != "":
			return nil
		case err != nil:
			return fmt.Errorf("the gateway broke off: %w", err)
		case e.DecisionID == "":
			return errors.New("--url: the server sent a line that is not a decision; name the private listener of a gateway")
		}
		if err := fn(e); err != nil {
			return err
		}
	}
}

// unordered is by how much decisions may be out of the order of their times where they are followed.
const unordered = resources.Time(10_000)

// overlap knows the newest decisions that a follower has met. The next answer begins with them.
type overlap struct {
	newest resources.Time
	times  map[string]resources.Time
	// room is how many are known before the old ones are forgotten.
	room int
}

// before notes a decision, and reports whether it was met before.
func (o *overlap) before(e *decisionlog.Event) bool {
	if _, met := o.times[e.DecisionID]; met {
		return true
	}
	var moment resources.Time
	if moment.UnmarshalJSON([]byte(`"`+e.Timestamp+`"`)) != nil {
		return false // which no log has
	}
	if len(o.times) >= o.room {
		o.forget()
	}
	o.newest, o.times[e.DecisionID] = max(o.newest, moment), moment
	return false
}

// forget forgets those with which no answer begins any more.
func (o *overlap) forget() {
	const least = 1024
	kept := map[string]resources.Time{}
	for id, moment := range o.times {
		if moment >= o.newest-unordered {
			kept[id] = moment
		}
	}
	o.times, o.room = kept, max(least, 2*len(kept))
}

// begin returns the beginning of the next answer, from the beginning of the last one.
func (o *overlap) begin(began resources.Time) resources.Time { return max(began, o.newest-unordered) }

// decisionsURL returns the address of the decisions of a running gateway.
func decisionsURL(private string, query url.Values) (string, error) {
	base, err := url.Parse(private)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return "", fmt.Errorf("--url: must be http://host:port of a private listener, not %q", private)
	}
	link := base.JoinPath("decisions")
	link.RawQuery = query.Encode()
	return link.String(), nil
}
