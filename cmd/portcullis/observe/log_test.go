package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestAccessLineIsOneLine guarantees it for every content of every field. A fault of the gateway's
// own is logged as an error.
func TestAccessLineIsOneLine(t *testing.T) {
	evil := "a\nlevel=ERROR msg=forged\r\x1b[2J\u2028\u009b2J\u202e\u200b\x7f\U000e0041"
	record := gateway.Record{
		RequestID: evil, Method: evil, Path: evil, Route: evil, Principal: evil, Action: evil, Account: evil, Status: 200, Allowed: true,
		Reason: evil, PolicyRevision: evil, Duration: 1500 * time.Microsecond, Err: errors.New(evil),
	}
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		newAccessLog(&out, format, slog.LevelInfo).request(&record)
		if line := out.String(); strings.Count(line, "\n") != 1 || strings.ContainsFunc(line, func(r rune) bool { return r != '\n' && resources.Unseen(r) }) {
			t.Errorf("%s: %q", format, line)
		}
	}
	for status, level := range map[int]string{200: "INFO", 404: "INFO", 503: "ERROR"} {
		var out bytes.Buffer
		record.Status, record.Allowed = status, status == 200
		newAccessLog(&out, "json", slog.LevelInfo).request(&record)
		var line map[string]any
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]any{
			"level": level, "status": float64(status), "duration_ms": 1.5, "decision": map[bool]string{true: "allow", false: "deny"}[status == 200],
			"request_id": evil, "principal": evil, "action": evil, "reason": evil, "policy_revision": evil, "error": evil,
		} {
			if line[name] != want {
				t.Errorf("%d: %s is %v, want %v", status, name, line[name], want)
			}
		}
	}
}

// TestMetricsCountDecisionsOnlyWhereThereWasOne, and show one revision in force.
func TestMetricsCountDecisionsOnlyWhereThereWasOne(t *testing.T) {
	m := NewMetrics()
	m.Request(&gateway.Record{Status: 404})
	m.Request(&gateway.Record{Route: "authorization.check", Status: 200, PolicyRevision: "one", Allowed: true, Code: "role"})
	m.Request(&gateway.Record{Route: "authorization.check", Status: 200, PolicyRevision: "one"})
	m.PolicyEvaluated("decision", time.Millisecond, "timeout")
	m.PolicyEvaluated("decision", time.Millisecond, "")
	m.VerdictReused("decision")
	m.VerdictReused("app")
	m.PolicyInForce("one")
	m.PolicyInForce("two")
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	text := rec.Body.String()
	for _, want := range []string{
		`portcullis_requests_total{route="none",status="404"} 1`, `portcullis_requests_total{route="authorization.check",status="200"} 2`, `portcullis_decisions_total{code="role",decision="allow",door="authorization"} 1`,
		`portcullis_decisions_total{code="none",decision="deny",door="authorization"} 1`, `portcullis_policy_failures_total{entry="decision",kind="timeout"} 1`, `portcullis_policy_evaluation_duration_seconds_count{entry="decision"} 2`,
		`portcullis_policy_cache_hits_total{entry="decision"} 1`, `portcullis_policy_cache_hits_total{entry="app"} 1`,
		`portcullis_policy_info{revision="two"} 1`, `portcullis_policy_reloads_total{result="taken"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, `revision="one"`) || !strings.Contains(text, `portcullis_decisions_total{code="none",decision="deny",door="edge"} 0`) {
		t.Error("a revision that is over, or a decision that never was")
	}
}
