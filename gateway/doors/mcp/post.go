package mcp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// posted is a message with its era.
type posted struct {
	*message.Message
	era message.Era
}

// post handles a message of a client.
func (v *visit) post(ctx context.Context) (doors.Answer, error) {
	if json, utf8 := wire.MediaType(v.header("Content-Type")); !json || !utf8 || v.call.Encoded {
		return doors.Answer{}, &resources.Error{Kind: resources.KindUnsupportedMedia, Message: "A message must be application/json in UTF-8 without a Content-Encoding."}
	}
	m, fault := message.Read(v.call.Body)
	if fault != nil {
		return refuse(fault), nil
	}
	if m.Method == message.MethodCall { // tools alone need approvals
		stripped, input, err := m.TakeInput(v.call.Body, approvalKey)
		if err != nil {
			return doors.Answer{}, err
		}
		if stripped != nil {
			return v.retried(ctx, m, stripped, input)
		}
	}
	era, fault := m.Era(v.headers)
	if fault != nil {
		return refuse(fault), nil
	}
	p := &posted{m, era}
	if !v.openTasks(m) {
		return noTask(p), nil
	}
	switch class := m.Class(era); {
	case m.AsTask && m.Method != message.MethodCall:
		return unknown(p, "This gateway runs calls of tools as tasks, and nothing else."), nil
	case class == message.Passes, class == message.Levelled, class == message.Listed:
		return v.passed(ctx, p)
	case class == message.Answers:
		return v.answers(ctx, p)
	case class == message.Named:
		return v.judged(ctx, p, v.rowOf(p))
	case class == message.OfTask:
		return v.ofTask(ctx, p)
	case class == message.Streamed:
		return v.streamed(ctx, p)
	}
	return unknown(p, "This gateway does not support the method."), nil
}

// headers implements message.Headers.
func (v *visit) headers(name string) []string {
	values, ok := v.sent[name]
	if !ok {
		values, _ = v.call.Headers.Values(name)
	}
	return values
}

// header returns the first value of a header, or "".
func (v *visit) header(name string) string {
	if values := v.headers(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// refuse rejects a malformed message.
func refuse(f *message.Fault) doors.Answer { return doors.Answer{Status: f.Status, Body: f.Body()} }

// unknown rejects a method that the door does not support.
func unknown(p *posted, text string) doors.Answer {
	status := http.StatusOK
	if p.era == message.Modern {
		status = http.StatusNotFound
	}
	return doors.Answer{Status: status, Body: message.Error(p.ID, message.CodeMethodNotFound, text)}
}

// undecided answers a message without a verdict or without a response of the server. The client may retry, unless the
// rules over the arguments have failed.
func (v *visit) undecided(p *posted, err error) doors.Answer {
	v.Log.Warn("mcp: a message failed", "server", v.server.Name, "method", shortened(p.Method), "error", err.Error())
	if errors.Is(err, errRules) {
		return doors.Answer{Status: http.StatusOK, Body: message.Error(p.ID, message.CodeInternal, "The gateway can't judge the arguments.")}
	}
	return doors.Answer{
		Status: http.StatusOK, Header: []doors.Header{{Name: "Retry-After", Value: "1"}},
		Body: message.Error(p.ID, message.CodeInternal, "The gateway can't answer now; try again."),
	}
}

// notSent answers a message that the server has not got. named is the row of the message, or nil. An error of
// KindForbidden is a refused credential for the server.
func (v *visit) notSent(ctx context.Context, p *posted, named *row, err error) doors.Answer {
	if !resources.IsKind(err, resources.KindForbidden) {
		v.use.end(ctx, resources.MCPEndedByUpstream)
		return v.undecided(p, err)
	}
	v.use.end(ctx, resources.MCPEndedByGateway)
	v.Log.Warn("mcp: a message was denied", "server", v.server.Name, "method", shortened(p.Method), "error", err.Error())
	o, r := v.outcome, row{}
	if named == nil {
		o = &verdict.Outcome{}
	} else {
		r = *named
	}
	o.Allowed, o.Code = false, codeExchange
	return doors.Answer{Status: http.StatusOK, Body: v.denied(p, o, r)}
}

// rowOf returns the row that a message names.
func (v *visit) rowOf(p *posted) row {
	switch {
	case p.Method == message.MethodCall:
		return calling(toolRow(v.server, p.Name), p.Arguments)
	case p.Method == message.MethodPrompt:
		return promptRow(v.server, p.Name)
	case p.Method == message.MethodComplete && p.Ref.Type == message.RefPrompt:
		return promptRow(v.server, p.Ref.Name)
	case p.Method == message.MethodComplete:
		return rowAt(v.server, kindResource, p.Ref.URI)
	}
	return resourceRow(v.server, p.URI)
}

// judged judges a message by its row, and forwards an allowed one.
func (v *visit) judged(ctx context.Context, p *posted, r row) (doors.Answer, error) {
	out, err := v.ask(ctx, v.judge, r)
	if err != nil {
		if resources.IsKind(err, resources.KindUnavailable) {
			v.count(OutcomeUndecided)
			return v.undecided(p, err), nil
		}
		v.count(OutcomeDenied)
		return doors.Answer{}, err
	}
	o := &out[0]
	v.use = v.newUse(p, r, o)
	if o.Allowed {
		if err := v.hold(ctx, v.judge, o, r); err != nil {
			return v.unsent(ctx, p, codeUndecided, v.undecided(p, err), nil)
		}
	}
	a := doors.Answer{Action: r.action.ID, Outcome: *o}
	if !o.Allowed {
		a.Status, a.Body = http.StatusOK, v.denied(p, o, r)
		return v.unsent(ctx, p, o.Code, a, nil)
	}
	if p.Method == message.MethodCall {
		params, err := message.ParamHeaders(r.schema)
		if err != nil {
			return v.unsent(ctx, p, codeUndecided, v.undecided(p, err), nil)
		}
		if fault := p.ParamFault(v.headers, p.era, params); fault != nil {
			f := refuse(fault)
			a.Status, a.Body = f.Status, f.Body
			return v.unsent(ctx, p, codeHeader, a, nil)
		}
	}
	if a.Scopes = lacking(v.call.Caller, r); len(a.Scopes) > 0 {
		return v.unsent(ctx, p, codeScope, a, errScopes(a.Scopes))
	}
	v.outcome = &a.Outcome
	passed, err := v.forward(p, []row{r}, &r)
	passed.Action, passed.Outcome = a.Action, a.Outcome
	if err != nil {
		return v.unsent(ctx, p, codeUnsent, passed, err)
	}
	return passed, nil
}

// unsent records a call that the door does not send, and returns the answer to it.
func (v *visit) unsent(ctx context.Context, p *posted, code string, a doors.Answer, err error) (doors.Answer, error) {
	if failed := v.use.denied(ctx, code); failed != nil {
		return v.undecided(p, errors.Join(err, failed)), nil
	}
	return a, err
}

// hold denies an allowed use if the definition has changed, or if the arguments are denied. It returns an error if the
// current definition is unknown, or if the rules over the arguments have no answer.
func (v *visit) hold(ctx context.Context, judge *verdict.Judge, o *verdict.Outcome, r row) error {
	if r.kind == kindTool && v.server.Pin == resources.MCPPinDefinitions {
		is, err := v.Pins.Definition(v.server, r.name)
		switch {
		case err != nil:
			return err
		case is != r.definition:
			o.Allowed, o.Code = false, codeDefinition
			return nil
		}
	}
	return v.holdArguments(ctx, judge, o, r)
}

// lacking returns the scopes that the use of rows needs and the token does not have. No token has the scope of a row without
// a known effect.
func lacking(caller *resources.Principal, rows ...row) (scopes []string) {
	for _, r := range rows {
		needed, declared := resources.MCPScopeWrite, r.effect == resources.EffectRead || r.effect == resources.EffectWrite
		if r.effect == resources.EffectRead {
			needed = resources.MCPScopeRead
		}
		has := declared && caller.Client != nil && slices.Contains(caller.Client.Scopes, needed)
		if !has && !slices.Contains(scopes, needed) {
			scopes = append(scopes, needed)
		}
	}
	return scopes
}

// errScopes is the refusal of a token without scopes.
func errScopes(scopes []string) error {
	return resources.Forbidden("The token lacks the scope %s.", strings.Join(scopes, " "))
}

// denial returns the data of a denial.
func (v *visit) denial(o *verdict.Outcome, reason string) []message.Member {
	return append([]message.Member{
		message.Text("reason", reason), message.Text("code", o.Code), message.Text("decision_id", o.ID),
		message.Text("policy_revision", o.PolicyRevision), message.Number("account_revision", o.AccountRevision),
	}, v.accessRequest()...)
}

// denied renders the denial of a message.
func (v *visit) denied(p *posted, o *verdict.Outcome, r row) []byte {
	reason := resources.MaskCredentials(v.reason(o, r))
	data := v.denial(o, reason)
	code, text := message.CodeDenied, "Denied: "+reason
	if o.Code == verdict.CodeInvalidArguments {
		code, text = message.CodeInvalidParams, "Invalid arguments: "+reason
	}
	if v.server.Denial == resources.MCPDenialResult && p.Method == message.MethodCall {
		return message.Denial(p.ID, p.era, text, data...)
	}
	return message.Error(p.ID, code, text, data...)
}
