package proxies_test

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

const examples = "../../gateway/doors/examples"

// call is a call that arrived at the service.
type call struct {
	method, target string
	header         http.Header
	body           int64
}

// service is a service behind a proxy. It keeps what arrives.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	seen []call
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body) // what is missing of it shows in the count
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, call{r.Method, r.RequestURI, r.Header, n})
	}))
	t.Cleanup(s.Close)
	return s
}

// arrived returns what has arrived since it was last asked.
func (s *service) arrived() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// relay stands between a proxy and the gateway: it counts the bytes of bodies, and can be slow or gone.
type relay struct {
	*httptest.Server
	bodies atomic.Int64
	asked  atomic.Int64
	slow   atomic.Bool
	done   chan struct{}
}

func newRelay(t *testing.T, gateway string) *relay {
	t.Helper()
	base := must.Get(url.Parse(gateway))(t)
	r := &relay{done: make(chan struct{})}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(base)
		p.Out.Host = p.In.Host
		for name, values := range p.In.Header { // which the proxy of the standard library takes away
			if strings.HasPrefix(name, "X-Forwarded-") {
				p.Out.Header[name] = values
			}
		}
	}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.asked.Add(1)
		n, _ := io.Copy(io.Discard, req.Body) // the count is what matters
		r.bodies.Add(n)
		req.Body = http.NoBody
		if r.slow.Load() {
			<-r.done
			return
		}
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(func() { close(r.done); r.Close() })
	return r
}

// leave ends the relay: nobody listens at its address any more.
func (r *relay) leave(t *testing.T) {
	t.Helper()
	must.Do(t, r.Listener.Close())
	r.CloseClientConnections()
}

// proxiesWorld is a gateway and a service.
type proxiesWorld struct {
	*harness.Team
	service *service
}

// newWorld starts them. Bob reads widgets, Dan may do all with them, Carol nothing.
func newWorld(t *testing.T) *proxiesWorld {
	t.Helper()
	policies := harness.CopyPolicies(t)
	routes := filepath.Join(policies, "routes", "data.json")
	rows := map[string]any{}
	for _, file := range []string{routes, filepath.Join(examples, "routes.json")} {
		some := map[string]any{}
		must.Do(t, json.Unmarshal([]byte(read(t, file)), &some))
		maps.Copy(rows, some)
	}
	text := must.Get(json.Marshal(rows))(t)
	harness.WriteFile(t, routes, string(text))
	w := &proxiesWorld{Team: harness.StartTeam(t, "--policy-dir", policies)}
	w.Grant(t, "project_reader", w.Bob, w.Project)
	w.Grant(t, "project_admin", w.Dan, w.Project)
	w.service = newService(t)
	return w
}

func read(t *testing.T, file string) string {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	return string(text)
}

// proxy is a proxy with its example.
type proxy struct {
	program string
	files   []string
	args    func(dir string) []string
	// change is what a test changes of an example beside the addresses: where files are written.
	change func(text string) string
	// closed is the status without a verdict.
	closed []int
}

// start runs the proxy between the service and the relay, and returns its address.
func (p proxy) start(t *testing.T, w *proxiesWorld, r *relay) string {
	t.Helper()
	dir, address := t.TempDir(), servers.Address(t)
	if err := os.Chmod(dir, 0o755); err != nil { // workers run as another user, and read it
		t.Fatal(err)
	}
	_, port := must.Two(net.SplitHostPort(address))(t)
	gateway := strings.TrimPrefix(r.URL, "http://")
	_, gatewayPort := must.Two(net.SplitHostPort(gateway))(t)
	addresses := strings.NewReplacer(
		"127.0.0.1:8080", gateway, `"127.0.0.1", 8080`, `"127.0.0.1", `+gatewayPort,
		"127.0.0.1:7000", strings.TrimPrefix(w.service.URL, "http://"), "127.0.0.1:8000", address, "widgets.example:8000", "widgets.example:"+port, "http://:8000", "http://:"+port,
	)
	for _, name := range p.files {
		text := addresses.Replace(read(t, filepath.Join(examples, name)))
		if p.change != nil {
			text = p.change(text)
		}
		harness.WriteFile(t, filepath.Join(dir, name), text)
		must.Do(t, os.Chmod(filepath.Join(dir, name), 0o644))
	}
	servers.Proxy(t, address, dir, p.program, p.args(dir)...)
	return address
}
