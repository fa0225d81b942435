package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
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
			if got, err := pins.Definition(desk, "open"); got != definition || (err == nil) != listed {
				t.Errorf("%s: %q, %v", when, got, err)
			}
		}
		want("before the first listing", "", false)
		stop := runs(t, pins)
		want("at the start", "sha256:1", true)
		if got, err := pins.Definition(desk, "shut"); got != "" || err != nil {
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
		stop()
	})
}

// listed is a server whose tools change.
type listed struct {
	mu      sync.Mutex
	tools   map[string]string
	err     error
	servers []*resources.MCPServer
	log     bytes.Buffer
}

func (l *listed) pins() *mcp.Pins {
	return &mcp.Pins{
		List: func(context.Context, *resources.MCPServer) (map[string]string, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.tools, l.err
		},
		Servers: func() []*resources.MCPServer {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.servers
		},
		Now: time.Now, Log: slog.New(slog.NewTextHandler(&l.log, nil)),
	}
}

// runs starts the listings. stop ends them, and waits for the end.
func runs(t *testing.T, pins *mcp.Pins) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		pins.Run(ctx)
		close(ended)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// set changes the server before the next listing, and waits for it.
func (l *listed) set(change func()) {
	l.mu.Lock()
	change()
	l.mu.Unlock()
	time.Sleep(31 * time.Second)
	synctest.Wait()
}

// TestEachChangeOfADefinitionIsLogged guarantees a line for each change, also for one after the reviewed definition was
// back, and the figures of the latest listing. Between two changes there is no further line.
func TestEachChangeOfADefinitionIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk := func(reviewed string) []*resources.MCPServer {
			return []*resources.MCPServer{
				{Name: "desk", Pin: resources.MCPPinDefinitions, Tools: map[string]resources.MCPTool{"open": {Definition: reviewed}, "shut": {Definition: "same"}}},
				{Name: "names", Pin: resources.MCPPinNames},
			}
		}
		l := &listed{tools: map[string]string{"open": "a", "shut": "same", "new": "n"}, servers: desk("a")}
		pins := l.pins()
		stop := runs(t, pins)
		synctest.Wait()
		lines := func() int { return strings.Count(l.log.String(), "differs") }
		for i, step := range []struct {
			tools          map[string]string
			reviewed       string
			lines, changed int
		}{
			{map[string]string{"open": "b", "shut": "same"}, "a", 1, 1},
			{map[string]string{"open": "b", "shut": "same"}, "a", 1, 1},
			{map[string]string{"shut": "same"}, "a", 1, 0}, // not offered
			{map[string]string{"open": "b", "shut": "same"}, "a", 1, 1},
			{map[string]string{"open": "a", "shut": "same"}, "a", 1, 0},
			{map[string]string{"open": "b", "shut": "same"}, "a", 2, 1},
			{map[string]string{"open": "b", "shut": "other"}, "a", 3, 2},
			{map[string]string{"open": "b", "shut": "same"}, "c", 4, 1}, // another review
		} {
			l.set(func() { l.tools, l.servers = step.tools, desk(step.reviewed) })
			if all := pins.Stats(); lines() != step.lines || len(all) != 1 || all[0].Changed != step.changed || all[0].Server != "desk" || all[0].Read != uint64(i+2) {
				t.Errorf("step %d: %d lines, %+v", i, lines(), all)
			}
		}
		l.set(func() { l.err = errors.New("down") })
		if all := pins.Stats(); all[0].Failed != 1 || all[0].Changed != 1 {
			t.Errorf("after a failure: %+v", all)
		}
		stop()
	})
}

// TestAServerThatLeavesTheTreeIsForgotten guarantees that a server without a row has neither definitions nor figures, and
// begins anew when it is back.
func TestAServerThatLeavesTheTreeIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk := []*resources.MCPServer{{Name: "desk", Pin: resources.MCPPinDefinitions}}
		l := &listed{tools: map[string]string{"open": "a"}, servers: desk}
		pins := l.pins()
		stop := runs(t, pins)
		synctest.Wait()
		l.set(func() { l.servers = nil })
		if _, err := pins.Definition(desk[0], "open"); err == nil || len(pins.Stats()) > 0 {
			t.Errorf("%v, %+v", err, pins.Stats())
		}
		l.mu.Lock()
		l.servers, l.err = slices.Clone(desk), errors.New("down")
		l.mu.Unlock()
		if all := pins.Stats(); len(all) != 1 || all[0] != (mcp.PinStats{Server: "desk"}) {
			t.Errorf("%+v", all)
		}
		stop()
	})
}

// TestAMovedServerIsListedAnew guarantees that the definitions of one upstream do not count for another one with the same
// server's name.
func TestAMovedServerIsListedAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := &resources.MCPServer{Name: "desk", Upstream: "old", Pin: resources.MCPPinDefinitions}
		moved := &resources.MCPServer{Name: "desk", Upstream: "new", Pin: resources.MCPPinDefinitions}
		l := &listed{tools: map[string]string{"open": "a"}, servers: []*resources.MCPServer{old}}
		pins := l.pins()
		stop := runs(t, pins)
		synctest.Wait()
		l.mu.Lock()
		l.servers, l.err = []*resources.MCPServer{moved}, errors.New("down")
		l.mu.Unlock()
		for range 2 { // before and after a listing that fails
			if is, err := pins.Definition(moved, "open"); err == nil {
				t.Errorf("%q of the old upstream", is)
			}
			synctest.Wait()
		}
		l.set(func() { l.err = nil })
		if is, err := pins.Definition(moved, "open"); is != "a" || err != nil {
			t.Errorf("%q, %v", is, err)
		}
		stop()
	})
}

// TestAToolOfALaterTreeIsListedAnew guarantees that a row after the listing does not make a changed tool: the definition is
// unknown, and is listed at once. Other tools keep theirs.
func TestAToolOfALaterTreeIsListedAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk := func(tools ...string) *resources.MCPServer {
			s := &resources.MCPServer{Name: "desk", Pin: resources.MCPPinDefinitions, Tools: map[string]resources.MCPTool{}}
			for _, name := range tools {
				s.Tools[name] = resources.MCPTool{Definition: "sha256:" + name}
			}
			return s
		}
		var current atomic.Pointer[resources.MCPServer]
		current.Store(desk("open"))
		pins := &mcp.Pins{
			List: func(_ context.Context, s *resources.MCPServer) (map[string]string, error) {
				all := map[string]string{}
				for name, tool := range s.Tools { // as Lister does
					all[name] = tool.Definition
				}
				return all, nil
			},
			Servers: func() []*resources.MCPServer { return []*resources.MCPServer{current.Load()} }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		stop := runs(t, pins)
		synctest.Wait()
		later := desk("open", "shut")
		current.Store(later)
		if is, err := pins.Definition(later, "shut"); err == nil {
			t.Errorf("before the listing: %q", is)
		}
		if is, err := pins.Definition(later, "open"); is != "sha256:open" || err != nil {
			t.Errorf("another tool: %q, %v", is, err)
		}
		synctest.Wait()
		if is, err := pins.Definition(later, "shut"); is != "sha256:shut" || err != nil {
			t.Errorf("after the listing: %q, %v", is, err)
		}
		stop()
	})
}

// TestAServerOfALaterTreeIsListedAtOnce guarantees that the first call at a server has it listed, and not the next interval.
func TestAServerOfALaterTreeIsListedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk := &resources.MCPServer{Name: "desk", Pin: resources.MCPPinDefinitions}
		l := &listed{tools: map[string]string{"open": "a"}}
		pins := l.pins()
		stop := runs(t, pins)
		synctest.Wait()
		l.mu.Lock()
		l.servers = []*resources.MCPServer{desk}
		l.mu.Unlock()
		if is, err := pins.Definition(desk, "open"); err == nil {
			t.Errorf("before the listing: %q", is)
		}
		synctest.Wait()
		if is, err := pins.Definition(desk, "open"); is != "a" || err != nil {
			t.Errorf("after the listing: %q, %v", is, err)
		}
		stop()
	})
}

// TestFailedListingsAreNotAskedFor guarantees that calls of a tool with a new row ask for no listing while the server's
// listings fail. The log has a line when they begin to fail, and one when they go through again.
func TestFailedListingsAreNotAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		row := map[string]resources.MCPTool{"open": {Definition: "sha256:1"}}
		l := &listed{tools: map[string]string{"open": "sha256:1"}, servers: []*resources.MCPServer{{Name: "desk", Pin: resources.MCPPinDefinitions}}}
		pins := l.pins()
		stop := runs(t, pins)
		synctest.Wait()
		later := &resources.MCPServer{Name: "desk", Pin: resources.MCPPinDefinitions, Tools: row}
		l.set(func() { l.servers, l.err = []*resources.MCPServer{later}, errors.New("down") })
		before := pins.Stats()[0].Failed
		for range 100 {
			if is, err := pins.Definition(later, "open"); err == nil {
				t.Errorf("without a listing of the row: %q", is)
			}
			synctest.Wait()
		}
		if asked := pins.Stats()[0].Failed - before; asked != 0 {
			t.Errorf("100 calls asked for %d listings", asked)
		}
		l.set(func() {}) // fails once more
		l.set(func() { l.err = nil })
		if is, err := pins.Definition(later, "open"); is != "sha256:1" || err != nil {
			t.Errorf("after the failures: %q, %v", is, err)
		}
		stop()
		for _, line := range []string{"listing the tools of a server failed", "can be listed again"} {
			if n := strings.Count(l.log.String(), line); n != 1 {
				t.Errorf("%q %d times:\n%s", line, n, l.log.String())
			}
		}
	})
}
