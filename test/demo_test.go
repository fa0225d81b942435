package test_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// demoAnswers runs what --demo printed in a shell, and gives its lines. Like call, it asks
// again where a busy machine made no decision in time.
func demoAnswers(t *testing.T, g *gatewayProcess) []string {
	t.Helper()
	// The last command is printed after `ready`, on another stream.
	eventually(t, 30*time.Second, "the demo's commands are printed", func() bool {
		return strings.Contains(g.stdout.String(), `X-Action: create-instances"`+"\n")
	})
	for try := 1; ; try++ {
		out, err := exec.Command("bash", "-euc", g.stdout.String()).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, g.stdout, out)
		}
		if !saysUndecided(out) || try == 20 {
			return strings.Split(strings.TrimSpace(string(out)), "\n")
		}
	}
}

// checkDemo holds the answers to what the commands promise.
func checkDemo(t *testing.T, answers []string) {
	t.Helper()
	want := []struct {
		allowed bool
		reason  string
	}{
		{true, "role account_admin grants project:instance:create"},
		{false, "no active role of the user grants project:instance:create in proj-demo-v1"},
		{true, "role project_reader grants project:instance:read"},
		{false, "no active role of the user grants project:instance:read in proj-demo-v1"},
	}
	if len(answers) != len(want)+1 {
		t.Fatalf("%d answers: %q", len(answers), answers)
	}
	for i, w := range want {
		var got struct {
			Allowed *bool
			Reason  string
		}
		if err := json.Unmarshal([]byte(answers[i]), &got); err != nil || got.Allowed == nil || *got.Allowed != w.allowed || got.Reason != w.reason {
			t.Errorf("answer %d: %s, want %+v", i, answers[i], w)
		}
	}
	if last := answers[len(want)]; !strings.Contains(last, `"code":"BAD_REQUEST"`) || !strings.Contains(last, `"X-Action: must have the form`) {
		t.Errorf("the malformed action: %s", last)
	}
}

// TestDemoPrintsWhatItSays: the printed commands, run as they are, show each kind of
// answer; a restart on the same folder changes nothing.
func TestDemoPrintsWhatItSays(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	g := startGatewayIn(t, dir, "--demo")
	var answers []string
	for _, p := range g.each() { // of replicas, each knows what one of them made
		answers = demoAnswers(t, p)
		checkDemo(t, answers)
	}
	alice := g.userToken(t, "user-alice-v1")
	users := func(g *gatewayProcess) string {
		var all []string
		for _, path := range []string{"/roles/users/user-alice-v1", "/roles/users/user-bob-v1", "/roles/users/user-carol-v1", "/projects", ""} {
			all = append(all, string(call(t, "GET", g.URL+"/api/v1/accounts/acct-demo-v1"+path, alice, "").Raw))
		}
		return strings.Join(all, "\n")
	}
	// What was changed since stays changed.
	if r := call(t, "DELETE", g.URL+"/api/v1/accounts/acct-demo-v1"+assignmentPath("team_member", "user-carol-v1", ""), alice, ""); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	before := users(g)
	g.terminate(t)
	if code := g.ended(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
	g = startGatewayIn(t, dir, "--demo")
	if after := users(g); after != before {
		t.Errorf("the restart changed\n%s\ninto\n%s", before, after)
	}
	for _, p := range g.each() {
		if again := demoAnswers(t, p); strings.Join(again, "\n") != strings.Join(answers, "\n") {
			t.Errorf("after the restart: %q, before it %q", again, answers)
		}
	}
}

// TestDemoLeavesAStoreOfOthersAlone, and prints nothing that would not work there.
func TestDemoLeavesAStoreOfOthersAlone(t *testing.T) {
	t.Parallel()
	g := outsideGateway(t, "--demo")
	r := call(t, "GET", g.URL+"/api/v1/accounts/acct-demo-v1", g.serviceToken(t, "platform:admin"), "")
	if r.Status != 404 || strings.Contains(g.stdout.String(), "curl") || !strings.Contains(g.stderr.String(), "no demo data was made") {
		t.Errorf("%d %s; stdout %q", r.Status, r.Raw, g.stdout)
	}
}
