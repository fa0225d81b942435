package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestDataFolderIsLostUnderTheGateway removes the folder or replaces it. No change is answered unless a restart would
// find it. The gateway is not ready within 2 s, decisions go on, and the log says why and what to do. With the folder
// back a restart has everything that was answered.
func TestDataFolderIsLostUnderTheGateway(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(t *testing.T, dir string){
		"moved away": func(*testing.T, string) {},
		"replaced": func(t *testing.T, dir string) {
			must.Do(t, os.CopyFS(dir, os.DirFS(dir+".old")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			harness.MasterKeyOf(t, dir)
			g := harness.Launch(t, dir) // on the embedded store, whichever the others are on
			s := harness.NewScene(t, g)
			s.Must(t, 201, "POST", "/groups", `{"name":"before"}`)
			must.Do(t, os.Rename(dir, dir+".old"))
			happens(t, dir)
			r := s.Do(t, "POST", "/groups", `{"name":"after"}`)
			if r.Status != 503 {
				t.Errorf("a change: %d %s", r.Status, r.Raw)
			}
			took := harness.SoonWithin(t, 4*time.Second, "not ready", func() bool {
				return harness.Call(t, "GET", g.HealthURL+"/healthz/ready", "", "").Status == 503
			})
			t.Logf("not ready after %s", took)
			r = s.Must(t, 503, "POST", "/groups", `{"name":"after"}`)
			if got := harness.At(r.Body, "error", "message"); got != "The store is not available now, and nothing was changed; try again." {
				t.Errorf("%v", got)
			}
			if r := harness.Call(t, "GET", s.Path("/groups"), s.AdminToken, ""); r.Status != 200 {
				t.Errorf("a decision and a read: %d %s", r.Status, r.Raw)
			}
			status := harness.Call(t, "GET", g.HealthURL+"/status", "", "")
			if harness.At(status.Body, "stores", 0, "state") != "lost" || !strings.Contains(string(status.Raw), "portcullis store restore") {
				t.Errorf("/status: %s", status.Raw)
			}
			harness.Soon(t, "the log says why", func() bool { return strings.Contains(g.Stderr.String(), "portcullis store restore") })
			g.Terminate(t)
			code, lines := g.Ended(t), strings.Split(strings.TrimSpace(g.Stderr.String()), "\n")
			if last := lines[len(lines)-1]; code != 0 || !strings.Contains(last, `"msg":"stopped"`) {
				t.Errorf("exit %d, and the last line is %s", code, last)
			}

			must.Do(t, os.RemoveAll(dir))
			must.Do(t, os.Rename(dir+".old", dir))
			again := harness.Launch(t, dir)
			r = harness.Call(t, "GET", again.URL+"/api/v1/accounts/"+s.Account+"/groups", s.AdminToken, "")
			if r.Status != 200 || harness.At(r.Body, "groups", 0, "name") != "before" || harness.At(r.Body, "groups", 1) != nil {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
		})
	}
}
