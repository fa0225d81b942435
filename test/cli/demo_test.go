package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// demoAnswers runs what --demo printed in a shell, and gives its lines. Like call, it asks
// again where a busy machine made no decision in time.
func demoAnswers(t *testing.T, g *harness.Gateway) []string {
	t.Helper()
	// The last command is printed after `ready`, on another stream.
	harness.SoonWithin(t, 30*time.Second, "the demo's commands are printed", func() bool {
		return strings.Contains(g.Stdout.String(), `"tools/list", "params": {}}'`+"\n")
	})
	for try := 1; ; try++ {
		out, err := exec.Command("bash", "-euc", g.Stdout.String()).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, g.Stdout, out)
		}
		if !harness.SaysUndecided(out) || try == 20 {
			return strings.Split(strings.TrimSpace(string(out)), "\n")
		}
	}
}

// demoDecision is what a command answers, in the words of the line above it.
func demoDecision(t *testing.T, answer string) string {
	t.Helper()
	var got struct {
		Allowed *bool
		Reason  string
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Allowed == nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return map[bool]string{true: "allowed: ", false: "denied: "}[*got.Allowed] + got.Reason
}

// checkDemo holds the answers to what the demo data gives, and to what was printed above each
// command.
func checkDemo(t *testing.T, g *harness.Gateway, answers []string, want ...string) {
	t.Helper()
	if len(answers) != len(want)+2 {
		t.Fatalf("%d answers: %q", len(answers), answers)
	}
	var above []string
	for line := range strings.Lines(g.Stdout.String()) {
		if strings.HasPrefix(line, "# ") && strings.Contains(line, "? ") {
			above = append(above, strings.TrimSpace(line))
		}
	}
	for i, w := range want {
		if got := demoDecision(t, answers[i]); got != w {
			t.Errorf("answer %d: %s, want %s", i, got, w)
		}
		if !strings.HasSuffix(above[i], "? "+w) {
			t.Errorf("answer %d is %q, and above it stands %q", i, w, above[i])
		}
	}
	if last := answers[len(want)]; !strings.Contains(last, `"code":"BAD_REQUEST"`) || !strings.Contains(last, `"X-Action: must have the form`) {
		t.Errorf("the malformed action: %s", last)
	}
	if tools := answers[len(want)+1]; !strings.Contains(tools, `"name":"search_tickets"`) || strings.Contains(tools, "close_ticket") {
		t.Errorf("the tools of Bob's agent: %s", tools)
	}
}

// TestDemoPrintsWhatItSays: the printed commands, run as they are, show each kind of
// answer and what they answer now; a restart on the same folder changes nothing.
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
	g := harness.StartIn(t, dir, "--demo")
	const create, none = "allowed: role account_admin grants project:instance:create", "denied: no active role of the user grants "
	const mayRead, carol = "allowed: role project_reader grants project:instance:read", none + "project:instance:read in proj-demo-v1"
	for _, p := range g.Each() { // of replicas, each knows what one of them made
		checkDemo(t, p, demoAnswers(t, p), create, none+"project:instance:create in proj-demo-v1", mayRead, carol)
	}
	checkDemoToken(t, g, dir)
	alice := g.UserToken(t, "user-alice-v1")
	users := func(g *harness.Gateway) string {
		var all []string
		for _, path := range []string{"/roles/users/user-alice-v1", "/roles/users/user-bob-v1", "/roles/users/user-carol-v1", "/projects", ""} {
			all = append(all, string(harness.Call(t, "GET", g.URL+"/api/v1/accounts/acct-demo-v1"+path, alice, "").Raw))
		}
		return strings.Join(all, "\n")
	}
	// What was changed since stays changed.
	if r := harness.Call(t, "DELETE", g.URL+"/api/v1/accounts/acct-demo-v1"+harness.AssignmentPath("team_member", "user-carol-v1", ""), alice, ""); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	body := `{"projectId": "proj-demo-v1"}`
	if r := harness.Call(t, "PUT", g.URL+"/api/v1/accounts/acct-demo-v1/roles/project_admin/assignments/user-bob-v1", alice, body); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	before := users(g)
	g.Terminate(t)
	if code := g.Ended(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
	g = harness.StartIn(t, dir, "--demo")
	if after := users(g); after != before {
		t.Errorf("the restart changed\n%s\ninto\n%s", before, after)
	}
	for _, p := range g.Each() {
		checkDemo(t, p, demoAnswers(t, p), create, "allowed: role project_admin grants project:instance:create", "allowed: role project_admin grants project:instance:read", carol)
	}
}

// checkDemoToken: the token is in a file that only its owner can read, and is not printed. The printed text
// names the gateway's listeners, and how to stop it.
func checkDemoToken(t *testing.T, g *harness.Gateway, dir string) {
	t.Helper()
	path := filepath.Join(dir, "demo.token")
	for _, file := range []string{path, filepath.Join(dir, "demo-agent.token")} {
		info, err := os.Stat(file)
		if err != nil || info.Mode() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		token, err := os.ReadFile(file)
		if err != nil || strings.Contains(g.Stdout.String()+g.Stderr.String(), strings.TrimSpace(string(token))) {
			t.Errorf("the token is printed, or can't be read: %v", err)
		}
	}
	for _, p := range g.Each() {
		for _, says := range []string{p.URL + "/docs", p.UsersURL, p.HealthURL, "Ctrl-C", "$(cat " + path + ")"} {
			if !strings.Contains(p.Stdout.String(), says) {
				t.Errorf("it does not say %s", says)
			}
		}
	}
}

// TestDemoLeavesAStoreOfOthersAlone, and prints nothing that would not work there.
func TestDemoLeavesAStoreOfOthersAlone(t *testing.T) {
	t.Parallel()
	g := harness.OutsideGateway(t, "--demo")
	r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/acct-demo-v1", g.ServiceToken(t, "platform:admin"), "")
	if r.Status != 404 || strings.Contains(g.Stdout.String(), "curl") || !strings.Contains(g.Stderr.String(), "no demo data was made") {
		t.Errorf("%d %s; stdout %q", r.Status, r.Raw, g.Stdout)
	}
}
