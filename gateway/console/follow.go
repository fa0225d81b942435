package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

const (
	// maxFollowers limits the pages that follow decisions at the same time. One account has 200 of them at most (gate.Share).
	maxFollowers = 228
	// followRows limits the rows of one response.
	followRows = "10"
	// followWait is how long the API waits for a decision. followWithin is the deadline of the call.
	followWait   = "20s"
	followWithin = 25 * time.Second
	// gatherFor is the mean time between two requests of a page for newer decisions. Each wait differs by up to
	// gatherFor/2, so that many pages don't ask at the same moment.
	gatherFor = time.Second
)

// followers counts the pages that follow decisions.
type followers struct {
	places *gate.Gate
	// ended is cancelled at the console's shutdown.
	ended context.Context
	end   context.CancelFunc
}

func newFollowers() *followers {
	f := &followers{places: gate.New(maxFollowers, 0)}
	f.ended, f.end = context.WithCancel(context.Background())
	return f
}

// enter takes a place until leave is called. It returns false if all are taken, or the account's share of them. The
// console's shutdown cancels the context.
func (f *followers) enter(parent context.Context, account string) (ctx context.Context, leave func(), ok bool) {
	if f.places.TryEnter() != nil {
		return nil, nil, false
	}
	if f.places.Share(account) != nil {
		f.places.Leave()
		return nil, nil, false
	}
	ctx, cancel := context.WithTimeout(parent, followWithin)
	stop := context.AfterFunc(f.ended, cancel)
	return ctx, func() {
		stop()
		cancel()
		f.places.Unshare(account)
		f.places.Leave()
	}, true
}

// Close ends the requests of followers. Register it with the server's shutdown, which waits for open requests.
func (c *Console) Close() { c.followers.end() }

// scripted handles requests of the script. They don't restart the session's idle timeout.
func (c *Console) scripted(answer func(*page)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		secret := c.cookie(r, sessionCookie)
		if session := c.unusedSession(w, r, secret); session != nil {
			answer(&page{c: c, w: w, r: r, session: session, secret: secret, api: &client{api: c.cfg.API, token: session.Token, requestID: r.Header.Get("X-Request-ID")}})
		}
	}
}

// unusedSession returns the session of a secret without restarting its idle timeout. Without a session it answers the
// script and returns nil.
func (c *Console) unusedSession(w http.ResponseWriter, r *http.Request, secret string) *resources.ConsoleSession {
	session, err := c.cfg.Sessions.Session(r.Context(), secret, false)
	switch {
	case err != nil:
		c.cfg.Log.Error("reading a console session failed", "request_id", r.Header.Get("X-Request-ID"), "error", err.Error())
		plain(w, http.StatusServiceUnavailable, "the console can't read sessions now")
		return nil
	case session == nil:
		plain(w, http.StatusUnauthorized, "the session has ended")
	}
	return session
}

// follow returns the rows of newer decisions and the cursor after them. It calls the API once: a second call would make
// a decision, which would wake the page again.
func follow(p *page) {
	ctx, leave, ok := p.c.followers.enter(p.r.Context(), p.session.AccountID)
	if !ok {
		p.w.Header().Set("Retry-After", "30")
		plain(p.w, http.StatusServiceUnavailable, "too many pages follow the decisions of this console")
		return
	}
	defer leave()
	select {
	case <-time.After(gatherFor/2 + rand.N(gatherFor)): //nolint:gosec // it spreads load and protects nothing
	case <-ctx.Done():
	}
	query := readDecisionFilters(p).query()
	query.Set("after", p.field("after"))
	query.Set("wait", followWait)
	query.Set("page_size", followRows)
	query.Set("newest", "true")
	var answer json.RawMessage
	if err := p.api.get(ctx, p.account("decisions"), query, &answer); err != nil {
		unshown(p.w, err)
		return
	}
	if p.c.unusedSession(p.w, p.r, p.secret) == nil { // the session ended during the wait
		return
	}
	rows, err := p.c.rendered.rows(answer, p.c.templates)
	if err != nil {
		p.c.cfg.Log.Error("new decisions can't be shown", "request_id", p.r.Header.Get("X-Request-ID"), "error", err.Error())
		plain(p.w, http.StatusInternalServerError, "the decisions can't be shown")
		return
	}
	p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	p.w.Header().Set("X-After", rows.after)
	p.w.Header().Set("X-Left-Out", strconv.FormatBool(rows.leftOut))
	_, _ = p.w.Write(rows.html) // fails only if the client has gone
}

// unshown returns to the script why the API refused the rows.
func unshown(w http.ResponseWriter, err error) {
	if refused, isAPI := errors.AsType[*apiError](err); isAPI {
		plain(w, refused.Status, refused.Message)
		return
	}
	plain(w, http.StatusServiceUnavailable, "the gateway does not answer")
}

// part renders a part of a page.
func (p *page) part(template, name string, data any) {
	var out bytes.Buffer
	if err := p.c.templates.pages[template].ExecuteTemplate(&out, name, data); err != nil {
		p.c.cfg.Log.Error("a part of a page can't be shown", "page", template, "part", name, "error", err.Error())
		plain(p.w, http.StatusInternalServerError, "the part can't be shown")
		return
	}
	p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = p.w.Write(out.Bytes()) // fails only if the client has gone
}

// plain returns one sentence to the script.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // fails only if the client has gone
}
