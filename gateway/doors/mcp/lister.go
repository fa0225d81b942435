package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/definition"
)

// mostPages limits the pages of a list of tools, which have maxAnswer bytes together.
const mostPages = 100

var (
	errPages    = errors.New("mcp: the list of tools exceeds 100 pages")
	errAllPages = errors.New("mcp: the pages of the list of tools exceed 4 MiB")
)

// Lister lists the tools of servers, with the gateway as the caller. It supports both eras.
type Lister struct {
	Send func(ctx context.Context, o Outgoing) (*Incoming, error)
	IDs  resources.IDs
}

// List returns the definitions of the tools that the policy and the server have, by name. A malformed tool has the
// definition "".
func (l *Lister) List(ctx context.Context, server *resources.MCPServer) (map[string]string, error) {
	items, err := l.Tools(ctx, server)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, item := range items {
		if _, ok := server.Tools[item.Name]; ok { // a server may list a hundred thousand others
			out[item.Name], _ = definition.Of(item.Raw) // no row has the definition ""
		}
	}
	return out, nil
}

// Tools returns a server's tools as it sent them, in its order.
func (l *Lister) Tools(ctx context.Context, server *resources.MCPServer) ([]message.Item, error) {
	session := &session{Lister: l, server: server, era: message.Modern}
	items, err := session.tools(ctx)
	if err == nil {
		return items, nil
	}
	session.era = message.Legacy
	legacy := session.open(ctx)
	if legacy == nil {
		defer session.end(context.WithoutCancel(ctx))
		if items, legacy = session.tools(ctx); legacy == nil {
			return items, nil
		}
	}
	return nil, fmt.Errorf("%w; with the legacy protocol: %w", err, legacy)
}

// session is a conversation of the gateway with a server.
type session struct {
	*Lister
	server      *resources.MCPServer
	era         message.Era
	id, version string
	asked       int
}

// tools reads all pages of the list.
func (s *session) tools(ctx context.Context) (items []message.Item, err error) {
	names, params, room := map[string]bool{}, map[string]any{}, maxAnswer
	for range mostPages {
		raw, err := s.ask(ctx, message.MethodTools, params)
		if err != nil {
			return nil, err
		}
		if room -= len(raw); room < 0 {
			return nil, errAllPages
		}
		list, err := message.ReadList(message.MethodTools, raw)
		if err != nil {
			return nil, fmt.Errorf("mcp: the list of tools can't be read in one way: %w", err)
		}
		for _, item := range list.Items {
			if names[item.Name] {
				return nil, fmt.Errorf("mcp: the server lists two tools of the name %q", item.Name)
			}
			items, names[item.Name] = append(items, item), true
		}
		if list.Cursor == "" {
			return items, nil
		}
		params["cursor"] = list.Cursor
	}
	return nil, errPages
}

// open begins a legacy session.
func (s *session) open(ctx context.Context) error {
	raw, err := s.ask(ctx, message.MethodInitialize, map[string]any{
		"protocolVersion": message.VersionLegacy, "capabilities": map[string]any{}, "clientInfo": clientInfo(),
	})
	if err != nil {
		return err
	}
	var opened struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if err := json.Unmarshal(raw, &opened); err != nil {
		return err
	}
	s.version = opened.Result.Version
	_, err = s.send(ctx, http.MethodPost, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, "")
	return err
}

// endWithin is the deadline for ending a session.
const endWithin = 5 * time.Second

// end ends a legacy session if the server supports that.
func (s *session) end(ctx context.Context) {
	if s.id != "" {
		ctx, cancel := context.WithTimeout(ctx, endWithin)
		defer cancel()
		_, _ = s.send(ctx, http.MethodDelete, nil, "")
	}
}

func clientInfo() map[string]any { return map[string]any{"name": "portcullis", "version": "1"} }

// ask returns the response to a request.
func (s *session) ask(ctx context.Context, method string, params map[string]any) ([]byte, error) {
	s.asked++
	if s.era == message.Modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": message.VersionModern, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo": clientInfo(),
		}
	}
	raw, err := s.send(ctx, http.MethodPost, map[string]any{"jsonrpc": "2.0", "id": s.asked, "method": method, "params": params}, method)
	if err != nil {
		return nil, err
	}
	m, err := message.ReadServer(raw)
	switch {
	case err != nil:
		return nil, err
	case m.Failed:
		return nil, fmt.Errorf("mcp: the server returned the error %d for %s", m.Code, method)
	case string(m.ID) != fmt.Sprint(s.asked):
		return nil, errAnswerOther
	}
	return raw, nil
}

// send makes a request with a message, or without one, and returns the first message of the response.
func (s *session) send(ctx context.Context, verb string, body map[string]any, method string) ([]byte, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	h := http.Header{"Accept": {"application/json, " + message.MediaEvents}}
	switch {
	case s.era == message.Modern:
		h.Set(message.HeaderVersion, message.VersionModern)
		h.Set(message.HeaderMethod, method)
	case s.version != "":
		h.Set(message.HeaderVersion, s.version)
	}
	if s.id != "" {
		h.Set(message.HeaderSession, s.id)
	}
	answer, err := s.Send(ctx, Outgoing{Server: s.server, Header: h, Statement: assertion.Statement{
		RequestID: s.IDs.ULID(), Method: verb, Body: raw,
		Principal: resources.Principal{Kind: resources.PrincipalGateway, ID: assertion.Issuer, Credential: resources.CredentialNone},
	}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if id := answer.Header.Get(message.HeaderSession); id != "" && s.era == message.Legacy {
		s.id = id
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case method == "" && answer.Status >= 200 && answer.Status < 300:
		return nil, nil
	case kind == message.MediaEvents && answer.Status == http.StatusOK:
		return response(message.NewEvents(answer.Body))
	case answer.Status != http.StatusOK && answer.Status != http.StatusBadRequest && answer.Status != http.StatusNotFound:
		return nil, fmt.Errorf("%w: %d", errAnswerStatus, answer.Status)
	case kind != "application/json":
		return nil, fmt.Errorf("%w: %d %s", errAnswerKind, answer.Status, kind)
	}
	out, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err == nil && len(out) > maxAnswer {
		err = errAnswerLarge
	}
	return out, err
}

// response returns the first response in a stream.
func response(events *message.Events) ([]byte, error) {
	for {
		e, err := events.Next()
		if err != nil {
			return nil, err
		}
		if !e.Given || len(bytes.TrimSpace(e.Data)) == 0 {
			continue
		}
		m, err := message.ReadServer(e.Data)
		if err != nil {
			return nil, err
		}
		if m.Kind == message.Response {
			return e.Data, nil
		}
	}
}
