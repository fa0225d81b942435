package cli_test

import (
	"path/filepath"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestOneMachineIsOutgrown: the store of a data folder goes to MongoDB and back, and tokens, API keys and
// assignments go on working at each place. A database that a gateway is connected to is not copied, nor is a backup restored
// there, nor does it get a new generation: the gateway would go on within its lease, and changes would not wait for it.
func TestOneMachineIsOutgrown(t *testing.T) {
	t.Parallel()
	url := servers.Mongo(t, 1).Database(t)
	scene := startEmbedded(t)
	key := makeKey(t, scene, "kept")
	dir := scene.DataDir
	harness.WantOneLine(t, harness.Command(t, nil, "store", "copy", "--from", dir, "--to", url), "--from", "in use")
	scene.Terminate(t)
	scene.Ended(t)
	wantExit(t, harness.Command(t, nil, "store", "copy", "--from", dir, "--to", url), 0, "copied and compared")

	works := func(g *harness.Gateway) {
		t.Helper()
		for name, credential := range map[string]string{"key": key, "token": scene.AdminToken} {
			if r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+scene.Account+"/projects", credential, ""); r.Status != 200 {
				t.Errorf("%s: %d %s", name, r.Status, r.Raw)
			}
		}
	}
	g := harness.Launch(t, t.TempDir(), "--mongo-url", url, "--master-key-file", filepath.Join(dir, "master.key"))
	works(g)
	back := filepath.Join(t.TempDir(), "back")
	wantExit(t, harness.Command(t, nil, "store", "copy", "--from", url, "--to", back), 2, "--from", "connected", "stop them")
	wantExit(t, harness.Command(t, nil, "store", "verify", "--mongo-url", url), 0, "good:")
	wantExit(t, harness.Command(t, nil, "store", "new-generation", "--mongo-url", url), 2, "--mongo-url", "connected", "stop them")
	saved := filepath.Join(t.TempDir(), "saved")
	wantExit(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir, saved), 0, "the master key is not in it")
	wantExit(t, harness.Command(t, nil, "store", "restore", "--mongo-url", url, saved), 2, "--mongo-url", "connected", "stop them")
	g.Terminate(t)
	g.Ended(t)
	harness.Soon(t, "the server has noticed that the gateway is gone", func() bool {
		return harness.Command(t, nil, "store", "copy", "--from", url, "--to", back).Code == 0
	})
	wantExit(t, harness.Command(t, nil, "store", "new-generation", "--mongo-url", url), 0, "start the gateways now")
	wantExit(t, harness.Command(t, nil, "store", "new-generation", "--mongo-url", servers.Mongo(t, 1).Database(t)), 2, "there is no store in this database")
	keep(t, dir, back)
	works(harness.Launch(t, back))
}
