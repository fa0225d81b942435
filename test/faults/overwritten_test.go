package faults_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// overwrite writes a data file over another one in place, as `cat A >B` does.
func overwrite(t *testing.T, source, target string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", `cat "$1" >"$2"`, "sh", source, target).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

// TestDataFileIsOverwrittenUnderTheGateway by that of another gateway, or by an older copy of itself. No change
// is answered from then on, no read answers what is in the other file, the gateway is not ready within 2 s,
// and a start refuses the file with its name and the remedy.
func TestDataFileIsOverwrittenUnderTheGateway(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with another store", "with an older copy of itself"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, copied := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy.db")
			file := filepath.Join(dir, "portcullis.db")
			harness.MasterKeyOf(t, dir)
			first := harness.Launch(t, dir)
			s := harness.NewScene(t, first)
			first.Terminate(t)
			if code := first.Ended(t); code != 0 {
				t.Fatalf("exit %d", code)
			}
			if overwrite(t, file, copied); name == "with another store" {
				other := filepath.Join(t.TempDir(), "other")
				harness.MasterKeyOf(t, other)
				harness.SeedEmbedded(t, other, "acct-other-v1", "proj-other-v1")
				overwrite(t, filepath.Join(other, "portcullis.db"), copied)
			}
			g := harness.Launch(t, dir)
			s.URL = g.URL
			s.Must(t, 201, "POST", "/groups", `{"name":"before"}`)

			overwrite(t, copied, file)
			moment := time.Now()
			s.Must(t, 503, "POST", "/groups", `{"name":"after"}`)
			if r := harness.Call(t, "GET", s.Path("/groups"), s.AdminToken, ""); r.Status != 503 {
				t.Errorf("a read: %d %s", r.Status, r.Raw)
			}
			harness.SoonWithin(t, time.Until(moment.Add(2*time.Second)), "not ready", func() bool {
				return harness.Call(t, "GET", g.HealthURL+"/healthz/ready", "", "").Status == 503
			})
			status := harness.Call(t, "GET", g.HealthURL+"/status", "", "")
			if harness.At(status.Body, "stores", 0, "state") != "lost" || !strings.Contains(string(status.Raw), "portcullis store restore") {
				t.Errorf("/status: %s", status.Raw)
			}
			if harness.MetricOf(t, g, `portcullis_store_state{state="lost"}`) != 1 {
				t.Error("the metric does not tell")
			}
			g.Terminate(t)
			if code := g.Ended(t); code != 0 || !strings.Contains(g.Stderr.String(), "overwritten under the running process") {
				t.Errorf("exit %d %s", code, g.Stderr.String())
			}
			refused := harness.Command(t, nil, harness.Ephemeral(dir)...)
			harness.WantOneLine(t, refused, file, "portcullis store restore")
		})
	}
}
