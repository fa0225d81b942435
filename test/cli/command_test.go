package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestVersionNamesWhatDecides: version, commit, OPA's version and the policy revision.
func TestVersionNamesWhatDecides(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	o := harness.Command(t, nil, "version")
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	if o.Code != 0 || len(lines) != 4 {
		t.Fatalf("%+v", o)
	}
	for i, prefix := range []string{"portcullis ", "commit ", "opa v1.", "policy "} {
		if !strings.HasPrefix(lines[i], prefix) {
			t.Errorf("line %q, want %q…", lines[i], prefix)
		}
	}
	if revision := s.Ask(t, s.Admin, "project:x:read", "").Header.Get("X-Policy-Revision"); lines[3] != "policy "+revision {
		t.Errorf("%q, and decisions name %q", lines[3], revision)
	}
}

// TestCheckAsksTheGateway: exit 0 allowed, 1 denied, 2 error.
func TestCheckAsksTheGateway(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	path := "accounts/" + s.Account + "/projects/" + s.Project + "/instances"
	ask := func(env []string, user, action, path string, more ...string) harness.Outcome {
		args := []string{"check", "--data-dir", s.DataDir, "--url", s.URL, "--user", user, "--account", s.Account, "--action", action, path}
		for try := 1; ; try++ { // like harness.Call
			if o := harness.Command(t, env, append(args, more...)...); !harness.SaysUndecided([]byte(o.Stderr)) || try == 20 {
				return o
			}
		}
	}
	const action = "project:instance:create"
	for name, c := range map[string]struct {
		got  harness.Outcome
		code int
		out  string
	}{
		"0 allowed":              {ask(nil, s.Admin, action, path), 0, "allowed: role account_admin grants " + action + "\n"},
		"0 a leading slash":      {ask(nil, s.Admin, action, "/"+path), 0, "allowed: "},
		"0 token by environment": {ask([]string{"PORTCULLIS_TOKEN=" + s.AdminToken}, s.Admin, action, path), 0, "allowed: "},
		"0 token by flag":        {ask([]string{"PORTCULLIS_TOKEN=x"}, s.Admin, action, path, "--token", s.AdminToken), 0, "allowed: "},
		"1 denied":               {ask(nil, s.Bob, action, path), 1, "denied: "},
		"1 unknown user":         {ask(nil, "user-nobody-v1", action, path), 1, "denied: "},
	} {
		if c.got.Code != c.code || !strings.HasPrefix(c.got.Stdout, c.out) || c.got.Stderr != "" {
			t.Errorf("%s: %+v", name, c.got)
		}
	}
	for name, c := range map[string]struct {
		got  harness.Outcome
		says string
	}{
		"2 malformed action":  {ask(nil, s.Admin, "create", path), "400"},
		"2 ambiguous path":    {ask(nil, s.Admin, action, "accounts/../x"), "400"},
		"2 a fragment":        {ask(nil, s.Admin, action, path+"#x"), "#"},
		"2 not sent as it is": {ask(nil, s.Admin, action, path+"/a%2Fb|"), "percent-encode"},
		"2 may not ask":       {ask(nil, s.Admin, action, path, "--token", s.UserToken(t, s.Dan)), "403"},
		"2 broken token":      {ask(nil, s.Admin, action, path, "--token", "x"), "401"},
		"2 nobody listens":    {ask(nil, s.Admin, action, path, "--url", "http://127.0.0.1:1"), "does not answer"},
		"2 no user":           {ask(nil, "", action, path), "--user"},
		"2 no key to sign":    {harness.Command(t, nil, "check", "--user", "u", "--account", "a", "--action", action, path), "--token"},
		"2 no path":           {harness.Command(t, nil, "check"), "arg"},
		"2 two paths":         {ask(nil, s.Admin, action, path, "x"), "arg"},
		"2 no such command":   {harness.Command(t, nil, "chekc"), "chekc"},
		"2 unknown flag":      {ask(nil, s.Admin, action, path, "--usr", "x"), "--usr"},
		"2 answer of another": {ask(nil, s.Admin, action, path, "--url", s.HealthURL), "404"},
	} {
		t.Run(name, func(t *testing.T) { harness.WantOneLine(t, c.got, c.says) })
	}
}

// TestTokenIsSignedByTheDataFolder, or refused with the reason.
func TestTokenIsSignedByTheDataFolder(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	if o := harness.Command(t, nil, "token", "--data-dir", g.DataDir, "--service", "service-ci", "--scope", "authz:check  users:sync", "--ttl", "1s"); o.Code != 0 || strings.Count(o.Stdout, ".") != 2 || strings.Count(o.Stdout, "\n") != 1 {
		t.Errorf("%+v", o)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"nobody":          {nil, "--user"},
		"both":            {[]string{"--user", "u", "--service", "s"}, "--service"},
		"unknown scope":   {[]string{"--service", "s", "--scope", "root"}, "root"},
		"a user's scope":  {[]string{"--user", "u", "--scope", "authz:check"}, "only a service"},
		"no time to live": {[]string{"--user", "u", "--ttl", "0s"}, "time to live"},
		"outside issuer":  {[]string{"--user", "u", "--jwks-url", "https://idp.example/keys", "--jwt-issuer", "i", "--jwt-audience", "a"}, "outside issuer"},
		"an argument":     {[]string{"--user", "u", "extra"}, "extra"},
	} {
		t.Run(name, func(t *testing.T) {
			harness.WantOneLine(t, harness.Command(t, nil, append([]string{"token", "--data-dir", g.DataDir}, c.args...)...), c.says)
		})
	}
	harness.WantOneLine(t, harness.Command(t, nil, "token", "--user", "u"), "master key") // none is made for a token
}

// TestPolicyTools: a good tree passes, a broken one exits 2 and says where it is broken.
func TestPolicyTools(t *testing.T) {
	t.Parallel()
	good := harness.CopyPolicies(t)
	if o := harness.Command(t, nil, "policy", "check"); o.Code != 0 || !strings.HasPrefix(o.Stdout, "ok: policy ") {
		t.Errorf("%+v", o)
	}
	harness.WriteFile(t, filepath.Join(good, "authz", "volcano.rego"), strings.ReplaceAll(harness.FreezeRule, "input.action", "input.acton"))
	if o := harness.Command(t, nil, "policy", "check", good); o.Code != 2 || !strings.Contains(o.Stderr, "volcano.rego:6") || !strings.Contains(o.Stderr, "acton") {
		t.Errorf("%+v", o)
	}
	few := withoutItsTests(t) // OPA's runner takes seconds for all of them
	harness.WriteFile(t, filepath.Join(few, "authz", "volcano.rego"), harness.FreezeRule)
	harness.WriteFile(t, filepath.Join(few, "authz", "volcano_test.rego"), harness.FreezeTest)
	if o := harness.Command(t, nil, "policy", "test", few); o.Code != 0 || !strings.HasPrefix(o.Stdout, "PASS: 2/2") {
		t.Errorf("%+v", o)
	}
	harness.WriteFile(t, filepath.Join(few, "authz", "volcano_test.rego"), strings.ReplaceAll(harness.FreezeTest, "volcanoes are", "geysers are"))
	if o := harness.Command(t, nil, "policy", "test", few); o.Code != 2 || !strings.Contains(o.Stdout, "volcano_test.rego") {
		t.Errorf("%+v", o)
	}
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "check", filepath.Join(good, "absent")), "absent")
}
