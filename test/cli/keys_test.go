package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// makeKey makes an API key of the admin.
func makeKey(t *testing.T, s *harness.Scene, name string) string {
	t.Helper()
	r := harness.Call(t, "POST", s.URL+"/api/v1/accounts/"+s.Account+"/users/"+s.Admin+"/keys", s.AdminToken, `{"key_name":"`+name+`","scopes":["read"]}`)
	if r.Status != 201 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	return harness.At(r.Body, "data", "raw_key").(string)
}

// TestKeysAreRotated: after a rotation and a restart the API keys and tokens of before are taken, the new
// ones are made with the new key, and status tells them apart, beside the gateway.
func TestKeysAreRotated(t *testing.T) {
	t.Parallel()
	scene := startEmbedded(t)
	dir := scene.DataDir
	old := makeKey(t, scene, "old")
	before := harness.Command(t, nil, "keys", "status", "--data-dir", dir)
	wantExit(t, before, 0, "in use")
	wantExit(t, harness.Command(t, nil, "keys", "rotate", "--data-dir", dir), 0, "first line", "restart")
	scene.Terminate(t)
	scene.Ended(t)

	g := harness.Launch(t, dir)
	again := *scene
	again.Gateway = g
	for name, credential := range map[string]string{"key": old, "token": scene.AdminToken} {
		if r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+scene.Account+"/projects", credential, ""); r.Status != 200 {
			t.Errorf("%s of before: %d %s", name, r.Status, r.Raw)
		}
	}
	makeKey(t, &again, "new1")
	makeKey(t, &again, "new2")
	lines := strings.Split(harness.Command(t, nil, "keys", "status", "--data-dir", dir).Stdout, "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "in use    2") || !strings.Contains(lines[2], "accepted  1") || !strings.Contains(lines[2], "API keys made anew") {
		t.Errorf("%q", lines)
	}
	// Without the old line the status names the keys that are refused.
	path := filepath.Join(dir, "master.key")
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.SplitAfter(string(raw), "\n")[0]), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	wantExit(t, harness.Command(t, nil, "keys", "status", "--data-dir", dir), 0, "missing  1", "refused")
}

// TestRotationForReplicas: the new key is last, until it is used.
func TestRotationForReplicas(t *testing.T) {
	t.Parallel()
	file := harness.MasterKeyOf(t, t.TempDir())
	args := []string{"keys", "rotate", "--mongo-url", "mongodb://h/x", "--master-key-file", file}
	old := must.Get(os.ReadFile(file))(t)
	harness.WantOneLine(t, harness.Command(t, nil, append(args, "--use")...), "one key")
	wantExit(t, harness.Command(t, nil, args...), 0, "last line", "--use")
	if now, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(now), string(old)) {
		t.Errorf("%v", err)
	}
	wantExit(t, harness.Command(t, nil, append(args, "--use")...), 0, "first line")
	if now, err := os.ReadFile(file); err != nil || !strings.HasSuffix(string(now), string(old)) || len(now) == len(old) {
		t.Errorf("%v", err)
	}
	harness.WantOneLine(t, harness.Command(t, nil, "keys", "rotate", "--use", "--data-dir", filepath.Dir(file)), "--use", "replicas")
}
