package private

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// Sessions stores the console's sessions (resources/sessions). A person's fault is a *resources.Error.
type Sessions interface {
	// NewCode makes a one-time code that signs a user in.
	NewCode(ctx context.Context, user string) (code string, err error)
	// Begin begins a session with an access token, Redeem with a code.
	Begin(ctx context.Context, token string) (secret string, err error)
	Redeem(ctx context.Context, code string) (secret string, err error)
	// Session returns the session of a secret, or nil.
	Session(ctx context.Context, secret string, used bool) (*resources.ConsoleSession, error)
	// End ends a session, EndAll all sessions of its user.
	End(ctx context.Context, secret string) error
	EndAll(ctx context.Context, secret string) error
}

// The operations on sessions. An operation is the last segment of the path.
const (
	sessionsPath  = "/console/sessions/"
	doBegin       = "begin"
	doRedeem      = "redeem"
	doRead        = "read"
	doEnd         = "end"
	doEndAll      = "end-all"
	maxSessionAsk = 64 << 10 // bytes
)

// sessionAsk is the body of a request. Each operation reads its own members.
type sessionAsk struct {
	Token  string `json:"token,omitempty"`
	Code   string `json:"code,omitempty"`
	Secret string `json:"secret,omitempty"`
	Used   bool   `json:"used,omitempty"`
}

// sessionReply is the body of a response. Refused says why a person can't sign in.
type sessionReply struct {
	Secret  string       `json:"secret,omitempty"`
	Session *sessionRead `json:"session,omitempty"`
	Refused string       `json:"refused,omitempty"`
}

// sessionRead has the fields of resources.ConsoleSession.
type sessionRead struct {
	UserID    string         `json:"user_id"`
	AccountID string         `json:"account_id"`
	Token     string         `json:"token"`
	EndsAt    resources.Time `json:"ends_at"`
}

// console authenticates a service with console:sessions. It answers other callers and returns false.
func (l *Listener) console(w http.ResponseWriter, r *http.Request) (caller resources.Principal, ok bool) {
	if l.Sessions == nil || l.Visitors.Authn == nil {
		http.Error(w, "this process has no sessions: call the private listener of a gateway", http.StatusNotFound)
		return caller, false
	}
	caller, err := l.Visitors.Authn.Authenticate(r.Context(), r.Header.Values("Authorization"), nil)
	if err == nil && !caller.HasScope(resources.ServiceScopeConsole) {
		err = &resources.Error{Kind: resources.KindForbidden, Message: "the token lacks the scope " + resources.ServiceScopeConsole}
	}
	if err != nil {
		refuseVisitor(w, err)
	}
	return caller, err == nil
}

// links answers POST /console/links?user=ID for a service with console:sessions.
func (l *Listener) links(w http.ResponseWriter, r *http.Request) {
	caller, ok := l.console(w, r)
	if !ok {
		return
	}
	user := r.URL.Query().Get("user")
	code, err := l.Sessions.NewCode(r.Context(), user)
	if err != nil {
		refuseVisitor(w, err)
		return
	}
	l.Log.Info("a link to the console was made", "user", user, "principal", caller.ID)
	tell(w, map[string]string{"code": code})
}

// sessions answers POST /console/sessions/{do} for a console in a separate process (console:sessions).
func (l *Listener) sessions(w http.ResponseWriter, r *http.Request) {
	if _, ok := l.console(w, r); !ok {
		return
	}
	var ask sessionAsk
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSessionAsk)).Decode(&ask); err != nil {
		http.Error(w, "the body must be a JSON object of at most 64 KiB", http.StatusBadRequest)
		return
	}
	reply, err := l.do(r, &ask)
	if refused, ok := errors.AsType[*resources.Error](err); ok && refused.Kind != resources.KindUnavailable && refused.Kind != resources.KindInternal {
		reply, err = sessionReply{Refused: refused.Message}, nil
	}
	switch {
	case errors.Is(err, errNoOperation):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		l.Log.Error("an operation on console sessions failed", "operation", r.PathValue("do"), "request_id", w.Header().Get("X-Request-ID"), "error", err.Error())
		refuseVisitor(w, resources.Unavailable("the session store is unavailable; try again", err))
	default:
		tell(w, reply)
	}
}

var errNoOperation = errors.New("sessions have the operations begin, redeem, read, end and end-all")

// do runs the operation in the path.
func (l *Listener) do(r *http.Request, ask *sessionAsk) (reply sessionReply, err error) {
	ctx := r.Context()
	switch r.PathValue("do") {
	case doBegin:
		reply.Secret, err = l.Sessions.Begin(ctx, ask.Token)
	case doRedeem:
		reply.Secret, err = l.Sessions.Redeem(ctx, ask.Code)
	case doRead:
		var s *resources.ConsoleSession
		if s, err = l.Sessions.Session(ctx, ask.Secret, ask.Used); err == nil && s != nil {
			reply.Session = &sessionRead{s.UserID, s.AccountID, s.Token, s.EndsAt}
		}
	case doEnd:
		err = l.Sessions.End(ctx, ask.Secret)
	case doEndAll:
		err = l.Sessions.EndAll(ctx, ask.Secret)
	default:
		err = errNoOperation
	}
	return reply, err
}

// tell returns a JSON body with a secret, and forbids caches to store it.
func tell(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer) // fails only if the client has gone
}
