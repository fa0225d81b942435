package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestDecisionsAreReadAndVerified, beside a running gateway, from its private listener and after its end. Verify names the place
// that show prints.
func TestDecisionsAreReadAndVerified(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := harness.Launch(t, folder, append(harness.StoreArgs(t, folder, nil), "--decision-log", "required")...)
	s := harness.NewScene(t, g)
	asked := s.Ask(t, s.Admin, "project:instance:read", "/projects/"+s.Project+"/instances/i-1")
	id := asked.Header.Get("X-Decision-ID")
	denied := s.Ask(t, "user-nobody-v1", "project:instance:read", "/projects/"+s.Project)
	if id == "" || denied.Header.Get("X-Decision-ID") == "" || id == denied.Header.Get("X-Decision-ID") {
		t.Fatalf("%v %v", asked.Header, denied.Header)
	}
	token := g.ServiceToken(t, "authz:explain")
	var shown struct {
		Labels struct{ ID string }
		Place  struct{ Segment, Line int64 }
	}
	for _, source := range [][]string{{"--data-dir", g.DataDir}, {"--url", g.HealthURL, "--token", token}, {"--url", g.HealthURL, "--data-dir", g.DataDir}} {
		run := func(args ...string) harness.Outcome {
			return harness.Command(t, nil, append(append([]string{"decisions"}, args...), source...)...)
		}
		if o := run("show", id); o.Code != 0 || !strings.Contains(o.Stdout, `"decision_id": "`+id+`"`) || !strings.Contains(o.Stdout, `"account_admin"`) {
			t.Errorf("show: %+v", o)
		}
		shown.Place.Line = 0
		if must.Do(t, json.Unmarshal([]byte(run("show", denied.Header.Get("X-Decision-ID")).Stdout), &shown)); shown.Place.Segment != 1 || shown.Place.Line == 0 {
			t.Errorf("its place: %+v", shown)
		}
		if o := run("show", "01m8324b9vr5vs1j3q6kwbv04j"); o.Code != 1 || o.Stdout+o.Stderr != "" {
			t.Errorf("show of none: %+v", o)
		}
		if o := run("search", "--user", "user-nobody-v1", "--verdict", "deny"); o.Code != 0 || strings.Count(o.Stdout, "\n") != 1 {
			t.Errorf("search: %+v", o)
		}
		if o := run("search", "--place", "projects/"+s.Project+"/instances", "--since", "1h", "--json"); o.Code != 0 || !strings.Contains(o.Stdout, id) || strings.Count(o.Stdout, "\n") != 1 {
			t.Errorf("search for a place: %+v", o)
		}
		if o := run("search", "--user", "user-other-v1"); o.Code != 1 {
			t.Errorf("search without a hit: %+v", o)
		}
		harness.WantOneLine(t, run("search", "--verdict", "maybe"), "allow or deny")
		if o := run("tail", "-n", "1"); o.Code != 0 || !strings.Contains(o.Stdout, denied.Header.Get("X-Decision-ID")) {
			t.Errorf("tail: %+v", o)
		}
		o := run("export")
		var paths []string
		for line := range strings.Lines(o.Stdout) {
			var e struct{ Path string }
			must.Do(t, json.Unmarshal([]byte(line), &e))
			paths = append(paths, e.Path)
		}
		if got := strings.Join(paths, " "); got != "authz/access authz/access authz/decision authz/decision" { // the account, the project, the two questions
			t.Errorf("export: %s", got)
		}
	}
	harness.WantOneLine(t, harness.Command(t, nil, "decisions", "tail", "--data-dir", t.TempDir()), "there are no decisions")
	if harness.OnMongoDB() {
		return // verify would ask the database for the end
	}
	verify := func() harness.Outcome {
		return harness.Command(t, nil, "decisions", "verify", "--data-dir", g.DataDir)
	}
	if o := verify(); o.Code != 0 || !strings.Contains(o.Stdout, "the end is unknown") {
		t.Errorf("verify beside a gateway: %+v", o)
	}
	g.Terminate(t)
	g.Ended(t)
	if o := verify(); o.Code != 0 || strings.Contains(o.Stdout, "unknown") || !strings.Contains(o.Stdout, "decisions: 4") {
		t.Errorf("verify: %+v", o)
	}
	file := filepath.Join(g.DataDir, "decisions", "01", "000000000001.log")
	text := must.Get(os.ReadFile(file))(t)
	harness.WriteFile(t, file, strings.Replace(string(text), "user-nobody-v1", "user-nobodY-v1", 1))
	if o := verify(); o.Code != 1 || !strings.Contains(o.Stdout, fmt.Sprintf("NOT WHOLE: log %s, segment 1, line %d", shown.Labels.ID, shown.Place.Line)) {
		t.Errorf("verify of a changed log: %+v", o)
	}
}

// TestAGrantIsRecordedWithItsCall: whether the caller may hand on what they give is recorded below the call, allowed and denied.
func TestAGrantIsRecordedWithItsCall(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t, "--decision-log", "required")
	role := s.Must(t, 201, "POST", "/roles", `{"name":"assigner","scope":"ACCOUNT","permissions":["account:role_assignment:update"]}`).Body["id"].(string)
	s.Grant(t, role, s.Bob, "")
	bob := s.UserToken(t, s.Bob)
	path := s.Path(harness.AssignmentPath("account_admin", s.Carol, ""))
	for token, want := range map[string]struct {
		status  int
		verdict string
	}{s.AdminToken: {200, "allow"}, bob: {403, "deny"}} {
		r := harness.Call(t, "PUT", path, token, `{}`)
		call := r.Header.Get("X-Decision-ID")
		o := harness.Command(t, nil, "decisions", "search", "--path", "authz/grantable", "--verdict", want.verdict, "--json", "--data-dir", s.DataDir)
		if r.Status != want.status || call == "" || !strings.Contains(o.Stdout, `"parent_id":"`+call+`"`) {
			t.Errorf("%d %s, the call is %q: %+v", r.Status, r.Raw, call, o)
		}
	}
}

// TestDecisionsThatAreGoneAreNotWhole guarantees that verify reports a removed folder, and one copied beside another.
// Without a store there is nothing to say.
func TestDecisionsThatAreGoneAreNotWhole(t *testing.T) {
	t.Parallel()
	if harness.OnMongoDB() {
		t.Skip("verify would ask the database for the end")
	}
	s := harness.StartTeam(t, "--decision-log", "required")
	s.Ask(t, s.Admin, "project:instance:read", "/projects/"+s.Project)
	s.Terminate(t)
	s.Ended(t)
	verify := func() harness.Outcome {
		return harness.Command(t, nil, "decisions", "verify", "--data-dir", s.DataDir)
	}
	if o := verify(); o.Code != 0 {
		t.Fatalf("%+v", o)
	}
	decisions := filepath.Join(s.DataDir, "decisions")
	must.Do(t, os.CopyFS(filepath.Join(decisions, "02"), os.DirFS(filepath.Join(decisions, "01"))))
	if o := verify(); o.Code != 1 || !strings.Contains(o.Stdout, "is in two folders, 01 and 02") {
		t.Errorf("a copy: %+v", o)
	}
	must.Do(t, os.RemoveAll(decisions))
	if o := verify(); o.Code != 1 || !strings.Contains(o.Stdout, "nothing of it is in the folder") || strings.Contains(o.Stdout, "ok\n") {
		t.Errorf("without the folder: %+v", o)
	}
	harness.WantOneLine(t, harness.Command(t, nil, "decisions", "verify", "--data-dir", t.TempDir()), "there are no decisions")
}

// TestRecordsAreMaskedByThePolicyTree.
func TestRecordsAreMaskedByThePolicyTree(t *testing.T) {
	t.Parallel()
	policies := harness.CopyPolicies(t)
	harness.WriteFile(t, filepath.Join(policies, "mask.rego"), `package system.log

mask contains concat("/", ["/input/target", part]) if some part in {"rest", "resource"}

mask contains concat("/", ["/input/subject", part]) if some part in {"assignments", "here"}

mask contains to_number(input.input.target.rest) if input.input.action.verb == "broken"

drop if input.path == "authz/access"
`)
	g := harness.Start(t, "--decision-log", "required", "--policy-dir", policies)
	s := harness.NewScene(t, g)
	secret := s.Ask(t, s.Admin, "project:instance:read", "/projects/"+s.Project+"/instances/i-secret").Header.Get("X-Decision-ID")
	broken := s.Ask(t, s.Admin, "project:instance:broken", "/projects/"+s.Project+"/instances/i-secret").Header.Get("X-Decision-ID")
	o := harness.Command(t, nil, "decisions", "export", "--data-dir", g.DataDir)
	if strings.Count(o.Stdout, "\n") != 2 || strings.Contains(o.Stdout, "i-secret") || strings.Contains(o.Stdout, "role_scope") {
		t.Errorf("%+v", o)
	}
	for id, want := range map[string]string{secret: `"/input/target/rest"`, broken: `"mask_error": "data.system.log.mask: eval_builtin_error at mask.rego:7"`} {
		if o := harness.Command(t, nil, "decisions", "show", id, "--data-dir", g.DataDir); o.Code != 0 || !strings.Contains(o.Stdout, want) {
			t.Errorf("%+v", o)
		}
	}
	if o := harness.Command(t, nil, "decisions", "show", "", "--data-dir", g.DataDir); o.Code != 2 || o.Stdout != "" {
		t.Errorf("of no id: %+v", o)
	}
	replay := harness.Command(t, nil, "policy", "replay", "--decisions", filepath.Join(g.DataDir, "decisions"), policies)
	if replay.Code != 3 || !strings.Contains(replay.Stdout, "1 not judged: masked, and the tree reads it: input.subject.here\n") ||
		!strings.Contains(replay.Stdout, "1 not judged: masked, and the tree reads it: input\n") ||
		!strings.Contains(replay.Stdout, "2 not judged: dropped by the policy tree\n") {
		t.Errorf("%+v", replay)
	}
}

// TestRecordsWithoutWhatNoRuleReadsAreJudged anew as if they were whole.
func TestRecordsWithoutWhatNoRuleReadsAreJudged(t *testing.T) {
	t.Parallel()
	policies := harness.CopyPolicies(t)
	harness.WriteFile(t, filepath.Join(policies, "mask.rego"), `package system.log

mask contains "/input/target/rest"

mask contains {"op": "upsert", "path": "/result/reason", "value": "masked"}
`)
	g := harness.Start(t, "--decision-log", "required", "--policy-dir", policies)
	s := harness.NewScene(t, g)
	s.Ask(t, s.Admin, "project:instance:read", "/projects/"+s.Project+"/instances/i-1")
	s.Ask(t, "user-nobody-v1", "project:instance:read", "/projects/"+s.Project+"/instances/i-1")
	o := harness.Command(t, nil, "policy", "replay", "--decisions", filepath.Join(g.DataDir, "decisions"), policies)
	if o.Code != 0 || !strings.Contains(o.Stdout, ": 4 judged, 0 groups of other verdicts, 0 with another reason") || strings.Contains(o.Stdout, "not judged") {
		t.Errorf("%+v", o)
	}
}
