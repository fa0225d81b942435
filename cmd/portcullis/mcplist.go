package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/policies/pins"
	"github.com/portcullis-authz/portcullis/resources"
)

// listTools returns the tools that an MCP server lists, as it sent them. It follows no redirect, since the token is for
// this server only.
func listTools(ctx context.Context, endpoint, token string) ([]pins.Tool, error) {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(ctx context.Context, o mcp.Outgoing) (*mcp.Incoming, error) {
		req, err := http.NewRequestWithContext(ctx, o.Method, endpoint, bytes.NewReader(o.Body))
		if err != nil {
			return nil, err
		}
		req.Header = o.Header.Clone()
		req.Header.Set("Content-Type", "application/json")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req) //nolint:bodyclose // the receiver of Incoming closes it
		if err != nil {
			return nil, err
		}
		return &mcp.Incoming{Status: resp.StatusCode, Header: resp.Header, Body: resp.Body}, nil
	}
	lister := mcp.Lister{Send: send, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}}
	items, err := lister.Tools(ctx, &resources.MCPServer{})
	return toPin(items), err
}

// toPin returns listed tools for their rows.
func toPin(items []message.Item) []pins.Tool {
	tools := make([]pins.Tool, len(items))
	for i, item := range items {
		tools[i] = pins.Tool{Name: item.Name, Raw: item.Raw}
	}
	return tools
}
