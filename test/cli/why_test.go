package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestWhyAsksTheGateway guarantees JSON unless the output is a terminal; exit 0 allowed, 1 denied,
// 2 error.
func TestWhyAsksTheGateway(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	path := "accounts/" + s.Account + "/projects/" + s.Project + "/instances"
	ask := func(user string, more ...string) harness.Outcome {
		args := []string{"why", "--data-dir", s.DataDir, "--url", s.URL, "--user", user, "--account", s.Account, "--action", "project:instance:create", path}
		for try := 1; ; try++ { // like harness.Call
			if o := harness.Command(t, nil, append(args, more...)...); !strings.Contains(o.Stderr, "503") || try == 20 {
				return o
			}
		}
	}
	for name, c := range map[string]struct {
		got     harness.Outcome
		code    int
		allowed bool
		fixes   int
	}{
		"0 allowed":        {ask(s.Admin), 0, true, 0},
		"1 denied":         {ask(s.Bob), 1, false, 2},
		"1 about oneself":  {ask(s.Bob, "--token", s.UserToken(t, s.Bob)), 1, false, 0},
		"1 an unknown one": {ask("user-nobody-v1"), 1, false, 0},
	} {
		var x struct {
			Allowed bool
			Reason  string
			Fixes   []any
		}
		if err := json.Unmarshal([]byte(c.got.Stdout), &x); err != nil || c.got.Code != c.code || x.Allowed != c.allowed || x.Reason == "" || len(x.Fixes) != c.fixes {
			t.Errorf("%s: %v %+v", name, err, c.got)
		}
	}
	harness.WantOneLine(t, ask(s.Admin, "--token", s.UserToken(t, s.Bob)), "403")
	harness.WantOneLine(t, ask(s.Admin, "--url", "http://127.0.0.1:1"), "does not answer")
	harness.WantOneLine(t, ask(s.Admin, "--url", s.HealthURL), "404")
}

// TestWhyOfAMadeUpWorld needs no gateway: what the file lacks is empty.
func TestWhyOfAMadeUpWorld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	why := func(name, content string) harness.Outcome {
		file := filepath.Join(dir, name+".json")
		must.Do(t, os.WriteFile(file, []byte(content), 0o600))
		return harness.Command(t, nil, "why", "--facts", file)
	}
	const world = `"account": {"id": "a", "exists": true, "status": "ACTIVE"}, "target": {"project": "p", "project_state": "active"},
		"now": 1767225600000, "subject": {"id": "bob", "exists": true, "status": "ACTIVE", "member": true, "assignments": {"p": {"": [
		{"role": "project_reader", "level": "PROJECT", "role_scope": "PROJECT", "role_status": "ACTIVE", "status": "ACTIVE", "running": true}]}}}`
	o := why("allowed", `{"action": {"id": "project:instance:read"}, `+world+`}`)
	if o.Code != 0 || !strings.Contains(o.Stdout, `"reason": "role project_reader grants project:instance:read"`) {
		t.Errorf("%+v", o)
	}
	o = why("denied", `{"action": {"id": "project:instance:create"}, `+world+`}`)
	if o.Code != 1 || !strings.Contains(o.Stdout, `"kind": "assign"`) || !strings.Contains(o.Stdout, "its role lacks the action") {
		t.Errorf("%+v", o)
	}
	o = why("empty", `{"action": {"id": "project:instance:create"}}`)
	if o.Code != 1 || !strings.Contains(o.Stdout, `"at": "authz/conditions.rego:`) || !strings.Contains(o.Stdout, `"fixes": []`) {
		t.Errorf("%+v", o)
	}
	harness.WantOneLine(t, why("misspelt", `{"acton": {}}`), `"acton"`)
	harness.WantOneLine(t, why("two", `{"action": {"id": "project:instance:read"}} {}`), "after the first value")
	harness.WantOneLine(t, why("action", `{}`), "action.id")
	for name, c := range map[string]struct{ has, says string }{
		"here without an assignment": {`"subject": {"here": [{"role": "project_reader"}]}`, "subject.here"},
		"here with another one":      {`"subject": {"assignments": {"": {"": [{"role": "a"}]}}, "here": [{"role": "b"}]}`, "subject.here"},
		"here with one too many":     {`"subject": {"assignments": {"": {"": [{"role": "a"}]}}, "here": [{"role": "a"}, {"role": "a"}]}`, "subject.here"},
		"nothing here":               {`"subject": {"assignments": {"": {"": [{"role": "a"}]}}, "here": []}`, "subject.here"},
		"here from another project":  {`"subject": {"assignments": {"p": {"": [{"role": "a"}]}}, "here": [{"role": "a"}]}`, "subject.here"},
		"here of another level":      {`"subject": {"assignments": {"": {"": [{"role": "a"}]}}, "here": [{"role": "a", "level": "PROJECT"}]}`, "subject.here"},
		"a level":                    {`"subject": {"assignments": {"p": {"": [{"role": "a", "level": "ACCOUNT"}]}}}`, "subject.assignments"},
		"a verb":                     {`"subject": {}, "action": {"id": "project:instance:read", "verb": "create"}`, "action.verb"},
		"patterns":                   {`"subject": {}, "action": {"id": "project:instance:read", "patterns": ["*:*:*"]}`, "action.patterns"},
	} {
		if !strings.Contains(c.has, `"action"`) {
			c.has += `, "action": {"id": "project:instance:read"}`
		}
		harness.WantOneLine(t, why(strings.ReplaceAll(name, " ", "_"), "{"+c.has+"}"), c.says)
	}
	const url = `"here": [{"role": "project_reader", "level": "PROJECT", "role_scope": "PROJECT", "role_status": "ACTIVE", "status": "ACTIVE", "running": true}]`
	o = why("here", `{"action": {"id": "project:instance:read", "scope": "project"}, `+strings.Replace(world, `"id": "bob"`, `"id": "bob", `+url, 1)+`}`)
	if o.Code != 0 {
		t.Errorf("what the engine makes, given as it makes it: %+v", o)
	}
}
