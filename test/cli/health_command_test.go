package cli_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestHealthCommand says what the health listener says, by its exit code: for containers
// without a shell. A listener on every address is asked on this machine, one at a link-local address of IPv6 by its zone.
func TestHealthCommand(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	address := strings.TrimPrefix(g.HealthURL, "http://")
	_, port, _ := strings.Cut(address, ":")
	for _, listen := range []string{address, ":" + port, "0.0.0.0:" + port} {
		if got := harness.Command(t, []string{"PORTCULLIS_HEALTH_LISTEN=" + listen}, "health"); got.Code != 0 || !strings.Contains(got.Stdout, `"status":"ready"`) {
			t.Errorf("%s: %d %s %s", listen, got.Code, got.Stdout, got.Stderr)
		}
	}
	unready := harness.Start(t, "--accounts-url", "http://127.0.0.1:1/healthz")
	for listen, want := range map[string]string{strings.TrimPrefix(unready.HealthURL, "http://"): "503", "127.0.0.1:1": "refused", "[::1%lo]:1": "dial tcp [::1%lo]:1: "} {
		if got := harness.Command(t, nil, "health", "--health-listen", listen); got.Code != 1 || !strings.Contains(got.Stderr, "not ready") || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %d %s", listen, got.Code, got.Stderr)
		}
	}
	if got := harness.Command(t, nil, "health", "--health-listen", "nowhere"); got.Code != 2 {
		t.Errorf("%d %s", got.Code, got.Stderr)
	}
}
