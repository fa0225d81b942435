package console

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

const (
	// maxFollowers bounds the pages that follow decisions.
	maxFollowers = 200
	// followRows bounds the rows of one answer.
	followRows = "20"
	// followWait is how long the API waits for a decision; followWithin bounds the whole call.
	followWait   = "20s"
	followWithin = 25 * time.Second
)

// followers are the pages that follow decisions.
type followers struct {
	places chan struct{}
	// ended ends at the console's shutdown.
	ended context.Context
	end   context.CancelFunc
}

// newFollowers makes places for pages that follow.
func newFollowers() *followers {
	f := &followers{places: make(chan struct{}, maxFollowers)}
	f.ended, f.end = context.WithCancel(context.Background())
	return f
}

// enter takes a place until leave is called; false is that there is none. The context ends with the console.
func (f *followers) enter(parent context.Context) (ctx context.Context, leave func(), ok bool) {
	select {
	case f.places <- struct{}{}:
	default:
		return nil, nil, false
	}
	ctx, cancel := context.WithTimeout(parent, followWithin)
	stop := context.AfterFunc(f.ended, cancel)
	return ctx, func() {
		stop()
		cancel()
		<-f.places
	}, true
}

// Close ends the followers. Register it at the shutdown of the server, which waits for requests under way.
func (c *Console) Close() { c.followers.end() }

// follow answers the script with the rows of newer decisions and the cursor behind them. The call of the API is the only
// one that it makes: another one would be a decision of its own, and wake the page again.
func (c *Console) follow(w http.ResponseWriter, r *http.Request) {
	session, err := c.cfg.Sessions.Session(r.Context(), c.cookie(r, sessionCookie), false) // following is not a use of the session
	switch {
	case err != nil:
		c.cfg.Log.Error("a session of the console could not be read", "request_id", r.Header.Get("X-Request-ID"), "error", err.Error())
		plain(w, http.StatusServiceUnavailable, "the console can't read sessions now")
		return
	case session == nil:
		plain(w, http.StatusUnauthorized, "the session is over")
		return
	}
	ctx, leave, ok := c.followers.enter(r.Context())
	if !ok {
		w.Header().Set("Retry-After", "30")
		plain(w, http.StatusServiceUnavailable, "too many pages follow the decisions of this console")
		return
	}
	defer leave()
	p := &page{c: c, w: w, r: r, session: session, api: &client{api: c.cfg.API, token: session.Token, requestID: r.Header.Get("X-Request-ID")}}
	query := readDecisionFilters(p).query()
	query.Set("after", p.field("after"))
	query.Set("wait", followWait)
	query.Set("page_size", followRows)
	var answer decisionPage
	err = p.api.get(ctx, p.account("decisions"), query, &answer)
	refused, isAPI := errors.AsType[*apiError](err)
	switch {
	case isAPI:
		plain(w, refused.Status, refused.Message)
	case err != nil:
		plain(w, http.StatusServiceUnavailable, "the gateway gave no answer")
	default:
		w.Header().Set("X-After", answer.After)
		c.rows(w, answer.Decisions)
	}
}

// rows answers with rows of the list of decisions.
func (c *Console) rows(w http.ResponseWriter, all []decision) {
	slices.Reverse(all) // the API has the oldest first
	var out bytes.Buffer
	if err := c.templates.pages["decisions"].ExecuteTemplate(&out, "rows", all); err != nil {
		c.cfg.Log.Error("new decisions can't be shown", "error", err.Error())
		plain(w, http.StatusInternalServerError, "the rows can't be shown")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // a client that is gone reads nothing
}

// plain answers the script with a sentence.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a client that is gone reads nothing
}
