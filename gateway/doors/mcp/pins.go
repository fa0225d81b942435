package mcp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/atonce"
)

const (
	// pinsEvery is how often the tools of each server are listed.
	pinsEvery = 30 * time.Second
	// pinsWithin bounds one listing.
	pinsWithin = 20 * time.Second
	// pinsAtOnce is how many servers are listed at once.
	pinsAtOnce = 4
)

var errNotListed = errors.New("mcp: the tools of the server were not listed yet")

// Pins knows what the tools of each server are now. It is safe for concurrent use.
type Pins struct {
	// List returns the definitions of a server's tools by their names.
	List func(ctx context.Context, server *resources.MCPServer) (map[string]string, error)
	// Servers returns those of the tree in force.
	Servers func() []*resources.MCPServer
	Now     func() time.Time
	Log     *slog.Logger

	mu     sync.Mutex
	latest map[string]*listing
	asked  chan string
	making sync.Once
}

// listing is what a server listed last.
type listing struct {
	definitions map[string]string
	// err is why there is none; made is its time.
	err  error
	made time.Time
	// logged are the definitions of changed tools, by name.
	logged map[string]string
}

// Definition returns the definition of a tool, "" if the server does not have it now. The error is that the server's
// tools are not known.
func (p *Pins) Definition(server, tool string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch l := p.latest[server]; {
	case l == nil:
		return "", errNotListed
	case l.definitions == nil:
		return "", l.err
	default:
		return l.definitions[tool], nil
	}
}

// Changed has the tools of a server listed soon.
func (p *Pins) Changed(server string) {
	select {
	case p.again() <- server:
	default: // enough of them wait
	}
}

func (p *Pins) again() chan string {
	p.making.Do(func() { p.asked = make(chan string, 16) })
	return p.asked
}

// Run lists all servers at once, and then again and again until ctx ends.
func (p *Pins) Run(ctx context.Context) {
	tick := time.NewTicker(pinsEvery)
	defer tick.Stop()
	all := p.Servers()
	for {
		_ = atonce.Each(ctx, all, pinsAtOnce, func(ctx context.Context, s *resources.MCPServer) error {
			p.list(ctx, s)
			return nil
		})
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			all = p.Servers()
		case name := <-p.again():
			all = named(p.Servers(), name)
		}
	}
}

func named(all []*resources.MCPServer, name string) []*resources.MCPServer {
	for _, one := range all {
		if one.Name == name {
			return []*resources.MCPServer{one}
		}
	}
	return nil
}

// list notes what a server lists. A server that can't be listed keeps what it listed last, until it is too old.
func (p *Pins) list(ctx context.Context, s *resources.MCPServer) {
	if s.Pin != resources.MCPPinDefinitions {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pinsWithin)
	defer cancel()
	definitions, err := p.List(ctx, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest == nil {
		p.latest = map[string]*listing{}
	}
	l := p.latest[s.Name]
	if l == nil {
		l = &listing{logged: map[string]string{}}
		p.latest[s.Name] = l
	}
	now := p.Now()
	if err != nil {
		if l.err = err; now.Sub(l.made) > pinsOld {
			l.definitions = nil
		}
		p.Log.Warn("mcp: the tools of a server can't be listed", "server", s.Name, "error", err.Error())
		return
	}
	l.definitions, l.err, l.made = definitions, nil, now
	p.tell(s, l)
}

// pinsOld is how old a listing may be.
const pinsOld = 3 * pinsEvery

// tell logs each tool whose definition is not the reviewed one, once for each definition.
func (p *Pins) tell(s *resources.MCPServer, l *listing) {
	for name, tool := range s.Tools {
		is, offered := l.definitions[name]
		if !offered || is == tool.Definition || l.logged[name] == is {
			continue
		}
		l.logged[name] = is
		p.Log.Warn("mcp: a tool is not what was reviewed, and is neither listed nor called", "server", s.Name, "tool", name, "reviewed", tool.Definition, "is", is)
	}
}
