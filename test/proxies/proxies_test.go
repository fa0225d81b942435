package proxies_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// proxies are those that Debian has, by their names.
var proxies = map[string]proxy{
	"nginx": {
		program: "nginx", files: []string{"nginx.conf"}, closed: []int{500},
		args: func(string) []string {
			return []string{"-e", "stderr", "-p", ".", "-c", "nginx.conf", "-g", "daemon off; master_process off; pid nginx.pid;"}
		},
		change: func(text string) string {
			var folders strings.Builder
			for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				fmt.Fprintf(&folders, " %s_temp_path %s;", name, name)
			}
			return strings.Replace(text, "http {", "http { access_log off;"+folders.String(), 1)
		},
	},
	"Caddy": {
		program: "caddy", files: []string{"Caddyfile"}, closed: []int{502, 504},
		args: func(string) []string { return []string{"run", "--config", "Caddyfile"} },
	},
	"HAProxy": {
		program: "haproxy", files: []string{"haproxy.cfg", "portcullis.lua"}, closed: []int{503, 504},
		args: func(string) []string { return []string{"-f", "haproxy.cfg", "-db"} },
	},
	"Apache": {
		program: "apache2", files: []string{"apache.conf", "portcullis-apache.lua"}, closed: []int{503},
		args: func(dir string) []string { return []string{"-f", dir + "/apache.conf", "-X"} },
	},
}

// forged are headers of a client who wants to be somebody else, or elsewhere.
var forged = []string{
	"X-User-ID", "user-mallory-v1", "X-Account-ID", "acct-other-v1", "X-Action", "project:*:*", "X-Principal-Kind", "service",
	"X-Portcullis-Assertion", "forged", "X_User_ID", "user-mallory-v1", "X_Portcullis_Assertion", "forged",
	"X-User_ID", "user-mallory-v1", "X-Principal_Kind", "service", "X-Portcullis_Assertion", "forged", "X_Request-ID", "forged",
	"X-Original-Method", "GET", "X-Original-URI", "/status", "X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/status", "X-Forwarded-Host", "other.example",
}

// identity are the headers that a service may rely on.
var identity = []string{"X-User-Id", "X-Account-Id", "X-Action", "X-Principal-Kind"}

// TestProxiesLetPassWhatIsAllowed and nothing else, with what the gateway says of the caller.
func TestProxiesLetPassWhatIsAllowed(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	w := newWorld(t)
	for _, name := range slices.Sorted(maps.Keys(proxies)) {
		t.Run(name, func(t *testing.T) {
			p, relay := proxies[name], newRelay(t, w.URL)
			behind{w, p, relay, p.start(t, w, relay)}.check(t)
		})
	}
}

// behind is a service behind a proxy.
type behind struct {
	*proxiesWorld
	proxy   proxy
	relay   *relay
	address string
}

func (b behind) check(t *testing.T) {
	place := "/projects/" + b.Project
	bob, carol, dan := b.UserToken(t, b.Bob), b.UserToken(t, b.Carol), b.UserToken(t, b.Dan)
	reads := b.Bob + " " + b.Account + " project:widget:read user"
	for name, c := range map[string]struct {
		method, target, token string
		want                  []int
		identity              string // of a call that arrives
		assertion             bool
	}{
		"a reader reads":           {"GET", place + "/widgets/1", bob, []int{200}, reads, true},
		"with a query":             {"GET", place + "/widgets/a%20b?a=/../%2e&a", bob, []int{200}, reads, true},
		"HEAD":                     {"HEAD", place + "/widgets/1", bob, []int{200}, reads, true},
		"an admin changes":         {"PUT", place + "/widgets/1", dan, []int{200}, b.Dan + " " + b.Account + " project:widget:update user", false},
		"an admin patches":         {"PATCH", place + "/widgets/1", dan, []int{200}, b.Dan + " " + b.Account + " project:widget:update user", false},
		"anybody":                  {"GET", "/status", "", []int{200}, "   ", false},
		"a reader changes":         {"DELETE", place + "/widgets/1", bob, []int{403}, "", false},
		"a stranger reads":         {"GET", place + "/widgets/1", carol, []int{403}, "", false},
		"a stranger asks for HEAD": {"HEAD", place + "/widgets/1", carol, []int{403}, "", false},
		"nobody reads":             {"GET", place + "/widgets/1", "", []int{401}, "", false},
		"a broken token":           {"GET", place + "/widgets/1", harness.OtherEnding(bob), []int{401}, "", false},
		"no row":                   {"GET", "/elsewhere", dan, []int{404, 500}, "", false},
		"dots":                     {"GET", place + "/widgets/%2e%2e/1", dan, []int{400, 404, 500}, "", false},
		"an encoded slash":         {"GET", place + "/widgets/..%2f1", dan, []int{400, 404, 500}, "", false},
		"two slashes":              {"GET", place + "//widgets/1", dan, []int{400, 404, 500}, "", false},
		"out by dots":              {"GET", "/status/../projects/" + b.Project + "/widgets", carol, []int{400, 403, 404, 500}, "", false},
	} {
		for _, headers := range [][]string{nil, forged} {
			r := b.send(t, c.method, c.target, c.token, nil, headers...)
			if !slices.Contains(c.want, r) {
				t.Errorf("%s, forged %v: %d, want %v", name, headers != nil, r, c.want)
			}
			b.arrives(t, name, call{method: c.method, target: c.target}, c.identity, c.assertion)
		}
	}
	if status := b.sendTo(t, "other.example", "GET", "/status", "", nil); status != http.StatusMisdirectedRequest && status != http.StatusForbidden {
		t.Errorf("a host that is not served: %d", status)
	}
	b.arrives(t, "a host that is not served", call{}, "", false)
	b.keepsIdentity(t, bob)
	b.uploads(t, dan)
	b.closes(t, bob)
}

// keepsIdentity names the identity headers as those of one connection, for proxies to remove. It
// asks for newly read facts by an unknown word.
func (b behind) keepsIdentity(t *testing.T, token string) {
	t.Helper()
	target := "/projects/" + b.Project + "/widgets/1"
	for _, connection := range []string{"X-User-ID", "close, x-principal-kind", "x-portcullis-assertion,X-Account-ID"} {
		status := b.send(t, "GET", target, token, nil, "Connection", connection)
		if status == http.StatusOK {
			b.arrives(t, "Connection: "+connection, call{method: "GET", target: target}, b.Bob+" "+b.Account+" project:widget:read user", true)
		} else if status != http.StatusBadRequest || len(b.service.arrived()) > 0 {
			t.Errorf("Connection: %s: %d", connection, status)
		}
	}
	if status := b.send(t, "GET", target, token, nil, "X-Consistency", "strictly"); status != http.StatusBadRequest && status != http.StatusInternalServerError {
		t.Errorf("X-Consistency does not reach the gateway: %d", status)
	}
	b.arrives(t, "X-Consistency", call{}, "", false)
}

// arrives holds what arrived to the call and to its identity; "" is that nothing arrives.
func (b behind) arrives(t *testing.T, name string, want call, identityWanted string, assertion bool) {
	t.Helper()
	seen := b.service.arrived()
	if identityWanted == "" {
		if len(seen) > 0 {
			t.Errorf("%s: arrived as %+v", name, seen)
		}
		return
	}
	if len(seen) != 1 || seen[0].method != want.method || seen[0].target != want.target || seen[0].body != want.body {
		t.Errorf("%s: arrived as %+v", name, seen)
		return
	}
	var got []string
	for _, name := range identity {
		got = append(got, strings.Join(seen[0].header[name], ","))
	}
	if strings.Join(got, " ") != identityWanted {
		t.Errorf("%s: of %q, want %q", name, got, identityWanted)
	}
	if token := seen[0].header["X-Portcullis-Assertion"]; assertion != (len(token) == 1 && strings.Count(token[0], ".") == 2) || !assertion && strings.Join(token, "") != "" {
		t.Errorf("%s: with the assertions %q", name, token)
	}
	for key, values := range seen[0].header {
		if strings.Contains(key, "_") || (key == "Authorization" || key == "X-Api-Key") && strings.Join(values, "") != "" {
			t.Errorf("%s: with %s: %q", name, key, values)
		}
	}
}

// uploads sends bodies, which reach the service once and the gateway never.
func (b behind) uploads(t *testing.T, token string) {
	t.Helper()
	before := b.relay.bodies.Load()
	target := "/projects/" + b.Project + "/widgets/upload"
	const size = 3 << 20
	for name, body := range map[string]io.Reader{
		"a length": strings.NewReader(strings.Repeat("x", size)), "chunks": io.MultiReader(strings.NewReader(strings.Repeat("x", size))),
	} {
		if status := b.send(t, "POST", target, token, body); status != 200 {
			t.Errorf("an upload with %s: %d", name, status)
		}
		b.arrives(t, "an upload with "+name, call{method: "POST", target: target, body: size}, b.Dan+" "+b.Account+" project:widget:update user", false)
	}
	if n := b.relay.bodies.Load() - before; n != 0 {
		t.Errorf("%d bytes of bodies reached the gateway", n)
	}
}

// closes has the gateway slow, and then gone.
func (b behind) closes(t *testing.T, token string) {
	t.Helper()
	asked := b.relay.asked.Load()
	target := "/projects/" + b.Project + "/widgets/1"
	b.relay.slow.Store(true)
	began := time.Now()
	status := b.send(t, "GET", target, token, nil)
	b.relay.slow.Store(false)
	if took := time.Since(began); !slices.Contains(b.proxy.closed, status) || took > 20*time.Second {
		t.Errorf("a slow gateway: %d after %s", status, took)
	}
	if b.relay.asked.Load() == asked {
		t.Error("a slow gateway was not asked")
	}
	b.arrives(t, "a slow gateway", call{}, "", false)
	if status := b.send(t, "GET", target, token, nil); status != 200 {
		t.Errorf("a gateway that is back: %d", status)
	}
	b.service.arrived()
	b.relay.leave(t)
	if status := b.send(t, "GET", target, token, nil); !slices.Contains(b.proxy.closed, status) {
		t.Errorf("a gateway that is gone: %d", status)
	}
	b.arrives(t, "a gateway that is gone", call{}, "", false)
}

// send makes a call to the host that is served and returns its status.
func (b behind) send(t *testing.T, method, target, token string, body io.Reader, headers ...string) int {
	t.Helper()
	return b.sendTo(t, "widgets.example", method, target, token, body, headers...)
}

// sendTo makes a call and returns its status.
func (b behind) sendTo(t *testing.T, host, method, target, token string, body io.Reader, headers ...string) int {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(context.Background(), method, "http://"+b.address, body))(t)
	r.Host = host
	r.URL.Opaque, r.URL.RawQuery, _ = strings.Cut(target, "?")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header[headers[i]] = []string{headers[i+1]}
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Timeout: 30 * time.Second}
	answer := must.Get(client.Do(r))(t)
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body) // the status is what matters
	return answer.StatusCode
}
