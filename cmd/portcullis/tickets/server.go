package tickets

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
)

// maxBody bounds a message in bytes.
const maxBody = 1 << 20

// Handler returns the server, with tickets of its own. It accepts calls that the gateway with these keys has signed.
func Handler(keys *assertion.Keys) http.Handler {
	d := newDesk()
	server := mcp.NewServer(&mcp.Implementation{Name: Name, Title: "Tickets", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{
		Name: "search_tickets", Title: "Search tickets", Description: "Lists tickets. Without arguments it lists all of them.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, _ *mcp.CallToolRequest, wanted searchInput) (*mcp.CallToolResult, any, error) {
		return answered(d.search(wanted)), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{
		Name: "close_ticket", Title: "Close a ticket", Description: "Closes a ticket, with a comment for its author.",
	}, func(_ context.Context, r *mcp.CallToolRequest, wanted closeInput) (*mcp.CallToolResult, any, error) {
		text, err := d.close(wanted, r.Extra.Header.Get(callerHeader))
		if err != nil {
			return nil, nil, err
		}
		return answered(text), nil, nil
	})
	return signed(keys, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})) // both revisions of the protocol, without sessions
}

func answered(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// callerHeader has the verified caller, for the tools. Nobody else can set it: signed replaces it.
const callerHeader = "X-Tickets-Caller"

// signed passes calls with a valid assertion: 401 for any other one.
func signed(keys *assertion.Keys, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "the body can't be read", http.StatusBadRequest)
			return
		}
		said, err := keys.Verify(r.Header.Get(assertion.Header), assertion.Statement{
			Upstream: Name, RequestID: r.Header.Get("X-Request-ID"), Method: r.Method, Target: r.RequestURI, Body: body,
		})
		if err != nil || len(r.Header.Values(assertion.Header)) != 1 {
			http.Error(w, "this server is behind the gateway; call it there", http.StatusUnauthorized)
			return
		}
		caller := said.Principal.ID
		if client := said.Principal.Client; client != nil {
			caller += " through " + client.ID
		}
		r.Header.Set(callerHeader, strings.TrimSpace(caller))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
