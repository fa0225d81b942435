package api_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// claims are those of one request; they are a gateway's of its own, since a provisioner gets the
// clusters of every account.
func claims(t *testing.T, s *harness.Team, token, body string) []any {
	t.Helper()
	r := harness.Call(t, "POST", s.URL+"/api/v1/provisioner/claims", token, body)
	list, ok := r.Body["claims"].([]any)
	if r.Status != 200 || !ok {
		t.Fatalf("cluster_claim.create: %d %s", r.Status, r.Raw)
	}
	return list
}

// TestProvisionerMovesClusters over HTTP, from PENDING to DELETED: a project is kept while one of its
// clusters is there, and what failed is shown.
func TestProvisionerMovesClusters(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t)
	token := s.ServiceToken(t, "clusters:provision")
	report := func(id any, status int, body string) harness.Reply {
		r := harness.Call(t, "PATCH", s.URL+"/api/v1/provisioner/claims/"+id.(string), token, body)
		if r.Status != status {
			t.Errorf("cluster_claim.update %s: %d %s", body, r.Status, r.Raw)
		}
		return r
	}
	for _, k := range clusterKinds() {
		made := s.Must(t, 201, "POST", k.pathIn(s.Project), k.body("web"))
		id := k.member(made.Body["cluster"], "id")
		list := claims(t, s, token, `{"wait_seconds":5}`)
		if len(list) != 1 || harness.At(list[0], "spec", k.field) != "web" || harness.At(list[0], "intent") != "provision" {
			t.Fatalf("%v", list)
		}
		claim := harness.At(list[0], "claim_id")
		report(claim, 409, fmt.Sprintf(`{"status":%q}`, k.status("DELETED")))
		report(claim, 200, fmt.Sprintf(`{"status":%q,"error":"no machines"}`, k.status("ERROR")))
		got := s.Must(t, 200, "GET", k.pathIn(s.Project)+"/"+id, "")
		if k.member(got.Body["cluster"], "status") != k.status("ERROR") || got.Body["error"] != "no machines" {
			t.Errorf("%s", got.Raw)
		}
		s.Must(t, 409, "DELETE", "/projects/"+s.Project, "")
		s.Must(t, 200, "DELETE", k.pathIn(s.Project)+"/"+id, "")
		s.Must(t, 409, "DELETE", "/projects/"+s.Project, "")
		list = claims(t, s, token, `{"kinds":["kubernetes","gpu"],"max":20}`)
		if len(list) != 1 || harness.At(list[0], "intent") != "delete" || fmt.Sprint(harness.At(list[0], "attempt")) != "1" {
			t.Fatalf("%v", list)
		}
		report(harness.At(list[0], "claim_id"), 200, fmt.Sprintf(`{"status":%q}`, k.status("DELETED")))
	}
	s.Must(t, 200, "DELETE", "/projects/"+s.Project, "")
}

// TestProvisionerIsAServiceWithTheScope: nobody else claims or reports, and in a suspended account
// nothing is made.
func TestProvisionerIsAServiceWithTheScope(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t)
	s.Must(t, 201, "POST", clusterKinds()[0].pathIn(s.Project), clusterKinds()[0].body("web"))
	token := s.ServiceToken(t, "clusters:provision")
	for name, other := range map[string]string{
		"an admin": s.AdminToken, "a platform's service": s.ServiceToken(t, "platform:admin", "users:sync", "authz:check"),
	} {
		for _, call := range [][2]string{{"POST", ""}, {"PATCH", "/claim-absent-v1"}} {
			if r := harness.Call(t, call[0], s.URL+"/api/v1/provisioner/claims"+call[1], other, `{}`); r.Status != 403 {
				t.Errorf("%s by %s: %d %s", call[0], name, r.Status, r.Raw)
			}
		}
	}
	suspended := 0
	if harness.AreasElsewhere() {
		suspended = 1 // a process behind gateways does not see accounts, as docs/integrate/provisioners.md says
		t.Log("clusters of suspended accounts are claimed in this set-up")
	}
	for _, c := range []struct {
		status string
		want   int
	}{{"SUSPENDED", suspended}, {"ACTIVE", 1 - suspended}} {
		if r := harness.Call(t, "PATCH", s.Path(""), s.Platform, fmt.Sprintf(`{"status":%q}`, c.status)); r.Status != 200 {
			t.Fatalf("account.update: %d %s", r.Status, r.Raw)
		}
		if got := claims(t, s, token, `{}`); len(got) != c.want {
			t.Errorf("%s: %v", c.status, got)
		}
	}
}
