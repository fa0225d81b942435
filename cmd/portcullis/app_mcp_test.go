package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/tickets"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestMCPServersBehindAClosedDoorAreWarnedOf guarantees a line about each server of an operator's tree without --public-url:
// the gateway answers all of their calls with 404. The program's own tree has a server that nobody asked for.
func TestMCPServersBehindAClosedDoorAreWarnedOf(t *testing.T) {
	policy := must.Get(engine.New(t.Context(), tickets.Policy(), proof.LoadProven, engine.Options{Read: overlay.Read}))(t)
	for _, c := range []struct {
		dir, base string
		lines     int
	}{{"own", "", 1}, {"own", "https://gateway.example", 0}, {"", "", 0}} {
		settings, log := &config.Config{}, &bytes.Buffer{}
		settings.Policy.Dir = c.dir
		settings.Areas.AddUpstream(tickets.Name, "http://127.0.0.1:1/mcp")
		a := &app{
			core: &core{settings: settings, policy: policy}, mcp: &mcp.Door{Base: c.base},
			log: &observe.Log{Logger: slog.New(slog.NewTextHandler(log, nil))},
		}
		a.warnMCP()
		if n := strings.Count(log.String(), "level=WARN"); n != c.lines || n > 0 && !strings.Contains(log.String(), "--public-url") {
			t.Errorf("%+v: %s", c, log)
		}
	}
}
