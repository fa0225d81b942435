package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestEachAnswerOfClusters: one refusal of each kind on each route; resources/clusters has the tables.
func TestEachAnswerOfClusters(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		clusters := k.pathIn(s.Project)
		web, other := clusters+"/"+newCluster(t, s.Scene, k, s.Project, "web"), clusterKinds()[0]
		if other.name == k.name {
			other = clusterKinds()[1]
		}
		newCluster(t, s.Scene, other, s.Project, "web") // the name is free for the other kind
		foreign := k.pathIn(newProject(t, s.Scene, "Other")) + strings.TrimPrefix(web, clusters)
		for _, c := range []struct {
			status             int
			method, rest, body string
			problems           []string
		}{
			{400, "POST", clusters, `{"name":"Not-A-Label","cluster_name":"-a","flavor_id":"a b","user_data":7,"x":1}`, []string{k.field + ": ", "flavor_id: ", "image_id: ", "user_data: ", "x: "}},
			{400, "POST", clusters, `[]`, nil},
			{409, "POST", clusters, k.body("web"), nil},
			{400, "GET", clusters + "?page_size=101&status=running-late&page=1&page_token=x", "", []string{"page_size: ", "status: ", "page: ", "page_token: "}},
			{400, "GET", web + "?force=1", "", []string{"force: "}},
			{404, "GET", foreign, "", nil},
			{400, "DELETE", web + "?force=1", "", []string{"force: "}},
			{404, "DELETE", foreign, "", nil},
		} {
			r := s.Do(t, c.method, c.rest, c.body)
			harness.WantRefusal(t, r, c.status, map[int]string{400: "BAD_REQUEST", 404: "NOT_FOUND", 409: "CONFLICT"}[c.status])
			for _, field := range c.problems {
				if !strings.Contains(string(r.Raw), `"`+field) {
					t.Errorf("%s %s: no problem of %q in %s", c.method, c.rest, field, r.Raw)
				}
			}
		}
		r := s.Must(t, 200, "GET", clusters+"?page_size=1", "")
		if fmt.Sprint(r.Body["total_count"]) != "1" || k.member(harness.At(r.Body, "clusters", 0), "status") != k.status("PENDING") {
			t.Errorf("after refusals there is %s", r.Raw)
		}
	})
}

// TestClusterNamesGroupsOfItsProject: an absent security group, a deleted one, another
// project's and another account's are refused in the same words.
func TestClusterNamesGroupsOfItsProject(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	gone := newClusterGroup(t, s.Scene, s.Project, "gone")
	if r := harness.Call(t, "DELETE", s.Path("/projects/"+s.Project+"/security-groups/"+gone), s.AdminToken, "", "x-account-id", s.Account); r.Status != 200 {
		t.Fatalf("security_group_rule.create: %d %s", r.Status, r.Raw)
	}
	ids := map[string]string{
		"absent": "sg-00000000000000000000000000-v1", "deleted": gone, "another project's": newClusterGroup(t, s.Scene, newProject(t, s.Scene, "Other"), "a"),
		"another account's": newClusterGroup(t, other.Scene, other.Project, "a"),
	}
	group := newClusterGroup(t, s.Scene, s.Project, "a")
	for name, id := range ids {
		r := s.Do(t, "POST", "/projects/"+s.Project+"/gpu-clusters", fmt.Sprintf(`{"cluster_name":"a","flavor_id":"f","image_id":"i","security_group_ids":[%q,%q]}`, group, id))
		harness.WantRefusal(t, r, 400, "BAD_REQUEST")
		if got := detailsOf(r); !slices.Equal(got, []string{"security_group_ids[1]: is no security group of this project"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestClustersOfABadPathAreRefused: account and project must have the specification's form
// (400), a project that is another account's or none is forbidden in the same words.
func TestClustersOfABadPathAreRefused(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		other := harness.NewTeam(t)
		for _, method := range []string{"POST", "GET"} {
			body := map[string]string{"POST": k.body("web")}[method]
			for _, path := range []string{
				s.Path("/projects/website" + k.path), s.Path("/projects/proj-a.b-v1" + k.path), s.Path("/projects/" + s.Account + k.path),
				s.URL + "/api/v1/accounts/mine/projects/" + s.Project + k.path, s.URL + "/api/v1/accounts/" + s.Account + "x/projects/" + s.Project + k.path,
			} {
				harness.WantRefusal(t, harness.Call(t, method, path, s.AdminToken, body), 400, "BAD_REQUEST")
			}
			foreign, absent := s.Do(t, method, k.pathIn(other.Project), body), s.Do(t, method, k.pathIn("proj-absent-v1"), body)
			harness.WantRefusal(t, foreign, 403, "FORBIDDEN")
			if strings.ReplaceAll(string(foreign.Raw), other.Project, "P") != strings.ReplaceAll(string(absent.Raw), "proj-absent-v1", "P") {
				t.Errorf("%s: %s, absent %s", method, foreign.Raw, absent.Raw)
			}
			harness.WantRefusal(t, harness.Call(t, method, other.Path(k.pathIn(other.Project)), s.AdminToken, body), 403, "FORBIDDEN")
		}
	})
}
