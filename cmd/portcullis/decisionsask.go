package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// privateLog is the decision log of a running gateway.
type privateLog struct {
	// url is that of the private listener.
	url string
	// token is the caller's; where it is "", the data folder's key signs one for each request.
	token    string
	settings *config.Config
}

// bearer returns the token of a request. One that is signed outlives the longest answer.
func (l *privateLog) bearer() (string, error) {
	if l.token != "" {
		return l.token, nil
	}
	token, err := sign(l.settings, authn.TokenRequest{
		Subject: resources.ServicePrefix + "decisions", Scopes: []string{resources.ServiceScopeExplain}, TTL: followWithin + time.Minute,
	})
	if err != nil {
		return "", fmt.Errorf("there is no --token, and none can be signed: %w", err)
	}
	return token, nil
}

// ask hands over the decisions of a running gateway. It follows on where the gateway has ended an answer.
func (q *decisionsQuery) ask(ctx context.Context, l privateLog, fn func(decisionlog.Event) error) error {
	if _, err := q.filter(time.Now()); err != nil {
		return err
	}
	asked, met := *q, overlap{}
	for {
		err := asked.once(ctx, l, func(e decisionlog.Event) error {
			if q.follow && met.before(&e) {
				return nil
			}
			return fn(e)
		})
		if err != nil || !q.follow || ctx.Err() != nil {
			return err
		}
		asked.from = met.from(asked.from)
	}
}

// once hands over the decisions of one answer.
func (q *decisionsQuery) once(ctx context.Context, l privateLog, fn func(decisionlog.Event) error) error {
	address, err := decisionsURL(l.url, q.values())
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	token, err := l.bearer()
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := askPrivate(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	for dec := json.NewDecoder(resp.Body); ; {
		var e decisionlog.Event
		switch err := dec.Decode(&e); {
		case ctx.Err() != nil:
			return nil
		case err != nil && resp.Trailer.Get(trailerWhole) != "":
			return nil
		case err != nil:
			return fmt.Errorf("the gateway broke off: %w", err)
		case e.DecisionID == "":
			return errors.New("the gateway sent a line that is no decision: --url must be the private listener of a gateway")
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
	known  map[string]resources.Time
	// room is how many are known before the old ones are forgotten.
	room int
}

// before notes a decision, and reports whether it was met before.
func (o *overlap) before(e *decisionlog.Event) bool {
	if _, met := o.known[e.DecisionID]; met {
		return true
	}
	var at resources.Time
	if at.UnmarshalJSON([]byte(`"`+e.Timestamp+`"`)) != nil {
		return false // which no log has
	}
	if len(o.known) >= o.room {
		o.forget()
	}
	o.newest, o.known[e.DecisionID] = max(o.newest, at), at
	return false
}

// forget forgets those with which no answer begins any more.
func (o *overlap) forget() {
	const least = 1024
	kept := map[string]resources.Time{}
	for id, at := range o.known {
		if at >= o.newest-unordered {
			kept[id] = at
		}
	}
	o.known, o.room = kept, max(least, 2*len(kept))
}

// from returns where the next answer begins, for one that began there.
func (o *overlap) from(began resources.Time) resources.Time { return max(began, o.newest-unordered) }
