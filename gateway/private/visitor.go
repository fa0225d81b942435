package private

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// seenFor is how long a visitor's credential and rights count before they are checked anew.
const seenFor = time.Second

// Visitors finds out who calls the private listener, and what policy lets them see.
type Visitors struct {
	// Authn is nil in a process that knows no callers.
	Authn *authn.Authenticator
	// Row returns the row with that name from the catalogue in use, nil for none.
	Row   func(name string) *route.Row
	Judge *verdict.Judge
}

// visitor is a caller of the private listener. They see an account if the policy in force allows them all of some
// routes in it. These routes answer with the same data on the public listener.
type visitor struct {
	*Visitors
	authorization, apiKey []string
	rights                []string
	now                   func() time.Time

	caller resources.Principal
	// judged is when the credential was last checked; known is what was judged since.
	judged time.Time
	seen   map[string]bool
	rows   []*route.Row
}

// admit returns the visitor of a request, or refuses it: 401 without a valid credential, 403 without the right to the
// routes. A user's right is judged in their own account, a service's in none.
func (v *Visitors) admit(w http.ResponseWriter, r *http.Request, rights ...string) *visitor {
	if v.Authn == nil {
		http.Error(w, "this process knows no callers; ask the gateway", http.StatusNotFound)
		return nil
	}
	caller := &visitor{Visitors: v, authorization: r.Header.Values("Authorization"), apiKey: r.Header.Values("X-API-Key"), rights: rights, now: time.Now}
	if err := caller.judge(r.Context()); err != nil {
		refuseVisitor(w, err)
		return nil
	}
	return caller
}

// refuseVisitor answers with the error in one line.
func refuseVisitor(w http.ResponseWriter, err error) {
	domain := resources.AsError(err)
	switch status := wire.Status(domain.Kind); status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, resources.OneLine(domain.Message), wire.Status(domain.Kind))
}

// judge checks the credential, and whether the visitor sees any account at all. Errors are *resources.Error.
func (v *visitor) judge(ctx context.Context) (err error) {
	v.judged, v.seen = v.now(), map[string]bool{}
	v.caller, err = v.Authn.Authenticate(ctx, v.authorization, v.apiKey)
	switch {
	case resources.IsKind(err, resources.KindUnavailable):
		return err
	case err != nil || v.caller.Kind != resources.PrincipalUser && v.caller.Kind != resources.PrincipalService:
		return &resources.Error{Kind: resources.KindNoCredential, Message: "send the token of a caller who may explain decisions"}
	}
	if v.caller.Client.HasActor() {
		return resources.Forbidden("an agent can't make this call")
	}
	v.rows = nil
	for _, name := range v.rights {
		v.rows = append(v.rows, v.Row(name))
	}
	may, err := v.may(ctx, v.caller.AccountID)
	if err == nil && !may {
		err = &resources.Error{Kind: resources.KindForbidden, Message: fmt.Sprintf("policy lets the caller call %v in no account", v.rights)}
	}
	return err
}

// sees reports whether the visitor may read what the account made at that time; 0 is what it has now. For anything
// newer than the verdict on the visitor's rights, these are judged again.
func (v *visitor) sees(ctx context.Context, account string, made resources.Time) (bool, error) {
	if made >= resources.At(v.judged) || v.now().Sub(v.judged) > seenFor {
		if err := v.judge(ctx); err != nil {
			return false, err
		}
	}
	return v.may(ctx, account)
}

// may asks the policy in force, once for each account.
func (v *visitor) may(ctx context.Context, account string) (bool, error) {
	if may, ok := v.seen[account]; ok {
		return may, nil
	}
	judge, may := v.Judge.Quiet(), len(v.rows) > 0
	for _, row := range v.rows {
		if row == nil { // which nobody may call
			may = false
			continue
		}
		switch o := judge.Enter(ctx, &v.caller, row, row.Question(account, resources.Target{}, nil)); {
		case resources.IsKind(o.Err, resources.KindForbidden):
			may = false
		case o.Err != nil:
			return false, o.Err
		}
	}
	v.seen[account] = may
	return may, nil
}

// places bound the answers to visitors. Users can't take those of services, which operators are.
type places struct{ services, users *gate.Gate }

func newPlaces(each int) places { return places{gate.New(each, 0), gate.New(each, 0)} }

// enter takes a place for the visitor, or refuses them: 503. leave gives it back.
func (p places) enter(w http.ResponseWriter, v *visitor) (leave func(), entered bool) {
	gate := p.users
	if v.caller.Kind == resources.PrincipalService {
		gate = p.services
	}
	if gate.TryEnter() != nil {
		refuseVisitor(w, resources.Unavailable("other callers are being answered; retry in a moment", nil))
		return nil, false
	}
	return gate.Leave, true
}

// ReadWithin is how long a visitor may leave what was sent unread.
const ReadWithin = 30 * time.Second

// answer is a long answer to a visitor. It ends the connection, whose write deadline it has moved.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newAnswer(w http.ResponseWriter) answer {
	w.Header().Set("Connection", "close")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/x-ndjson")
	return answer{w, http.NewResponseController(w)}
}

// Write implements io.Writer.
func (a answer) Write(p []byte) (int, error) {
	a.wait()
	return a.ResponseWriter.Write(p)
}

// flush sends what is written.
func (a answer) flush() error {
	a.wait()
	return a.control.Flush()
}

// wait gives the visitor the time to read what is sent next.
func (a answer) wait() { _ = a.control.SetWriteDeadline(time.Now().Add(ReadWithin)) }
