package private

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// Sessions keeps who is signed in to the console (resources/sessions). Errors of what a person did are *resources.Error.
type Sessions interface {
	// NewCode makes a code with which a user signs in, once.
	NewCode(ctx context.Context, user string) (code string, err error)
	// Begin keeps a session for an access token, and Redeem one with a code.
	Begin(ctx context.Context, token string) (secret string, err error)
	Redeem(ctx context.Context, code string) (secret string, err error)
	// Session returns the session of a secret, nil if there is none.
	Session(ctx context.Context, secret string, used bool) (*resources.ConsoleSession, error)
	// End ends a session, EndAll all sessions of its user.
	End(ctx context.Context, secret string) error
	EndAll(ctx context.Context, secret string) error
}

// The operations on sessions, which end the path.
const (
	sessionsPath  = "/console/sessions/"
	doBegin       = "begin"
	doRedeem      = "redeem"
	doRead        = "read"
	doEnd         = "end"
	doEndAll      = "end-all"
	maxSessionAsk = 64 << 10 // bytes
)

// sessionAsk is what a console asks of sessions. Each operation reads its own members.
type sessionAsk struct {
	Token  string `json:"token,omitempty"`
	Code   string `json:"code,omitempty"`
	Secret string `json:"secret,omitempty"`
	Used   bool   `json:"used,omitempty"`
}

// sessionReply is the answer. Refused is why a person can't sign in.
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

// console returns the service with console:sessions that calls, or refuses the caller.
func (l *Listener) console(w http.ResponseWriter, r *http.Request) (caller resources.Principal, ok bool) {
	if l.Sessions == nil || l.Visitors.Authn == nil {
		http.Error(w, "this process has no console; ask the gateway", http.StatusNotFound)
		return caller, false
	}
	caller, err := l.Visitors.Authn.Authenticate(r.Context(), r.Header.Values("Authorization"), nil)
	if err == nil && !caller.HasScope(resources.ServiceScopeConsole) {
		err = &resources.Error{Kind: resources.KindForbidden, Message: "this is for a service with " + resources.ServiceScopeConsole}
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

// sessions answers POST /console/sessions/{do} for a console in a process of its own, a service with console:sessions.
func (l *Listener) sessions(w http.ResponseWriter, r *http.Request) {
	if _, ok := l.console(w, r); !ok {
		return
	}
	var ask sessionAsk
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSessionAsk)).Decode(&ask); err != nil {
		http.Error(w, "the body is not the JSON of a question, or too large", http.StatusBadRequest)
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
		l.Log.Error("sessions of the console could not be kept", "request_id", w.Header().Get("X-Request-ID"), "error", err.Error())
		refuseVisitor(w, resources.Unavailable("sessions can't be read now; try again", err))
	default:
		tell(w, reply)
	}
}

var errNoOperation = errors.New("there is no such operation on sessions")

// do does what was asked.
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

// tell answers with a secret, which nobody keeps on the way.
func tell(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer) // a client that is gone needs no answer
}
