package mcp_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestAListingGrowsTooOld guarantees that a listing outlives failures for 90 seconds. Before the first listing, and after
// these seconds, no definition is known.
func TestAListingGrowsTooOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		desk := &resources.MCPServer{Name: "desk", Pin: resources.MCPPinDefinitions}
		pins := &mcp.Pins{
			List: func(context.Context, *resources.MCPServer) (map[string]string, error) {
				if down.Load() {
					return nil, errors.New("down")
				}
				return map[string]string{"open": "sha256:1"}, nil
			},
			Servers: func() []*resources.MCPServer { return []*resources.MCPServer{desk} }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		want := func(when, definition string, listed bool) {
			t.Helper()
			synctest.Wait()
			if got, err := pins.Definition("desk", "open"); got != definition || (err == nil) != listed {
				t.Errorf("%s: %q, %v", when, got, err)
			}
		}
		want("before the first listing", "", false)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			pins.Run(ctx)
			close(ended)
		}()
		want("at the start", "sha256:1", true)
		if got, err := pins.Definition("desk", "shut"); got != "" || err != nil {
			t.Errorf("a tool that the server does not list: %q, %v", got, err)
		}
		down.Store(true)
		time.Sleep(85 * time.Second)
		want("after failures for a minute", "sha256:1", true)
		time.Sleep(40 * time.Second)
		want("after failures for two minutes", "", false)
		down.Store(false)
		pins.Changed("desk")
		want("after a listing that was asked for", "sha256:1", true)
		cancel()
		<-ended
	})
}
