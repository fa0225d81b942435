package cli_test

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// clusterBecomes waits until a cluster has a status; the paths are those of its project.
func clusterBecomes(t *testing.T, url, token, status string) harness.Reply {
	t.Helper()
	var r harness.Reply
	harness.SoonWithin(t, time.Minute, "the cluster is "+status, func() bool {
		r = harness.Call(t, "GET", url, token, "")
		return harness.At(r.Body, "cluster", "base", "status") == "CLUSTER_STATUS_"+status
	})
	return r
}

// order makes a cluster and gives its URL.
func order(t *testing.T, project, token string) string {
	t.Helper()
	r := harness.Call(t, "POST", project+"/kubernetes", token, `{"name":"web","flavor_id":"f","image_id":"i"}`)
	if r.Status != 201 {
		t.Fatalf("kubernetes_cluster.create: %d %s", r.Status, r.Raw)
	}
	return fmt.Sprint(project, "/kubernetes/", harness.At(r.Body, "cluster", "base", "cluster_id"))
}

// TestDemoMakesItsClusters within its first minute, and takes them away.
func TestDemoMakesItsClusters(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, "--demo")
	token := g.UserToken(t, "user-alice-v1")
	url := order(t, g.URL+"/api/v1/accounts/acct-demo-v1/projects/proj-demo-v1", token)
	clusterBecomes(t, url, token, "RUNNING")
	if r := harness.Call(t, "DELETE", url, token, ""); r.Status != 200 {
		t.Fatalf("kubernetes_cluster.delete: %d %s", r.Status, r.Raw)
	}
	clusterBecomes(t, url, token, "DELETED")
}

// TestSimulatedProvisioner works over HTTP alone, and says what failed.
func TestSimulatedProvisioner(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, harness.Binary, "provisioner", "--simulate", "--url", s.URL, "--failure-rate", "1", "--step", "10ms")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PORTCULLIS_TOKEN=" + s.ServiceToken(t, "clusters:provision")}
	must.Do(t, cmd.Start())
	defer func() {
		stop()
		_ = cmd.Wait() // it was killed
	}()
	url := order(t, s.Path("/projects/"+s.Project), s.AdminToken)
	if r := clusterBecomes(t, url, s.AdminToken, "ERROR"); r.Body["error"] != "the simulated machines did not start" {
		t.Errorf("%s", r.Raw)
	}
}

// TestProvisionerRefusesItsSettings with one line, and a token without the scope.
func TestProvisionerRefusesItsSettings(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--simulate is needed":            {},
		"--failure-rate must be from 0":   {"--simulate", "--failure-rate", "1.5"},
		"from 0 to 1, not NaN":            {"--simulate", "--failure-rate", "NaN"},
		"--step must be from 0s to 3m0s":  {"--simulate", "--step", "1h"},
		"there is no --token, and none":   {"--simulate"},
		"provisioner takes no arguments,": {"--simulate", "now"},
	} {
		harness.WantOneLine(t, harness.Command(t, nil, append([]string{"provisioner"}, args...)...), want)
	}
	g := harness.Shared(t)
	harness.WantOneLine(t, harness.Command(t, nil, "provisioner", "--simulate", "--url", g.URL, "--token", g.ServiceToken(t, "authz:check")), "the gateway answers 403")
}
