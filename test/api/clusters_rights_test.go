package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// clusterCall is one request to each of the endpoints of a kind; want is its status where
// it is allowed.
type clusterCall struct {
	verb, method, rest, body string
	want                     int
}

// calls are all routes of a kind, in that cluster's project.
func (k clusterKind) calls(project, id, created string) []clusterCall {
	return []clusterCall{
		{"create", "POST", k.pathIn(project), k.body(created), 201},
		{"read", "GET", k.pathIn(project), "", 200},
		{"read", "GET", k.pathIn(project) + "/" + id, "", 200},
		{"delete", "DELETE", k.pathIn(project) + "/" + id, "", 200},
	}
}

// TestClustersNeedTheirActions: a reader reads, an admin of the project does all, a custom
// role what it names; without a role, or with one elsewhere, 403.
func TestClustersNeedTheirActions(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		id := newCluster(t, s.Scene, k, s.Project, "web")
		may := func(caller, user string, verbs ...string) {
			t.Helper()
			for _, c := range k.calls(s.Project, id, "by-"+caller) {
				r := harness.Call(t, c.method, s.Path(c.rest), s.UserToken(t, user), c.body)
				if strings.Contains(strings.Join(verbs, " "), c.verb) {
					if r.Status != c.want {
						t.Errorf("%s: %s %s: %d %s", caller, c.method, c.rest, r.Status, r.Raw)
					}
					continue
				}
				harness.WantRefusal(t, r, 403, "FORBIDDEN")
			}
		}
		may("nobody", s.Bob)
		s.Grant(t, "project_admin", s.Bob, newProject(t, s.Scene, "Other"))
		may("elsewhere", s.Bob)
		s.Grant(t, "project_reader", s.Carol, s.Project)
		may("reader", s.Carol, "read")
		s.Grant(t, "project_admin", s.Bob, s.Project)
		may("project-admin", s.Bob, "create", "read", "delete")
		holds(t, s.Scene, s.Dan, fmt.Sprintf(`"project:%s:create"`, k.name))
		may("creator", s.Dan, "create")
	})
}

// TestClustersKeepToTheKeysScopes: a read key reads clusters, a write key makes and
// deletes them.
func TestClustersKeepToTheKeysScopes(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		id := newCluster(t, s.Scene, k, s.Project, "web")
		for scope, reads := range map[string]bool{readOnly: true, writeOnly: false} {
			key, _ := newKey(t, s.Scene, s.Admin, scope)
			for _, c := range k.calls(s.Project, id, "by-key") {
				r := harness.Call(t, c.method, s.Path(c.rest), "", c.body, "X-API-Key", key)
				if (c.verb == "read") == reads {
					if r.Status != c.want {
						t.Errorf("%s with %s: %d %s", c.method, scope, r.Status, r.Raw)
					}
					continue
				}
				harness.WantRefusal(t, r, 403, "FORBIDDEN")
			}
		}
	})
}

// TestRefusalsOfClustersComeInOrder: 401 before 415, the path before 403, 403 before what is
// wrong with the body or the query, all in the access-management shape.
func TestRefusalsOfClustersComeInOrder(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		clusters, bob := s.Path(k.pathIn(s.Project)), s.UserToken(t, s.Bob)
		r := harness.Call(t, "POST", clusters, "", `{`)
		harness.WantRefusal(t, r, 401, "UNAUTHORIZED")
		if r.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%v", r.Header)
		}
		harness.WantRefusal(t, harness.Call(t, "GET", clusters, "", ""), 401, "UNAUTHORIZED")
		harness.WantRefusal(t, harness.Call(t, "POST", s.Path("/projects/x"+k.path), bob, `{`), 400, "BAD_REQUEST")
		harness.WantRefusal(t, harness.Call(t, "POST", clusters, bob, `{`), 403, "FORBIDDEN")
		harness.WantRefusal(t, harness.Call(t, "GET", clusters+"?page_size=0", bob, ""), 403, "FORBIDDEN")
		harness.WantRefusal(t, harness.Call(t, "GET", clusters+"/absent", bob, ""), 403, "FORBIDDEN")
		harness.WantRefusal(t, harness.Call(t, "POST", clusters, s.AdminToken, k.body("a"), "Content-Encoding", "gzip"), 415, "UNSUPPORTED_MEDIA_TYPE")
		harness.WantRefusal(t, harness.Call(t, "POST", clusters, s.AdminToken, `{"`+strings.Repeat("a", 1<<20)+`":1}`), 413, "PAYLOAD_TOO_LARGE")
		harness.WantRefusal(t, harness.Call(t, "PUT", clusters, s.AdminToken, ""), 405, "METHOD_NOT_ALLOWED")
		harness.WantRefusal(t, harness.Call(t, "PATCH", clusters+"/x", s.AdminToken, `{}`), 405, "METHOD_NOT_ALLOWED")
	})
}

// TestProjectWithAClusterIsKept, and more can be made in it afterwards; one whose only cluster
// was deleted while PENDING goes, and takes nothing more.
func TestProjectWithAClusterIsKept(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		newCluster(t, s.Scene, k, s.Project, "web")
		harness.WantRefusal(t, s.Do(t, "DELETE", "/projects/"+s.Project, ""), 409, "CONFLICT")
		newCluster(t, s.Scene, k, s.Project, "more")
		empty := newProject(t, s.Scene, "Empty")
		id := newCluster(t, s.Scene, k, empty, "web")
		s.Must(t, 200, "DELETE", k.pathIn(empty)+"/"+id, "")
		s.Must(t, 200, "DELETE", "/projects/"+empty, "")
		for _, c := range k.calls(empty, id, "late") {
			harness.WantRefusal(t, harness.Call(t, c.method, s.Path(c.rest), s.AdminToken, c.body), 403, "FORBIDDEN")
		}
	})
}
