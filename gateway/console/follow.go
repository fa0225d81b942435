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
	// gatherFor is how long new decisions gather before a page asks for them: a page asks once in that time at most,
	// however many decisions there are.
	gatherFor = time.Second
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

// scripted answers requests of the script. They are not a use of the session.
func (c *Console) scripted(answer func(*page)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		secret := c.cookie(r, sessionCookie)
		session, err := c.cfg.Sessions.Session(r.Context(), secret, false)
		switch {
		case err != nil:
			c.cfg.Log.Error("a session of the console could not be read", "request_id", r.Header.Get("X-Request-ID"), "error", err.Error())
			plain(w, http.StatusServiceUnavailable, "the console can't read sessions now")
			return
		case session == nil:
			plain(w, http.StatusUnauthorized, "the session is over")
			return
		}
		answer(&page{c: c, w: w, r: r, session: session, secret: secret, api: &client{api: c.cfg.API, token: session.Token, requestID: r.Header.Get("X-Request-ID")}})
	}
}

// follow answers the script with the rows of newer decisions and the cursor behind them. The call of the API is the only
// one that it makes: another one would be a decision of its own, and wake the page again.
func follow(p *page) {
	ctx, leave, ok := p.c.followers.enter(p.r.Context())
	if !ok {
		p.w.Header().Set("Retry-After", "30")
		plain(p.w, http.StatusServiceUnavailable, "too many pages follow the decisions of this console")
		return
	}
	defer leave()
	select {
	case <-time.After(gatherFor):
	case <-ctx.Done():
	}
	query := readDecisionFilters(p).query()
	query.Set("after", p.field("after"))
	query.Set("wait", followWait)
	query.Set("page_size", followRows)
	var answer decisionPage
	if err := p.api.get(ctx, p.account("decisions"), query, &answer); err != nil {
		unshown(p.w, err)
		return
	}
	p.w.Header().Set("X-After", answer.After)
	slices.Reverse(answer.Decisions) // the API has the oldest first
	p.part("decisions", "rows", answer.Decisions)
}

// unshown answers the script with why there is nothing to show.
func unshown(w http.ResponseWriter, err error) {
	if refused, isAPI := errors.AsType[*apiError](err); isAPI {
		plain(w, refused.Status, refused.Message)
		return
	}
	plain(w, http.StatusServiceUnavailable, "the gateway gave no answer")
}

// part answers with a part of a page.
func (p *page) part(template, name string, data any) {
	var out bytes.Buffer
	if err := p.c.templates.pages[template].ExecuteTemplate(&out, name, data); err != nil {
		p.c.cfg.Log.Error("a part of a page can't be shown", "page", template, "part", name, "error", err.Error())
		plain(p.w, http.StatusInternalServerError, "the part can't be shown")
		return
	}
	p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = p.w.Write(out.Bytes()) // a client that is gone reads nothing
}

// plain answers the script with a sentence.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a client that is gone reads nothing
}
