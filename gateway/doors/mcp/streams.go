package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// stream forwards a server's events and judges each one as a response. It returns io.EOF when the server ends the stream
// or a verdict changes.
type stream struct {
	v    *visit
	ctx  context.Context //nolint:containedctx // its life is the stream's
	p    *posted
	body *heldBody

	events *message.Events
	ready  bytes.Reader
	once   sync.Once
	closed error
	over   chan struct{}
}

// newStream returns the stream of a call that uses rows.
func (v *visit) newStream(ctx context.Context, p *posted, body io.ReadCloser, rows []row) *stream {
	v.rows, v.asked = rows, map[string]string{}
	held := v.holds(body)
	return &stream{v: v, ctx: ctx, p: p, body: held, events: message.NewEvents(held), over: make(chan struct{})}
}

// Read implements io.Reader.
func (s *stream) Read(room []byte) (int, error) {
	for s.ready.Len() == 0 {
		s.body.drop() // the client has the event before
		e, err := s.events.Next()
		select {
		case <-s.over:
			return 0, io.EOF
		default:
		}
		if err != nil {
			party := endOf(err)
			if s.v.use.end(s.ctx, party); party == resources.MCPEndedByGateway {
				s.v.Log.Warn("mcp: a stream was ended", "server", s.v.server.Name, "error", err.Error())
			}
			return 0, err
		}
		if !e.Given || len(bytes.TrimSpace(e.Data)) == 0 {
			s.ready.Reset(e.With(nil, s.sealEvent))
			continue
		}
		data, err := s.v.judgeEvent(s.ctx, s.p, e.Data)
		switch {
		case err != nil:
			s.v.Log.Warn("mcp: a stream was ended", "server", s.v.server.Name, "error", err.Error())
			s.v.use.end(s.ctx, resources.MCPEndedByGateway)
			return 0, err
		case data == nil: // dropped
		default:
			if data = message.Undivided(data); bytes.Equal(data, e.Data) {
				data = nil
			}
			s.ready.Reset(e.With(data, s.sealEvent))
		}
	}
	return s.ready.Read(room)
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.over)
		s.closed = s.body.Close()
		if s.v.release != nil {
			s.v.release()
		}
		s.v.use.end(s.ctx, resources.MCPEndedByCaller) // unless it has ended before
	})
	return s.closed
}

// endOf returns who ended a stream with an error of message.Events.
func endOf(err error) string {
	if errors.Is(err, message.ErrEventTooLarge) || errors.Is(err, errHeld) {
		return resources.MCPEndedByGateway
	}
	return resources.MCPEndedByUpstream
}

// judgeEvent returns the part of a stream's message that the client may see. A stream can carry the response to a list
// request of another stream, so judgeEvent parses every response as a list.
func (v *visit) judgeEvent(ctx context.Context, p *posted, raw []byte) ([]byte, error) {
	if p.Kind == message.Request && p.Method != "" {
		return v.judgeAnswer(ctx, p, raw)
	}
	m, err := message.ReadServer(raw)
	switch {
	case err != nil:
		return nil, err
	case m.Kind != message.Response:
		return v.judgeRequest(ctx, p, m, raw)
	}
	if method, ok := v.unlisted(m); ok {
		return v.unasked(m.ID, method), nil
	}
	if m.Failed {
		return raw, nil
	}
	if raw, err = v.sealTasks(p, raw, true); err != nil {
		return nil, err
	}
	for _, method := range []string{message.MethodTools, message.MethodPrompts, message.MethodResources, message.MethodTemplates} {
		as := &posted{&message.Message{Kind: message.Request, Method: method, ID: m.ID}, p.era}
		narrowed, err := v.narrowList(ctx, as, raw)
		switch {
		case err == nil:
			raw = narrowed
		case !errors.Is(err, message.ErrNoItems):
			return nil, err
		}
	}
	return raw, nil
}

// watch judges the rows of an open stream every rejudgeEvery and ends the stream once an allowed row is denied. Rows that
// were judged before the call count as allowed: the server may have taken minutes to answer. Without rows watch judges
// all rows of the server, and ends the stream also once none is allowed. It begins with that after rejudgeEvery: a server
// may answer on a stream to a caller without a right, for example with a list.
func (v *visit) watch(ctx context.Context, s *stream, rows []row) {
	judged := len(rows) > 0
	if !judged {
		rows = used(v.server)
	}
	held := slices.Repeat([]bool{judged}, len(rows))
	tick := time.NewTicker(rejudgeEvery)
	defer tick.Stop()
	var err error
	if judged {
		err = v.still(ctx, rows, held, judged)
	}
	for ; err == nil; err = v.still(ctx, rows, held, judged) {
		select {
		case <-ctx.Done():
			return
		case <-s.over:
			return
		case <-tick.C:
		}
	}
	if !errors.Is(err, errExpired) { // without a verdict, too
		err = errGone
	}
	v.use.end(ctx, endedBy(err))
	_ = s.Close() // the reader gets io.EOF
}

// endedBy returns who ended a call by an error of still, or of the door itself.
func endedBy(err error) string {
	switch {
	case errors.Is(err, errExpired):
		return resources.MCPEndedByToken
	case errors.Is(err, errGone):
		return resources.MCPEndedByVerdict
	}
	return resources.MCPEndedByGateway
}

// authenticate returns errExpired if the gateway refuses the caller's token now, or takes it for another caller's.
func (v *visit) authenticate(ctx context.Context) error {
	resource, before := v.ResourceOf(pathPrefix+v.place.path), v.call.Caller
	now, err := v.Authenticate(ctx, resource.URL, resource.AgentsOf, v.authorization)
	switch {
	case resources.IsKind(err, resources.KindUnavailable):
		return err
	case err != nil || now.Kind != before.Kind || now.ID != before.ID || now.AccountID != before.AccountID:
		return errExpired
	}
	return nil
}

// still judges rows by the policy in force, and updates which of them are held. The error says why the stream must end.
// Rows that were judged one by one are also held to their definitions, arguments and approvals.
func (v *visit) still(ctx context.Context, rows []row, held []bool, judged bool) error {
	judge := v.Door.Judge.Pinned().Quiet()
	now := *v
	now.server = judge.Pin().MCPServer(v.place.server)
	switch {
	case now.server == nil, now.server.Upstream != v.server.Upstream, !slices.Equal(now.server.ServerRequests, v.server.ServerRequests):
		return errGone
	case v.call.Caller.Kind == resources.PrincipalAgent && !takesAgentsAlone(now.server):
		return errGone
	case judged && len(lacking(v.call.Caller, now.current(rows)...)) > 0: // the effect of a row has changed
		return errGone
	}
	next, err := now.allowed(ctx, judge, rows, judged)
	if err != nil {
		return err
	}
	for i := range next {
		if held[i] && !next[i] {
			return errGone
		}
		held[i] = next[i]
	}
	if !judged && !slices.Contains(next, true) {
		return errGone
	}
	return v.authenticate(ctx)
}

var (
	errGone    = errors.New("mcp: the verdict or the server's row has changed")
	errExpired = errors.New("mcp: the token is not valid any more")
)

// allowed judges the rows of the current tree, in order. With hold it also checks definitions, arguments and approvals. The approval
// that a call has used up holds until the end of its stream.
func (v *visit) allowed(ctx context.Context, judge *verdict.Judge, rows []row, hold bool) ([]bool, error) {
	out, current := make([]bool, len(rows)), v.current(rows)
	if len(rows) == 0 {
		return out, nil
	}
	verdicts, err := v.ask(ctx, judge, current...)
	if err != nil {
		return nil, err
	}
	for i := range verdicts {
		if hold && verdicts[i].Allowed {
			if err := v.hold(ctx, judge, &verdicts[i], current[i]); err != nil {
				return nil, err
			}
		}
		out[i] = verdicts[i].Allowed && (!hold || current[i].approval == "" || v.use != nil && v.use.approval != "")
	}
	return out, nil
}

// current returns the rows of the current tree.
func (v *visit) current(rows []row) []row {
	out := make([]row, len(rows))
	for i, r := range rows {
		out[i] = v.again(r)
	}
	return out
}

// again returns the row of the current tree.
func (v *visit) again(r row) row {
	current := rowAt(v.server, r.kind, r.name)
	if r.begun {
		return begun(current)
	}
	current.arguments = r.arguments
	return current
}

// streamed judges the resources and the tasks that subscriptions/listen names, and opens the stream.
func (v *visit) streamed(ctx context.Context, p *posted) (doors.Answer, error) {
	var rows []row
	for _, uri := range p.Listen.URIs {
		rows = append(rows, resourceRow(v.server, uri))
	}
	for _, id := range p.Listen.TaskIDs {
		rows = append(rows, v.taskRow(id))
	}
	if len(rows) == 0 {
		return v.passed(ctx, p)
	}
	v.call.Rates.Owe(len(rows) - 1)
	out, err := v.ask(ctx, v.judge, rows...)
	if err != nil {
		if resources.IsKind(err, resources.KindUnavailable) {
			return v.undecided(p, err), nil
		}
		return doors.Answer{}, err
	}
	for i := range out {
		if !out[i].Allowed {
			return doors.Answer{Status: http.StatusOK, Outcome: out[i], Body: v.denied(p, &out[i], rows[i])}, nil
		}
	}
	if scopes := lacking(v.call.Caller, rows...); len(scopes) > 0 {
		return doors.Answer{Scopes: scopes}, errScopes(scopes)
	}
	return v.forward(p, rows, nil)
}

// listen handles GET: it opens the stream of a legacy session, or resumes one.
func (v *visit) listen(judging context.Context) (doors.Answer, error) {
	o, err := v.outgoing()
	if err != nil {
		return doors.Answer{}, err
	}
	rows, err := v.resumed(judging, &o)
	if err == nil && len(rows) == 0 {
		err = v.mayUse(judging)
	}
	if err != nil {
		return doors.Answer{}, err
	}
	if scopes := lacking(v.call.Caller, rows...); len(scopes) > 0 {
		return doors.Answer{Scopes: scopes}, errScopes(scopes)
	}
	ctx, err := v.call.Streams.Open(true)
	if err != nil {
		return doors.Answer{}, err
	}
	o.Endless = true
	v.answered = o
	answer, err := v.Send(ctx, o)
	if err != nil {
		return doors.Answer{}, silent(err)
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.Status == http.StatusMethodNotAllowed:
		_ = answer.Body.Close()
		return doors.Answer{}, &resources.Error{Kind: resources.KindMethodNotAllowed, Message: "This server does not support GET."}
	case answer.Status == http.StatusNotFound, answer.Status == http.StatusBadRequest:
		_ = answer.Body.Close()
		return doors.Answer{}, resources.NotFound("session")
	case answer.Status != http.StatusOK || kind != message.MediaEvents:
		return doors.Answer{}, resources.Unavailable("The server does not answer now; try again.", errors.Join(errAnswerStatus, answer.Body.Close()))
	}
	p := &posted{&message.Message{}, message.Legacy}
	if len(rows) == 1 && rows[0].kind == kindTool && len(v.tasks.sealed) == 0 { // of the call, whose response may name its task
		p.Method, p.Name, v.tasks.sealed = message.MethodCall, rows[0].name, map[string]string{}
	}
	s := v.newStream(ctx, p, answer.Body, rows)
	go v.watch(ctx, s, rows)
	return doors.Answer{Status: http.StatusOK, Header: []doors.Header{{Name: "Content-Type", Value: message.MediaEvents}}, Stream: s, Length: -1}, nil
}

// silent returns the error of a call that has no response.
func silent(err error) error {
	if resources.IsKind(err, resources.KindForbidden) || resources.IsKind(err, resources.KindBadCredential) {
		return err
	}
	return resources.Unavailable("The server does not answer now; try again.", err)
}

// end handles DELETE: it ends a legacy session.
func (v *visit) end(ctx context.Context) (doors.Answer, error) {
	o, err := v.outgoing()
	if err != nil {
		return doors.Answer{}, err
	}
	if o.Header.Get(message.HeaderSession) == "" {
		return doors.Answer{}, resources.BadRequest(resources.Problem{Field: message.HeaderSession, Text: "must name the session to end"})
	}
	answer, err := v.Send(ctx, o)
	if err != nil {
		return doors.Answer{}, silent(err)
	}
	_ = answer.Body.Close()
	switch {
	case answer.Status == http.StatusNotFound:
		return doors.Answer{}, resources.NotFound("session")
	case answer.Status == http.StatusMethodNotAllowed:
		return doors.Answer{}, &resources.Error{Kind: resources.KindMethodNotAllowed, Message: "This server does not support DELETE."}
	case answer.Status < 200 || answer.Status > 299:
		return doors.Answer{}, resources.Unavailable("The server does not answer now; try again.", errAnswerStatus)
	}
	return doors.Answer{Status: http.StatusNoContent}, nil
}
