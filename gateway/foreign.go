package gateway

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Listener returns a listener of another protocol (its name in ALPN), on which proxies ask. Its connections count as the
// edge's own and have its TLS.
func (e *Edge) Listener(l net.Listener, protocol string) net.Listener {
	return e.open.Listener(l, e.cfg.Certificates.ProxyConfig(protocol))
}

// Foreign has a call answered that came in another protocol: within the bounds of requests under way,
// for an authenticated caller within their rates, in the time of any request. It is recorded like one
// of HTTP with the status that it would have, and returns the id under which it was. Errors are
// *resources.Error.
func (e *Edge) Foreign(ctx context.Context, c doors.Foreign) (answer doors.Answer, requestID string, err error) {
	started := e.cfg.Now()
	life := &lifetime{parent: ctx, deadline: time.Now().Add(e.cfg.Limits.Handle)}
	defer life.end()
	r := &Record{RequestID: c.RequestID, Method: c.Method, Path: c.Path, Scheme: e.scheme(), Route: c.Route, Template: c.Path, Original: c.Original}
	if !ValidRequestID(r.RequestID) {
		r.RequestID = e.cfg.IDs.ULID()
	}
	end := func(*Record) {}
	if e.cfg.Tracing != nil {
		life.parent, r.TraceID, end = e.cfg.Tracing.Begin(life.parent, c.Method, "")
	}
	answer, err = e.answerForeign(life, c, r)
	r.Status = answer.Status
	if err != nil {
		domain := resources.AsError(err)
		r.Status = wire.Status(domain.Kind)
		if r.Reason == "" { // no decision was reached
			r.Reason = domain.Message
		}
		r.Err = loggable(err, domain)
		r.Unauthorized = authn.ReasonOf(err)
		r.Problems = inOneLine(domain.Problems)
		err = domain
	}
	r.ended(started, e.cfg.Now())
	end(r)
	e.observe(*r)
	return answer, r.RequestID, err
}

// answerForeign goes through the steps; a panic becomes an internal error.
func (e *Edge) answerForeign(life *lifetime, c doors.Foreign, r *Record) (answer doors.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = doors.Answer{}, fmt.Errorf("gateway: panic: %v\n%s", p, debug.Stack())
		}
	}()
	if err := e.gate.TryEnter(); err != nil {
		return doors.Answer{}, err
	}
	defer e.gate.Leave()
	caller := resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone}
	if !c.Open {
		if caller, err = e.foreigner(life, c, r); err != nil {
			return doors.Answer{}, err
		}
		account := turnsOf(&caller)
		life.of(account)
		if err := e.gate.Share(account); err != nil {
			return doors.Answer{}, err
		}
		defer e.gate.Unshare(account)
		if e.cfg.Rates.ofCallers() {
			if _, err := e.cfg.Rates.ofCaller(life, r, &caller, 1); err != nil {
				return doors.Answer{}, err
			}
		}
	}
	answer, err = c.Answer(life, caller, r.RequestID)
	r.Account, r.Subject, r.Action = answer.Question.AccountID, answer.Question.SubjectID, answer.Question.Action.ID
	r.judged(answer.Verdict)
	return answer, err
}

// foreigner finds out who calls, as identify does.
func (e *Edge) foreigner(ctx context.Context, c doors.Foreign, r *Record) (caller resources.Principal, err error) {
	if len(c.Problems) > 0 {
		return caller, resources.BadRequest(c.Problems...)
	}
	err = e.cfg.Rates.ofFailures(ctx, r, func() string { return listen.PeerOf(c.Peer).String() }, func() (err error) {
		caller, err = e.cfg.Authn.Authenticate(ctx, c.Authorization, c.APIKey)
		return err
	})
	if err != nil {
		return resources.Principal{}, err
	}
	r.Principal, r.KeyID = caller.ID, caller.KeyID
	return caller, nil
}
