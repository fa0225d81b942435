package mcp

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// The codes of calls that an allowed caller made and the door did not send. Records alone have them.
const (
	codeScope     = "insufficient_scope"
	codeHeader    = "header_mismatch"
	codeUndecided = "undecided"
	codeUnsent    = "not_sent"
)

const (
	// maxName limits the name of a tool, a prompt or a resource in a record, in bytes.
	maxName = 1 << 10
	// outcomeWithin is the deadline of the record of an outcome.
	outcomeWithin = 5 * time.Second
)

// use is the use of a row by one message. It records the call and how the call ended. A nil use records nothing.
type use struct {
	v *visit
	// call is the record of the call, without its id and its verdict.
	call  resources.Judgement
	began time.Time
	// approval is the id of the approval that the call has used up, "" for none.
	approval string

	mu      sync.Mutex
	outcome resources.MCPOutcome
	// answered is true once the response has come, broken if the server's connection has failed.
	answered, broken, ended bool
}

// newUse returns the use of a row on which policy has reached a verdict.
func (v *visit) newUse(p *posted, r row, o *verdict.Outcome) *use {
	u := &use{v: v, began: v.IDs.Now()}
	if v.Records == nil {
		return u
	}
	m := &resources.MCPCall{Server: v.server.Name, Method: strings.Clone(p.Method), Name: shortened(r.name), Definition: r.definition}
	if len(p.Arguments) > 0 {
		m.Arguments, m.Cut = message.Shape(p.Arguments)
	}
	if is, err := v.Pins.Definition(v.server, r.name); r.kind == kindTool && v.server.Pin == resources.MCPPinDefinitions && err == nil {
		m.Definition = is
	}
	q := v.question(r)
	q.Principal, q.Facts.Revision = *v.call.Caller, o.AccountRevision
	q.Agent = nil // the decision's record has the agent's part
	u.call = resources.Judgement{
		ParentID: o.ID, Path: resources.PathMCPCall, Question: q, Call: m, Decision: resources.Decision{PolicyRevision: o.PolicyRevision},
	}
	return u
}

// shortened returns a copy of a name that clients choose, cut to maxName.
func shortened(name string) string {
	if len(name) <= maxName {
		return strings.Clone(name)
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

// denied records a call that the door does not send. On an error the client must not get the denial.
func (u *use) denied(ctx context.Context, code string) error {
	err := u.record(ctx, resources.Decision{Code: code})
	switch {
	case err != nil || code == codeUndecided:
		u.v.count(OutcomeUndecided)
	case code == codeDefinition:
		u.v.count(OutcomeDefinition)
	case code == codeUnsent:
		u.v.count(OutcomeUnsent)
	default:
		u.v.count(OutcomeDenied)
	}
	return err
}

// approvedBy notes the approval that the call has used up.
func (u *use) approvedBy(approval string) {
	if u.approval = approval; u.call.Call != nil {
		u.call.Call.Approval = approval
	}
}

// allowed records a call before the door sends it. On an error it must not be sent.
func (u *use) allowed(ctx context.Context) error {
	if u == nil {
		return nil
	}
	err := u.record(ctx, resources.Decision{Allowed: true})
	if err != nil {
		u.v.count(OutcomeUndecided)
	}
	return err
}

func (u *use) record(ctx context.Context, d resources.Decision) error {
	if u.v.Records == nil {
		return nil
	}
	entry := u.call
	d.PolicyRevision = entry.Decision.PolicyRevision
	entry.ID, entry.Decision, entry.Question.Now = u.v.IDs.ULID(), d, resources.At(u.v.IDs.Now())
	return u.v.Records.Record(ctx, &entry)
}

// measured returns the response with a body that counts its bytes.
func (u *use) measured(answer *Incoming) *Incoming {
	if u == nil {
		return answer
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.outcome.Status = answer.Status
	return &Incoming{answer.Status, answer.Header, &measuredBody{answer.Body, u}}
}

// measuredBody counts the bytes of a response.
type measuredBody struct {
	io.ReadCloser
	use *use
}

// Read implements io.Reader.
func (b *measuredBody) Read(room []byte) (int, error) {
	n, err := b.ReadCloser.Read(room)
	b.use.mu.Lock()
	defer b.use.mu.Unlock()
	b.use.outcome.Bytes += int64(n)
	b.use.broken = b.use.broken || err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// response notes the errors of the response to the call.
func (u *use) response(m *message.ServerMessage) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answered, u.outcome.Error, u.outcome.ToolError = true, m.Code, m.IsError
}

// end records how the call ended, and by whom unless the context or the server ended it before. Later ends count for
// nothing. A log that fails is a warning: the server has done its part already.
func (u *use) end(ctx context.Context, endedBy string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	first := !u.ended
	u.ended = true
	switch cause := context.Cause(ctx); {
	case u.answered:
		endedBy = resources.MCPEndedByUpstream
	case errors.Is(cause, doors.ErrClientGone):
		endedBy = resources.MCPEndedByCaller
	case cause != nil:
		endedBy = resources.MCPEndedByGateway
	case u.broken:
		endedBy = resources.MCPEndedByUpstream
	}
	outcome, answered := u.outcome, u.answered
	u.mu.Unlock()
	if !first {
		return
	}
	u.v.count(outcomeOf(endedBy, answered, &outcome))
	if u.v.Records == nil {
		return
	}
	outcome.EndedBy, outcome.Millis = endedBy, u.v.IDs.Now().Sub(u.began).Milliseconds()
	entry, m := u.call, *u.call.Call
	m.Definition, m.Approval, m.Arguments, m.Cut, m.Outcome = "", "", nil, false, &outcome
	entry.ID, entry.Path, entry.Call, entry.Question.Now = u.v.IDs.ULID(), resources.PathMCPOutcome, &m, resources.At(u.v.IDs.Now())
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeWithin)
	defer cancel()
	if err := u.v.Records.Record(recording, &entry); err != nil {
		u.v.Log.Warn("mcp: the outcome of a call is missing in the decision log", "server", m.Server, "decision_id", entry.ParentID, "error", err.Error())
	}
}
