package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// mostPages bounds the pages of a list.
const mostPages = 100

// listTools returns the tools that an MCP server lists, as it sent them. The server may speak either era of the protocol.
func listTools(ctx context.Context, endpoint, token string) ([]message.Item, error) {
	wire := &toolsWire{token: token}
	client := mcp.NewClient(&mcp.Implementation{Name: "portcullis", Version: version()}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: endpoint, MaxRetries: -1, DisableStandaloneSSE: true,
		// No redirect is followed: the token is for this server alone.
		HTTPClient: &http.Client{Transport: wire, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }() // the list is read
	var items []message.Item
	cursors := map[string]bool{}
	for params := (&mcp.ListToolsParams{}); ; {
		if _, err := session.ListTools(ctx, params); err != nil {
			return nil, err
		}
		page, err := wire.page()
		if err != nil {
			return nil, fmt.Errorf("the list of tools can't be read in one way: %w", err)
		}
		for _, item := range page.Items {
			if containsItem(items, item.Name) {
				return nil, fmt.Errorf("the server lists two tools of the name %q", item.Name)
			}
			items = append(items, item)
		}
		if page.Cursor == "" {
			return items, nil
		}
		if cursors[page.Cursor] || len(cursors) == mostPages {
			return nil, fmt.Errorf("the list of tools does not end: it has over %d pages, or goes in a circle", mostPages)
		}
		cursors[page.Cursor] = true
		params = &mcp.ListToolsParams{Cursor: page.Cursor}
	}
}

func containsItem(items []message.Item, name string) bool {
	for _, item := range items {
		if item.Name == name {
			return true
		}
	}
	return false
}

// toolsWire sends the requests of a client, and keeps the last answer to tools/list as it came: the client drops the members
// of a tool that it does not know.
type toolsWire struct {
	token string
	last  *kept
}

// kept is a body that is being read.
type kept struct {
	io.ReadCloser

	kind  string
	mu    sync.Mutex
	bytes []byte
}

// Read implements io.Reader.
func (k *kept) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bytes = append(k.bytes, p[:n]...); len(k.bytes) > 2*message.MaxAnswer {
		return n, errors.New("the answer is too large")
	}
	return n, err
}

func (k *kept) snapshot() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.bytes)
}

// RoundTrip implements http.RoundTripper.
func (w *toolsWire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if w.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	lists, err := isToolsList(r)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !lists {
		return response, err
	}
	body := &kept{ReadCloser: response.Body}
	body.kind, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type")) // of any other kind the client fails
	w.last, response.Body = body, body
	return response, nil
}

// isToolsList says whether a request is tools/list. Its body can be read again.
func isToolsList(r *http.Request) (bool, error) {
	if r.Method != http.MethodPost || r.Body == nil {
		return false, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var call struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(body, &call) == nil && call.Method == message.MethodTools, nil
}

// page reads the last answer to tools/list strictly.
func (w *toolsWire) page() (*message.List, error) {
	if w.last == nil {
		return nil, errors.New("there is no answer")
	}
	body := w.last.snapshot()
	if w.last.kind != message.MediaEvents {
		return message.ReadList(message.MethodTools, body)
	}
	for events := message.NewEvents(bytes.NewReader(body)); ; {
		event, err := events.Next()
		if err != nil {
			return nil, err
		}
		var response struct {
			Result json.RawMessage `json:"result"`
		}
		if event.Given && json.Unmarshal(event.Data, &response) == nil && response.Result != nil {
			return message.ReadList(message.MethodTools, event.Data)
		}
	}
}
