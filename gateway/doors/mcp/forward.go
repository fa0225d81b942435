package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

// maxAnswer limits a response that the door reads whole, in bytes.
const maxAnswer = 4 << 20

var (
	errAnswerLarge  = errors.New("mcp: the server's response exceeds 4 MiB")
	errAnswerStatus = errors.New("mcp: the server's response has an unexpected status")
	errAnswerKind   = errors.New("mcp: the server's response must be a JSON response or a stream of events")
	errAnswerOther  = errors.New("mcp: the server's response has the id of another request")
)

// purpose returns the caller for whom the door seals ids. Two upstreams may give the same id to two callers.
func (v *visit) purpose() message.Caller {
	agent := ""
	if client := v.call.Caller.Client; client != nil {
		agent = client.Issuer + "\n" + client.ID
	}
	return message.Caller{Upstream: v.server.Upstream, Server: v.place.server, Account: v.account(), User: v.call.Caller.ID, Agent: agent}
}

// outgoing returns the call to the server with the client's headers of every call, and those of the names. The error is
// KindNotFound for another caller's session.
func (v *visit) outgoing(names ...string) (Outgoing, error) {
	h := http.Header{}
	for _, name := range append([]string{"Accept", message.HeaderVersion}, names...) {
		for _, value := range v.headers(name) {
			h.Add(name, value)
		}
	}
	if sealed := v.header(message.HeaderSession); sealed != "" {
		id, ok := v.Sealed.Open(message.SessionID, sealed, v.purpose())
		if !ok {
			return Outgoing{}, resources.NotFound("session")
		}
		h.Set(message.HeaderSession, id)
	}
	return Outgoing{Server: v.server, Header: h, Authorization: v.authorization, Statement: assertion.Statement{
		RequestID: v.IDs.ULID(), Method: v.call.Method, Body: v.call.Body, Principal: *v.call.Caller, Account: v.account(),
	}}, nil
}

// forward sends the client's bytes to the server and returns its response. The door ends an open stream once policy
// denies one of the judged rows. named is the row of the message, or nil.
func (v *visit) forward(p *posted, judged []row, named *row) (a doors.Answer, err error) {
	names := []string{message.HeaderMethod, message.HeaderName}
	if named != nil && p.Method == message.MethodCall { // whose arguments they have been held to
		if all, err := message.ParamHeaders(named.schema); err == nil {
			for _, one := range all {
				names = append(names, one.Header)
			}
		}
	}
	o, err := v.outgoing(names...)
	if err != nil {
		return doors.Answer{}, err
	}
	if named != nil {
		o.Action = named.action.ID
	}
	if p.Class(p.era) == message.OfTask && o.Header.Get(message.HeaderName) != "" {
		o.Header.Set(message.HeaderName, message.EncodeHeader(v.tasks.named[p.TaskID].ID))
	}
	endless := p.Method == message.MethodListen
	ctx, err := v.call.Streams.Open(endless)
	if err != nil {
		return doors.Answer{}, err
	}
	o.Endless = true // tools may run for any time
	v.answered = o
	if v.release, err = v.holdMessage(); err != nil {
		return doors.Answer{}, err
	}
	defer func() {
		if a.Stream == nil {
			v.release()
		}
	}()
	return v.sendHeld(ctx, p, o, judged, named)
}

// sendHeld has the call approved and recorded, sends it and returns the server's response.
func (v *visit) sendHeld(ctx context.Context, p *posted, o Outgoing, judged []row, named *row) (doors.Answer, error) {
	if a, ok, err := v.approved(ctx, p, named); !ok {
		return a, err
	}
	if err := v.use.allowed(ctx); err != nil {
		return v.undecided(p, err), nil
	}
	if named != nil {
		ctx = resources.WithDecision(ctx, v.outcome.ID)
	}
	began := v.IDs.Now()
	answer, err := v.Send(ctx, o)
	if err != nil {
		return v.notSent(ctx, p, named, err), nil
	}
	answer = v.use.measured(answer)
	a, err := v.passBack(ctx, p, answer, judged, began)
	if err != nil {
		v.use.end(ctx, endedBy(err))
		return v.undecided(p, errors.Join(err, answer.Body.Close())), nil
	}
	if a.Stream == nil {
		v.use.end(ctx, resources.MCPEndedByUpstream)
	}
	return a, nil
}

// passBack returns the server's response to a message that was sent at began. On an error the caller closes the body.
func (v *visit) passBack(ctx context.Context, p *posted, answer *Incoming, judged []row, began time.Time) (doors.Answer, error) {
	a := doors.Answer{Status: answer.Status}
	if id := answer.Header.Get(message.HeaderSession); id != "" && p.era == message.Legacy {
		a.Header = append(a.Header, doors.Header{Name: message.HeaderSession, Value: v.Sealed.Seal(message.SessionID, id, v.purpose())})
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.Status == http.StatusNotFound && v.header(message.HeaderSession) != "":
		_ = answer.Body.Close()
		return doors.Answer{Status: http.StatusNotFound, Body: message.Error(p.ID, message.CodeInvalidRequest, "The session has ended. Initialize a new one.")}, nil
	case answer.Status == http.StatusAccepted && p.Kind != message.Request:
		return a, answer.Body.Close()
	case answer.Status == http.StatusOK && kind == message.MediaEvents && p.Kind == message.Request:
		s := v.newStream(ctx, p, answer.Body, judged)
		go v.watch(ctx, s, judged)
		a.Header = append(a.Header, doors.Header{Name: "Content-Type", Value: message.MediaEvents})
		a.Stream, a.Length = s, -1
		return a, nil
	case kind != "application/json":
		return a, fmt.Errorf("%w: %d %s", errAnswerKind, answer.Status, kind)
	case answer.Status != http.StatusOK && answer.Status != http.StatusBadRequest && answer.Status != http.StatusNotFound:
		return a, fmt.Errorf("%w: %d", errAnswerStatus, answer.Status)
	}
	raw, err := v.readWhole(answer.Body)
	if err == nil && len(judged) > 0 && v.IDs.Now().Sub(began) > rejudgeEvery { // as a stream would have been
		err = v.still(ctx, judged, slices.Repeat([]bool{true}, len(judged)), true)
	}
	if err != nil {
		return a, err
	}
	if a.Body, err = v.judgeAnswer(ctx, p, raw); err != nil {
		return a, err
	}
	return a, answer.Body.Close()
}

// readWhole reads a response of at most maxAnswer bytes.
func (v *visit) readWhole(response io.ReadCloser) ([]byte, error) {
	body := v.holds(response)
	defer body.drop()
	raw, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = errAnswerLarge
	}
	return raw, err
}

// judgeAnswer returns the part of a server's message that the client may see, or nil to drop it.
func (v *visit) judgeAnswer(ctx context.Context, p *posted, raw []byte) ([]byte, error) {
	m, err := message.ReadServer(raw)
	switch {
	case err != nil:
		return nil, err
	case m.Kind != message.Response && v.asked == nil:
		return nil, errAnswerKind
	case m.Kind != message.Response:
		return v.judgeRequest(ctx, p, m, raw)
	case len(m.ID) > 0 && !bytes.Equal(m.ID, p.ID), p.Kind != message.Request && !m.Failed:
		return nil, errAnswerOther
	}
	if method, ok := v.unlisted(m); ok {
		return v.unasked(p.ID, method), nil
	}
	if raw, err = v.sealTasks(p, raw, true); err != nil {
		return nil, err
	}
	v.use.response(m)
	switch class := p.Class(p.era); {
	case m.Failed:
		return raw, nil
	case class == message.Listed:
		return v.narrowList(ctx, p, raw)
	case p.Method == message.MethodRead || p.Method == message.MethodDiscover:
		return message.Uncached(p.era, raw)
	}
	return raw, nil
}

// judgeRequest returns a server's request or notification. It rejects a request that the server may not make, and returns
// nil. It drops a notification about an unknown task or a resource that the caller may not read, and one for an unlisted
// input.
func (v *visit) judgeRequest(ctx context.Context, p *posted, m *message.ServerMessage, raw []byte) ([]byte, error) {
	raw, err := v.sealTasks(p, raw, false)
	foreign := errors.Is(err, errTask)
	if err != nil && !foreign {
		return nil, err
	}
	if m.Kind == message.Request && (foreign || m.Method != message.MethodPing && !v.mayAsk(m.Method)) {
		v.reject(ctx, m)
		return nil, nil
	}
	if _, ok := v.unlisted(m); ok || foreign {
		return nil, nil
	}
	if m.Kind == message.Request {
		if raw, err = v.sealRequest(m, raw); errors.Is(err, errRequest) {
			v.reject(ctx, m)
			return nil, nil
		}
		return raw, err
	}
	switch m.Method {
	case "notifications/cancelled":
		return v.sealCancelled(raw)
	case "notifications/tools/list_changed":
		v.Pins.Changed(v.server.Name)
	case "notifications/resources/updated": // the subscription may be older than the verdict
		rows := []row{resourceRow(v.server, m.URI)}
		if may, err := v.allowed(ctx, v.Door.Judge.Pinned().Quiet(), rows, false); err != nil || !may[0] || len(lacking(v.call.Caller, rows...)) > 0 {
			return nil, nil //nolint:nilerr // without a verdict the client learns nothing
		}
	}
	return raw, nil
}

// unasked replaces a response that needs an input of an unlisted kind. A retry would get the same response.
func (v *visit) unasked(id []byte, method string) []byte {
	v.Log.Warn("mcp: a server's response asks for an input that server_requests does not list", "server", v.server.Name, "method", shortened(method))
	kind, ok := message.ServerRequest(method)
	if !ok {
		kind = "an unknown kind"
	}
	return message.Error(id, message.CodeInternal, "The server asks for an input of the client ("+kind+") that the gateway does not let it ask for.")
}

// rejectWithin is the deadline of the response to a server's request.
const rejectWithin = 5 * time.Second

// reject answers a server's request with an error in place of the client, so that the server does not wait for a
// timeout. The stream waits for the rejection, which limits their number.
func (v *visit) reject(ctx context.Context, m *message.ServerMessage) {
	first := !v.rejected.Swap(true)
	if first {
		v.Log.Warn("mcp: a server's request was rejected; server_requests does not list it. Further ones of this stream are not logged", "server", v.server.Name, "method", shortened(m.Method))
	}
	h := v.answered.Header.Clone()
	for _, name := range []string{message.HeaderMethod, message.HeaderName, message.HeaderLastEvent} {
		h.Del(name)
	}
	h.Set("Accept", "application/json, "+message.MediaEvents)
	o := v.answered
	o.Header, o.Endless = h, false
	o.RequestID, o.Method, o.Action = v.IDs.ULID(), http.MethodPost, ""
	o.Body = message.Error(m.ID, message.CodeMethodNotFound, "The gateway does not let this server send such requests to its clients.")
	ctx, cancel := context.WithTimeout(ctx, rejectWithin)
	defer cancel()
	answer, err := v.Send(ctx, o)
	if err == nil {
		err = answer.Body.Close()
	}
	if err != nil && first {
		v.Log.Warn("mcp: the rejection did not reach the server", "server", v.server.Name, "error", err.Error())
	}
}

// unlisted returns the method of the first input in a message that server_requests does not list, false without one.
func (v *visit) unlisted(m *message.ServerMessage) (method string, ok bool) {
	i := slices.IndexFunc(m.Inputs, func(method string) bool { return !v.mayAsk(method) })
	if i < 0 {
		return "", false
	}
	return m.Inputs[i], true
}

// mayAsk reports whether server_requests lists the kind of a server's request.
func (v *visit) mayAsk(method string) bool {
	kind, ok := message.ServerRequest(method)
	return ok && slices.Contains(v.server.ServerRequests, kind)
}
