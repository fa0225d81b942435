package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// TestRollingRestartFailsNoRequest: three replicas behind HAProxy, with the example's checks, are stopped
// and started one after the other under the requests of 16 clients.
func TestRollingRestartFailsNoRequest(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	r := harness.StartReplicas(t, 3, "--shutdown-delay", "5s", "--policy-timeout", "5s")
	proxy, stats := servers.Address(t), servers.Address(t)
	startProxy(t, proxy, stats, r.All)
	up := func(n int) bool { return proxyState(t, stats, n) == "UP" }
	for n := range r.All {
		harness.Soon(t, "the proxy sees them", func() bool { return up(n) })
	}
	a := startAskers(r.Scene, "http://"+proxy, 16, func() bool { return true })
	harness.Soon(t, "all ask", func() bool { return a.answered.Load() > 200 })
	for n, g := range r.All {
		began := time.Now()
		g.Terminate(t)
		if code := g.Ended(t); code != 0 {
			t.Errorf("replica %d: exit %d", n, code)
		}
		args := append([]string{"--listen", strings.TrimPrefix(g.URL, "http://"), "--health-listen", strings.TrimPrefix(g.HealthURL, "http://")}, r.Flags...)
		r.All[n] = harness.Launch(t, g.DataDir, args...)
		harness.Soon(t, "the proxy sees it again", func() bool { return up(n) })
		t.Logf("replica %d is back after %s; %d requests answered", n, time.Since(began).Round(time.Millisecond), a.answered.Load())
	}
	close(a.stop)
	a.judge(t)
}

// startProxy runs HAProxy in front of the replicas, with the checks of the example for replicas.
func startProxy(t *testing.T, address, stats string, replicas []*harness.Gateway) {
	t.Helper()
	example := readExample(t, "haproxy.cfg")
	backend := example[strings.Index(example, "\nbackend gateways"):]
	var kept []string
	for line := range strings.Lines(backend) {
		if !strings.HasPrefix(strings.TrimSpace(line), "server ") {
			kept = append(kept, strings.Replace(strings.Replace(line, " resolvers engine init-addr libc,none", "", 1), "check port 9002 ", "check ", 1))
		}
	}
	for n, g := range replicas {
		kept = append(kept, fmt.Sprintf("    server gateway%d %s port %s\n", n, strings.TrimPrefix(g.URL, "http://"), g.HealthURL[strings.LastIndex(g.HealthURL, ":")+1:]))
	}
	text := "defaults\n    mode http\n    timeout connect 1s\n    timeout client 60s\n    timeout server 60s\n    timeout queue 5s\n" +
		"frontend edge\n    bind " + address + "\n    default_backend gateways\n" +
		"frontend stats\n    bind " + stats + "\n    stats enable\n    stats uri /\n" + strings.Join(kept, "")
	dir := t.TempDir()
	harness.WriteFile(t, filepath.Join(dir, "haproxy.cfg"), text)
	servers.Proxy(t, address, dir, "haproxy", "-f", "haproxy.cfg", "-db")
}

// proxyState is what the proxy says of a replica.
func proxyState(t *testing.T, stats string, replica int) string {
	t.Helper()
	resp := must.Get(http.Get("http://" + stats + "/;csv"))(t)
	defer func() { _ = resp.Body.Close() }()
	raw := must.Get(io.ReadAll(resp.Body))(t)
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(line, ","); len(fields) > 17 && fields[1] == fmt.Sprintf("gateway%d", replica) {
			return fields[17]
		}
	}
	return ""
}

func readExample(t *testing.T, name string) string {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join("../../cmd/portcullis/deploy/compose/replicas", name)))(t)
	return string(raw)
}
