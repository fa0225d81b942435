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
	// List returns the definitions of a server's tools by their names, at least of those in its rows.
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
	// upstream is the one that was listed.
	upstream string
	// rows are the policy's rows at that time. definitions has no other tools.
	rows        map[string]resources.MCPTool
	definitions map[string]string
	// err is the error of the latest attempt, made the time of the latest success.
	err  error
	made time.Time
	// changed is the number of listed tools with a changed definition. logged holds their logged changes, by name.
	changed int
	logged  map[string]string
	// read and failed count the listings.
	read, failed uint64
}

// PinStats are the figures of one server.
type PinStats struct {
	Server string
	// Changed is the number of tools with a changed definition, by the latest listing.
	Changed int
	// Read and Failed count listings.
	Read, Failed uint64
}

// Stats returns the counts of changed tools and of listings, for each server whose tools the policy in force pins by
// their definitions.
func (p *Pins) Stats() (out []PinStats) {
	servers := p.Servers()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range servers {
		if s.Pin != resources.MCPPinDefinitions {
			continue
		}
		one := PinStats{Server: s.Name}
		if l := p.latest[s.Name]; l != nil {
			one.Changed, one.Read, one.Failed = l.changed, l.read, l.failed
		}
		out = append(out, one)
	}
	return out
}

// Definition returns the definition of a tool, or "" if the server does not list it. It returns an error if no listing of
// the server's upstream and of the tool's row has succeeded recently.
func (p *Pins) Definition(s *resources.MCPServer, tool string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch l := p.latest[s.Name]; {
	case l == nil || l.upstream != s.Upstream: // the policy tree has got the server since, or has moved it
		p.Changed(s.Name)
		return "", errNotListed
	case p.Now().Sub(l.made) > pinsOld:
		return "", errors.Join(errOldListing, l.err)
	case has(s.Tools, tool) && !has(l.rows, tool): // the policy tree has got the tool's row since
		if l.err == nil { // while the listings fail, calls ask for no further ones
			p.Changed(s.Name)
		}
		return "", errNotListed
	default:
		return l.definitions[tool], nil
	}
}

func has(rows map[string]resources.MCPTool, tool string) bool { _, ok := rows[tool]; return ok }

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
	all := p.current()
	for {
		_ = atonce.Each(ctx, all, pinsAtOnce, func(ctx context.Context, s *resources.MCPServer) error {
			p.list(ctx, s)
			return nil
		})
		select { // before the listings that a slow server may ask for without end
		case <-tick.C:
			all = p.current()
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			all = p.current()
		case name := <-p.again():
			all = named(p.Servers(), name)
		}
	}
}

// current returns the servers of the policy in force, and forgets the listings of all others.
func (p *Pins) current() []*resources.MCPServer {
	all, next := p.Servers(), map[string]*listing{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range all {
		if l := p.latest[s.Name]; l != nil && s.Pin == resources.MCPPinDefinitions {
			next[s.Name] = l
		}
	}
	p.latest = next
	return all
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
	l := p.latest[s.Name]
	if l == nil {
		l = &listing{}
		p.latest[s.Name] = l
	}
	if l.upstream != s.Upstream {
		l.upstream, l.definitions, l.made = s.Upstream, nil, time.Time{}
	}
	now := p.Now()
	if err != nil {
		if l.err == nil {
			p.Log.Warn("mcp: listing the tools of a server failed; it is tried again", "server", s.Name, "error", err.Error())
		}
		l.err = err
		l.failed++
		return
	}
	if l.err != nil {
		p.Log.Info("mcp: the tools of a server can be listed again", "server", s.Name)
	}
	l.rows, l.definitions, l.err, l.made = s.Tools, definitions, nil, now
	l.read++
	p.tell(s, l)
}

// pinsOld is the greatest age of a listing in use.
const pinsOld = 3 * pinsEvery

// tell counts the changed tools, and logs each change once. A tool with its reviewed definition can change anew.
func (p *Pins) tell(s *resources.MCPServer, l *listing) {
	logged := map[string]string{}
	l.changed = 0
	for name, tool := range s.Tools {
		is, offered := l.definitions[name]
		if !offered {
			logged[name] = l.logged[name]
			continue
		}
		if is == tool.Definition {
			continue
		}
		l.changed++
		if logged[name] = tool.Definition + " " + is; logged[name] != l.logged[name] {
			p.Log.Warn("mcp: the definition of a tool differs from the reviewed one; the gateway hides and denies the tool", "server", s.Name, "tool", name, "reviewed", tool.Definition, "is", is)
		}
	}
	l.logged = logged
}
