package mcp

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/atonce"
	"github.com/portcullis-authz/portcullis/resources/definition"
	"github.com/portcullis-authz/portcullis/resources/memo"
)

const (
	// pinsEvery is the interval between two listings of a server.
	pinsEvery = 30 * time.Second
	// pinsWithin is the deadline of a listing.
	pinsWithin = 20 * time.Second
	// pinsAtOnce is the number of servers that are listed concurrently.
	pinsAtOnce = 4
)

var (
	errNotListed  = errors.New("mcp: the gateway has not listed the server's tools yet")
	errOldListing = errors.New("mcp: the last listing of the server's tools is too old")
)

// Pins caches the current definitions of every server's tools. It is safe for concurrent use.
type Pins struct {
	// List returns the definitions of a server's tools by their names.
	List func(ctx context.Context, server *resources.MCPServer) (map[string]string, error)
	// Servers returns the servers of the policy in force.
	Servers func() []*resources.MCPServer
	Now     func() time.Time
	Log     *slog.Logger

	mu     sync.Mutex
	latest map[string]*listing
	asked  chan string
	// read caches the definitions of tools by the SHA-256 of their bytes.
	read   *memo.Table[[sha256.Size]byte, string]
	making sync.Once
}

// maxRead limits the cached definitions. Each takes about 200 bytes.
const maxRead = 1 << 13

// listing is a server's latest list.
type listing struct {
	definitions map[string]string
	// err is the error of the latest attempt, made the time of the latest success.
	err  error
	made time.Time
	// logged holds the logged definitions of changed tools, by name.
	logged map[string]string
}

// Definition returns the definition of a tool, or "" if the server does not list it. It returns an error if no listing
// has succeeded recently.
func (p *Pins) Definition(server, tool string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch l := p.latest[server]; {
	case l == nil:
		return "", errNotListed
	case p.Now().Sub(l.made) > pinsOld:
		return "", errors.Join(errOldListing, l.err)
	default:
		return l.definitions[tool], nil
	}
}

// Changed schedules a listing of a server.
func (p *Pins) Changed(server string) {
	select {
	case p.again() <- server:
	default: // 16 listings are scheduled already
	}
}

func (p *Pins) make() {
	p.making.Do(func() { p.asked, p.read = make(chan string, 16), memo.New[[sha256.Size]byte, string](maxRead) })
}

func (p *Pins) again() chan string {
	p.make()
	return p.asked
}

// definitionOf returns the definition of a tool. Its canonical form takes a hundred times as long as a hash of its bytes.
func (p *Pins) definitionOf(tool []byte) (string, error) {
	p.make()
	sum := sha256.Sum256(tool)
	if cached := p.read.Get(sum); cached != nil {
		return *cached, nil
	}
	out, err := definition.Of(tool)
	if err == nil {
		p.read.Put(sum, out)
	}
	return out, err
}

// Run lists all servers now and every pinsEvery until ctx ends.
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

// list lists a server. After a failure the previous listing stays in use until it is older than pinsOld.
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
		l.err = err
		p.Log.Warn("mcp: listing the tools of a server failed", "server", s.Name, "error", err.Error())
		return
	}
	l.definitions, l.err, l.made = definitions, nil, now
	p.tell(s, l)
}

// pinsOld is the greatest age of a listing in use.
const pinsOld = 3 * pinsEvery

// tell logs each changed tool once per definition.
func (p *Pins) tell(s *resources.MCPServer, l *listing) {
	for name, tool := range s.Tools {
		is, offered := l.definitions[name]
		if !offered || is == tool.Definition || l.logged[name] == is {
			continue
		}
		l.logged[name] = is
		p.Log.Warn("mcp: the definition of a tool differs from the reviewed one; the gateway hides and denies the tool", "server", s.Name, "tool", name, "reviewed", tool.Definition, "is", is)
	}
}
