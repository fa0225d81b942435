package main

import (
	"errors"
	"io/fs"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/private"
)

// deployed returns every file that installs the program.
func deployed(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(deployDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	return files
}

// TestAlertsAndDashboardAskForWhatIsThere guarantees that each of their metrics, labels and values is shown before
// anything has happened. So no graph is empty, and no alert silent, because of a wrong name.
func TestAlertsAndDashboardAskForWhatIsThere(t *testing.T) {
	a, _ := demoApp(t, func(*config.Config) {})
	rec := httptest.NewRecorder()
	a.metrics.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	// This gateway has no TLS, no bundle, no Redis and no MCP servers.
	const elsewhere = "portcullis_policy_bundle_polls_total{result=\"failed\"} 0\nportcullis_tls_certificate_end_seconds 1\nportcullis_tls_reloads_total{result=\"refused\"} 0\n" +
		"portcullis_shared_cache_lookups_total{result=\"down\"} 0\nportcullis_shared_cache_lookups_total{result=\"hit\"} 0\nportcullis_shared_cache_lookups_total{result=\"forged\"} 0\n" +
		"portcullis_mcp_changed_definitions{server=\"s\"} 0\nportcullis_mcp_listings_total{result=\"failed\",server=\"s\"} 0\n"
	shown := rec.Body.String() + elsewhere
	selector := regexp.MustCompile(`\b(portcullis_[a-z_]+)(?:\{([^}]*)\})?`)
	label := regexp.MustCompile(`([a-z]+)(=~|!=|=)\\?"([^"\\]*)\\?"`)
	for _, name := range []string{"prometheus/rules.yaml", "grafana/portcullis.json"} {
		asked := 0
		for _, names := range selector.FindAllStringSubmatch(readText(t, name), -1) {
			asked++
			series := regexp.MustCompile(`(?m)^`+names[1]+`(\{.*\})? .*$`).FindAllString(shown, -1)
			for _, l := range label.FindAllStringSubmatch(names[2], -1) {
				if l[1] == "instance" {
					continue
				}
				var extra []string
				for _, one := range series {
					if value := regexp.MustCompile(`[{,]` + l[1] + `="([^"]*)"`).FindStringSubmatch(one); value != nil && (l[2] != "=" || value[1] == l[3]) {
						extra = append(extra, one)
					}
				}
				series = extra
			}
			if len(series) == 0 {
				t.Errorf("%s asks for %s, which there is not", name, names[0])
			}
		}
		if asked < 15 {
			t.Errorf("%s asks for %d metrics", name, asked)
		}
	}
}

// TestMetricsTellAFullDiskFromALostFolder: of a folder that is lost the disk does not matter any more. Requests of Envoy
// are counted with 0 from the start.
func TestMetricsTellAFullDiskFromALostFolder(t *testing.T) {
	for want, s := range map[observe.StoreState]private.StoreStatus{
		observe.StoreReadOnly: {State: string(observe.StoreReady), ReadOnly: true}, observe.StoreLost: {State: string(observe.StoreLost), ReadOnly: true},
		observe.StoreReady: {State: string(observe.StoreReady)}, observe.StoreUnavailable: {State: string(observe.StoreUnavailable), ReadOnly: true},
	} {
		if got := storeMetric(s); got != want {
			t.Errorf("%v is %s, want %s", s, got, want)
		}
	}
	a, _ := demoApp(t, func(c *config.Config) { c.Listeners.ExtAuthz = "127.0.0.1:0" })
	rec := httptest.NewRecorder()
	a.metrics.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(rec.Body.String(), `portcullis_requests_total{route="ext_authz.check",status="503"} 0`) {
		t.Error("no requests of Envoy")
	}
}

// TestSingleNodeIsForThisMachine: it publishes on loopback, keeps its data in a volume, and is not killed while it drains.
func TestSingleNodeIsForThisMachine(t *testing.T) {
	file, gateways := readCompose(t, single)
	service := file.Services[gateways[0]]
	settings, flags := serveSettings()
	for variable, value := range service.Environment {
		t.Setenv(variable, value)
	}
	if err := errors.Join(settings.Fill(flags), refuse(settings.Validate())); err != nil {
		t.Fatal(err)
	}
	for _, port := range service.Ports {
		if !strings.HasPrefix(port, "127.0.0.1:") {
			t.Errorf("it publishes %s", port)
		}
	}
	if len(service.Volumes) != 1 || service.Volumes[0] != "data:"+settings.Store.DataDir {
		t.Errorf("the data folder %s is in no volume: %v", settings.Store.DataDir, service.Volumes)
	}
	if stop := settings.Limits.Delay + settings.Limits.Drain; service.StopGrace <= stop {
		t.Errorf("it is killed after %s, and goes within %s", service.StopGrace, stop)
	}
	if test := service.Healthcheck.Test; strings.Join(test, " ") != "CMD /portcullis health" {
		t.Errorf("%q", test)
	}
}

// TestImageHasAFolderThatItsUserMayWrite, which is a volume.
func TestImageHasAFolderThatItsUserMayWrite(t *testing.T) {
	text := readText(t, image)
	user := regexp.MustCompile(`(?m)^USER (\d+:\d+)$`).FindStringSubmatch(text)
	if user == nil || strings.HasPrefix(user[1], "0:") {
		t.Fatal("the image runs as root")
	}
	for _, line := range []string{"VOLUME /data", "COPY --from=build --chown=" + user[1] + " /out/data /data", "PORTCULLIS_DATA_DIR=/data"} {
		if !strings.Contains(text, line) {
			t.Errorf("the image does not have %q", line)
		}
	}
}

// TestUnitStartsAndIsStoppedInTime: its settings are known and right together, it is not killed while it drains, and it is
// started again after a failure.
func TestUnitStartsAndIsStoppedInTime(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(deployDir, "systemd", "portcullis.service"))
	if err != nil {
		t.Fatal(err)
	}
	settings, flags := serveSettings()
	for _, names := range regexp.MustCompile(`\b(PORTCULLIS_[A-Z_]+)=(\S+)`).FindAllStringSubmatch(string(raw), -1) {
		t.Setenv(names[1], names[2])
	}
	settings.Store.DataDir = t.TempDir()
	if err := errors.Join(settings.Fill(flags), refuse(settings.Validate())); err != nil {
		t.Fatal(err)
	}
	if host, _, err := net.SplitHostPort(settings.Listeners.Health); err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("the private listener is on %s, where others than this machine reach it", settings.Listeners.Health)
	}
	if !strings.Contains(string(raw), "TimeoutStopSec=30s") || settings.Limits.Delay+settings.Limits.Drain >= 30e9 {
		t.Errorf("it goes within %s", settings.Limits.Delay+settings.Limits.Drain)
	}
	// A panic has the exit code of a wrong setting, and so has a database that is not there yet.
	if !strings.Contains(string(raw), "\nRestart=on-failure\n") || strings.Contains(string(raw), "RestartPreventExitStatus") {
		t.Error("it is not started again after each failure")
	}
}
