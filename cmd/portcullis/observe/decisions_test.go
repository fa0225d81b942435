package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestCodesAreThoseOfTheTree, and the reference lists them with the doors and the reasons of refused credentials.
func TestCodesAreThoseOfTheTree(t *testing.T) {
	rego, err := os.ReadFile("../../../policies/authz/reasons.rego")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/reference/codes.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := []string{"needs_known_action"} // the engine's own
	for _, constants := range regexp.MustCompile(`(?m)^reason_texts\["([a-z_]+)"\] := "`).FindAllStringSubmatch(string(rego), -1) {
		codes = append(codes, constants[1])
	}
	listed := append(allowCodes(), denyCodes()...)
	slices.Sort(codes)
	slices.Sort(listed)
	if !slices.Equal(codes, listed) {
		t.Errorf("the tree has %q, the metric %q", codes, listed)
	}
	for _, code := range slices.Concat(listed, []string{codeNone, codeOther}, doorNames(), authn.Reasons()) {
		if !strings.Contains(string(page), "`"+code+"`") {
			t.Errorf("the page does not list %s", code)
		}
	}
}

// TestEachDoorIsCounted guarantees that the decisions of each door have a label of their own. The edge is
// the label of a door outside of doorNames, and of a preview: it answers with no decision but that on its caller.
func TestEachDoorIsCounted(t *testing.T) {
	text, err := os.ReadFile("../../../policies/routes/data.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows map[string]resources.Route
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	doors := map[string]bool{doorEdge: true, "ext_authz": true} // which no row is for
	for name, row := range rows {
		if row.Upstream == resources.UpstreamAuthorize && name != "account.preview" { // a call of the edge, as other rows of accounts
			area, _, _ := strings.Cut(name, ".")
			doors[area] = true
		}
	}
	if want, names := slices.Sorted(maps.Keys(doors)), slices.Sorted(slices.Values(doorNames())); !slices.Equal(want, names) {
		t.Errorf("the metric has %q, the catalogue %q", names, want)
	}
}

// TestDecisionsAreCountedOnce guarantees the count: of a batch each question, of a search none, of other doors the
// request. An unknown code is not a label.
func TestDecisionsAreCountedOnce(t *testing.T) {
	m := NewMetrics()
	m.Decided("authzen.evaluations", &resources.Decision{Allowed: true, Code: "role"})
	m.Decided("authzen.evaluation", &resources.Decision{})
	m.Decided("authzen.evaluation", &resources.Decision{Code: "role"}) // which allows only
	m.Decided("authzen.search_subject", &resources.Decision{Allowed: true, Code: "role"})
	m.Request(&gateway.Record{Route: "authzen.evaluations", Status: 200, PolicyRevision: "one", Allowed: true, Code: "role"})
	m.Request(&gateway.Record{Route: "ext_authz.check", Status: 200, PolicyRevision: "one", Code: "no_role"})
	m.Request(&gateway.Record{Route: "account.get", Status: 200, PolicyRevision: "one", Allowed: true, Code: "invented-user-7"})
	m.Routes([]resources.Route{{Name: "account.get"}})
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`portcullis_decisions_total{code="role",decision="allow",door="authzen"} 1`, `portcullis_decisions_total{code="no_role",decision="deny",door="ext_authz"} 1`,
		`portcullis_decisions_total{code="none",decision="deny",door="authzen"} 1`, `portcullis_decisions_total{code="other",decision="deny",door="authzen"} 1`,
		`portcullis_decisions_total{code="other",decision="allow",door="edge"} 1`, `portcullis_decisions_total{code="no_role",decision="deny",door="authorization"} 0`,
		`portcullis_requests_total{route="account.get",status="503"} 0`, `portcullis_requests_total{route="account.get",status="500"} 0`,
		`portcullis_requests_total{route="none",status="503"} 0`, `portcullis_requests_total{route="none",status="500"} 0`, `portcullis_request_duration_seconds_count{route="none"} 0`,
		`portcullis_unauthorized_total{reason="expired"} 0`, `portcullis_jwks_fetches_total{result="refused"} 0`, `portcullis_store_write_seconds_count 0`,
	} {
		if !strings.Contains(rec.Body.String(), want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(rec.Body.String(), "invented") {
		t.Error("a code of a tree is a label")
	}
}

// TestStateOfTheStoreIsOneOfItsStates, and the others are shown with 0.
func TestStateOfTheStoreIsOneOfItsStates(t *testing.T) {
	m, now := NewMetrics(), StoreReady
	m.WatchStore(func(context.Context) StoreState { return now }, func(context.Context) (int64, error) { return 1, nil })
	for _, now = range []StoreState{StoreReady, StoreLost, StoreReadOnly, StoreUnavailable} {
		rec := httptest.NewRecorder()
		m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
		if body := rec.Body.String(); !strings.Contains(body, fmt.Sprintf("portcullis_store_state{state=%q} 1\n", now)) ||
			strings.Count(body, "portcullis_store_state{") != 4 || strings.Count(body, "\nportcullis_store_state{") != 4 {
			t.Errorf("%s: %s", now, body)
		}
	}
}

// TestACodeSeenTooSoonIsCountedLater guarantees that a request judged by a new tree before its codes are labels leaves no
// later one under other.
func TestACodeSeenTooSoonIsCountedLater(t *testing.T) {
	m := NewMetrics()
	denied := &gateway.Record{Route: "project.list", Status: 403, Code: "own_night", PolicyRevision: "r"}
	m.Request(denied)
	m.PolicyCodes([]string{"own_night"})
	m.Request(denied)
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for _, code := range []string{"other", "own_night"} {
		want := fmt.Sprintf("portcullis_decisions_total{code=%q,decision=\"deny\",door=\"edge\"} 1\n", code)
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("there is no %s", want)
		}
	}
}

// TestCodesOfATreeInForceAreLabels guarantees that an author's codes are counted by themselves, up to a bound in the
// life of the process. An unknown code is not a label.
func TestCodesOfATreeInForceAreLabels(t *testing.T) {
	m := NewMetrics()
	m.PolicyCodes([]string{"own_night", "no_role"})
	var many []string
	for i := range 2 * maxCodes {
		many = append(many, fmt.Sprintf("own_%03d", i))
	}
	m.PolicyCodes(many)
	for _, code := range append(many, "own_night", "invented", "no_role") {
		m.Decided("authzen.evaluation", &resources.Decision{Code: code})
	}
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	labels := map[string]bool{}
	for _, line := range regexp.MustCompile(`portcullis_decisions_total\{code="([^"]+)"`).FindAllStringSubmatch(rec.Body.String(), -1) {
		labels[line[1]] = true
	}
	if !labels["own_night"] || labels["invented"] || len(labels) != maxCodes+2 { // with none and other
		t.Errorf("%d labels", len(labels))
	}
}
