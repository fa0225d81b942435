package mcp_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/resources"
)

// pages is a server whose list of tools has these pages, over and over.
type pages struct {
	tools []string
	sent  int
}

// lister lists the server.
func (p *pages) lister() *mcp.Lister {
	return &mcp.Lister{IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Send: func(_ context.Context, o mcp.Outgoing) (*mcp.Incoming, error) {
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal(o.Body, &m); err != nil {
			return nil, err
		}
		next := ""
		if p.sent++; p.sent%len(p.tools) != 0 || len(p.tools) == 1 {
			next = fmt.Sprintf(`,"nextCursor":"%d"`, p.sent)
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[%s]%s}}`, m.ID, p.tools[(p.sent-1)%len(p.tools)], next)
		return &mcp.Incoming{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}}
}

// TestAListHasAnEnd guarantees that the gateway reads no more than 4 MiB of a server's pages.
func TestAListHasAnEnd(t *testing.T) {
	server := &pages{}
	for i := range 90 {
		server.tools = append(server.tools, fmt.Sprintf(`{"name":"%d","description":"%s"}`, i, strings.Repeat("x", 1<<20)))
	}
	_, err := server.lister().Tools(t.Context(), &resources.MCPServer{Name: "desk"})
	if err == nil || !strings.Contains(err.Error(), "exceed 4 MiB") || server.sent > 2*5 { // in both eras
		t.Errorf("%d pages, %v", server.sent, err)
	}
}

// TestOnlyRowsAreKept guarantees that the definitions in memory are those of the policy's tools: a server may list others
// without end.
func TestOnlyRowsAreKept(t *testing.T) {
	server := &pages{tools: []string{`{"name":"open"},{"name":"a"},{"name":"b"}`, `{"name":"c"},{"name":"shut"}`}}
	desk := &resources.MCPServer{Name: "desk", Tools: map[string]resources.MCPTool{"open": {}, "shut": {}, "gone": {}}}
	got, err := server.lister().List(t.Context(), desk)
	if err != nil || len(got) != 2 || got["open"] == "" || got["shut"] == "" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestASlowServerDelaysNoOther guarantees that the gateway knows the definitions of a server beside a slow one. Each listing
// of the slow one takes all of its time and asks for another listing.
func TestASlowServerDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk, slow := &resources.MCPServer{Name: "desk", Pin: resources.MCPPinDefinitions}, &resources.MCPServer{Name: "slow", Pin: resources.MCPPinDefinitions}
		pins := &mcp.Pins{
			Servers: func() []*resources.MCPServer { return []*resources.MCPServer{slow, desk} }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		pins.List = func(ctx context.Context, s *resources.MCPServer) (map[string]string, error) {
			if s == desk {
				return map[string]string{"open": "sha256:1"}, nil
			}
			pins.Changed("slow")
			<-ctx.Done()
			return nil, ctx.Err()
		}
		stop := runs(t, pins)
		for range 3600 {
			time.Sleep(time.Second)
			if _, err := pins.Definition(desk, "open"); err != nil {
				t.Fatalf("the definitions of the other server are unknown: %v", err)
			}
		}
		stop()
	})
}
