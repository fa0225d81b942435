package decisionlog_test

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// calls are a decision, the record of its call at an MCP server, and that of the outcome.
func calls(t *testing.T, arguments string) []*resources.Judgement {
	t.Helper()
	decision := judgement(t, 3)
	call, outcome := *decision, *decision
	call.Question.Facts.Subject, outcome.Question.Facts.Subject = nil, nil
	call.Question.Principal.Client = &resources.Client{ID: "agent-a", Actors: []string{"agent-a", "agent-b"}}
	call.ID, call.ParentID, call.Path, call.Decision.Code, call.Decision.Allowed = "id-call", decision.ID, resources.PathMCPCall, "definition_changed", false
	call.Call = &resources.MCPCall{Server: "desk", Method: "tools/call", Name: "open", Definition: "sha256:1", Arguments: []byte(arguments), Cut: true}
	outcome.ID, outcome.ParentID, outcome.Path = "id-outcome", decision.ID, resources.PathMCPOutcome
	outcome.Call = &resources.MCPCall{Server: "desk", Method: "tools/call", Name: "open", Outcome: &resources.MCPOutcome{EndedBy: "caller", Status: 200, Millis: 5, Bytes: 7}}
	return []*resources.Judgement{decision, &call, &outcome}
}

// events returns the records that a filter matches, by their ids.
func (w *world) events(t *testing.T, f decisionlog.Filter) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), f, func(r *decisionlog.Record) error {
		e := r.Event(input)
		e.Labels, e.Timestamp = nil, ""
		raw, err := e.JSON()
		out[e.DecisionID] = string(raw)
		return err
	}))
	return out
}

// TestCallsAreRecorded guarantees the events of a call and of its outcome, whole and under a mask. Filters find them, and no
// credential in the name of an argument is on disk.
func TestCallsAreRecorded(t *testing.T) {
	secret := rand.Text()
	const place = `"action":{"id":"project:instance:read"},"target":{"project":"proj-a-v1","rest":"instances/i-3"}}`
	want := map[string]string{
		"id-call": `{"labels":{},"decision_id":"id-call","parent_id":"id-000003","path":"mcp/call","input":{"server":"desk","method":"tools/call","name":"open",` +
			`"definition":"sha256:1","arguments":{"masked-1":"…"},"arguments_cut":true,"agent":"agent-a","actors":["agent-a","agent-b"],` +
			`"principal":{"id":"service-a","kind":"service","credential":"token"},"account":{"id":"acct-a-v1"},` + place +
			`,"result":{"allow":false,"code":"definition_changed"},"requested_by":"service-a","timestamp":""}`,
		"id-outcome": `{"labels":{},"decision_id":"id-outcome","parent_id":"id-000003","path":"mcp/outcome","input":{"server":"desk","method":"tools/call","name":"open",` +
			`"agent":"","actors":[],"principal":{"id":"service-a","kind":"service","credential":"token"},"account":{"id":"acct-a-v1"},` + place +
			`,"result":{"ended_by":"caller","status":200,"duration_ms":5,"bytes":7},"requested_by":"service-a","timestamp":""}`,
	}
	for name, rules := range map[string]string{"whole": "", "under a mask of something else": `["/input/nothing/here"]`} {
		w := newWorld(t)
		if rules != "" {
			w.change = func(o *decisionlog.Options) { o.Mask = &mask{rules: rules} }
		}
		l := w.open(t)
		for _, one := range calls(t, `{"Bearer `+secret+`":"…"}`) {
			must.Do(t, l.Record(t.Context(), one))
		}
		must.Do(t, l.Close())
		w.wantWhole(t, 3)
		all := w.events(t, decisionlog.Filter{})
		for id, event := range want {
			if got := sorted(t, all[id]); got != sorted(t, event) {
				t.Errorf("%s, %s: %s", name, id, got)
			}
		}
		if disk := string(w.read(t, "000000000001.log")); strings.Contains(disk, secret) {
			t.Errorf("%s: the credential is on disk", name)
		}
		yes, no := true, false
		for ids, f := range map[string]decisionlog.Filter{
			"id-000003": {Allowed: &yes}, "id-call": {Allowed: &no}, "id-outcome": {Path: resources.PathMCPOutcome},
			"id-000003 id-call id-outcome": {Account: "acct-a-v1", User: "service-a", Place: "projects/proj-a-v1", Action: "project:instance:read"},
		} {
			if got := strings.Join(slices.Sorted(maps.Keys(w.events(t, f))), " "); got != ids {
				t.Errorf("%s: %+v finds %s, want %s", name, f, got, ids)
			}
		}
	}
}

// TestAMaskedCallLacksItsParts guarantees that rules of the tree remove parts of a call before it is on disk.
func TestAMaskedCallLacksItsParts(t *testing.T) {
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Mask = &mask{rules: `["/input/arguments", "/input/name"]`} }
	l := w.open(t)
	for _, one := range calls(t, `{"patient":"…"}`) {
		must.Do(t, l.Record(t.Context(), one))
	}
	must.Do(t, l.Close())
	w.wantWhole(t, 3)
	if disk := string(w.read(t, "000000000001.log")); strings.Contains(disk, "patient") || strings.Contains(disk, `"open"`) || !strings.Contains(disk, "sha256:1") {
		t.Errorf("%s", disk)
	}
}

// sorted returns a JSON value with sorted names.
func sorted(t *testing.T, value string) string {
	t.Helper()
	var parsed any
	must.Do(t, json.Unmarshal([]byte(value), &parsed))
	out := must.Get(json.Marshal(parsed))(t)
	return string(out)
}
