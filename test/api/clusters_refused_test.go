package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestBadClusterIsRefusedWithAllProblems: 400 in the access-management shape, with
// a list of strings, one for each problem; nothing is made.
func TestBadClusterIsRefusedWithAllProblems(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	for path, bodies := range map[string]map[string][]string{
		"/kubernetes": {
			`{}`: {"flavor_id", "image_id", "name"},
			`{"name":"Not-A-Label","flavor_id":"a b","image_id":"","node_count":1001,"k8s_version":"2.0","pod_cidr":"10.0.0.1/8","service_cidr":"x","cni_plugin":"weave","cluster_agent_enabled":"yes","user_data":""}`: {
				"cluster_agent_enabled", "cni_plugin", "flavor_id", "image_id", "k8s_version", "name", "node_count", "pod_cidr", "service_cidr", "user_data",
			},
			`{"name":"a","flavor_id":"f","image_id":"i","node_count":0}`:                                            {"node_count"},
			`{"name":"a","flavor_id":"f","image_id":"i","node_count":1.0}`:                                          {"node_count"},
			`{"name":"a","flavor_id":"f","image_id":"i","pod_cidr":"10.96.0.0/16"}`:                                 {"pod_cidr"},
			`{"name":"a","flavor_id":"f","image_id":"i","service_cidr":"10.244.0.0/24"}`:                            {"service_cidr"},
			`{"name":"a","flavor_id":"f","image_id":"i","pod_cidr":"172.16.0.0/12","service_cidr":"172.20.0.0/16"}`: {"pod_cidr"},
			`{"name":"` + strings.Repeat("a", 64) + `","flavor_id":"f","image_id":"i"}`:                             {"name"},
			`{"name":"a","flavor_id":"f","image_id":"i","project_id":"proj-other-v1","account_id":"acct-other-v1"}`: {"account_id", "project_id"},
			`{"name":{"$ne":null},"flavor_id":"f","image_id":"i"}`:                                                  {"name"},
			`{"name":"a","name":"b","flavor_id":"f","image_id":"i"}`:                                                {""},
			`[]`: {""},
			`{"name":"a","flavor_id":"f","image_id":"i"} {}`:                                                               {""},
			`{"name":"a","flavor_id":"f","image_id":"i","k8s_version":1.31}`:                                               {"k8s_version"},
			`{"Name":"a","flavor_id":"f","image_id":"i"}`:                                                                  {"Name", "name"},
			`{"name":"a","flavor_id":"f","image_id":"i","pod_cidr":"::ffff:10.0.0.0/104","service_cidr":"fe80::%eth0/64"}`: {"pod_cidr", "service_cidr"},
		},
		"/gpu-clusters": {
			`{}`: {"cluster_name", "flavor_id", "image_id"},
			`{"cluster_name":"-a","flavor_id":7,"image_id":null,"gpu_count":513,"ssh_key_id":"","pricing_template_id":"a/b","user_data":{},"security_group_ids":["sg-absent-v1","sg-absent-v1"],"name":"a"}`: {
				"cluster_name", "flavor_id", "gpu_count", "image_id", "name", "pricing_template_id", "security_group_ids[0]", "security_group_ids[1]", "security_group_ids[1]", "ssh_key_id", "user_data",
			},
			`{"cluster_name":"a","flavor_id":"f","image_id":"i","gpu_count":0}`:                                             {"gpu_count"},
			`{"cluster_name":"a","flavor_id":"f","image_id":"i","gpu_count":1e2}`:                                           {"gpu_count"},
			`{"cluster_name":"a","flavor_id":"f","image_id":"i","user_data":"` + strings.Repeat("u", 16385) + `"}`:          {"user_data"},
			`{"cluster_name":"a","flavor_id":"f","image_id":"i","security_group_ids":"sg-a-v1"}`:                            {"security_group_ids"},
			`{"cluster_name":"a","flavor_id":"f","image_id":"i","security_group_ids":["sg-absent-v1"],"request_id":"mine"}`: {"request_id", "security_group_ids[0]"},
		},
	} {
		for body, want := range bodies {
			r := s.Do(t, "POST", "/projects/"+s.Project+path, body)
			harness.WantRefusal(t, r, 400, "BAD_REQUEST")
			var got []string
			for _, d := range detailsOf(r) {
				field, _, found := strings.Cut(d, ": ")
				if !found || strings.HasPrefix(d, "the body") {
					field = ""
				}
				got = append(got, field)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s %.120s: %s, want %q", path, body, r.Raw, want)
			}
		}
		if r := s.Must(t, 200, "GET", "/projects/"+s.Project+path, ""); fmt.Sprint(r.Body["total_count"]) != "0" {
			t.Errorf("a refused request made something: %s", r.Raw)
		}
	}
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
	own := newClusterGroup(t, s.Scene, s.Project, "a")
	for name, id := range ids {
		r := s.Do(t, "POST", "/projects/"+s.Project+"/gpu-clusters", fmt.Sprintf(`{"cluster_name":"a","flavor_id":"f","image_id":"i","security_group_ids":[%q,%q]}`, own, id))
		harness.WantRefusal(t, r, 400, "BAD_REQUEST")
		if got := detailsOf(r); !slices.Equal(got, []string{"security_group_ids[1]: is no security group of this project"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestClusterNameIsTaken: 409 in the project and for the kind; free in another one.
func TestClusterNameIsTaken(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		newCluster(t, s.Scene, k, s.Project, "web")
		harness.WantRefusal(t, s.Do(t, "POST", k.in(s.Project), k.body("web")), 409, "CONFLICT")
		newCluster(t, s.Scene, k, newProject(t, s.Scene, "Other"), "web")
		for _, other := range clusterKinds() {
			if other.name != k.name {
				newCluster(t, s.Scene, other, s.Project, "web")
			}
		}
		a, b := atOnce(
			func() harness.Reply { return s.Do(t, "POST", k.in(s.Project), k.body("race")) },
			func() harness.Reply { return s.Do(t, "POST", k.in(s.Project), k.body("race")) },
		)
		if a.Status+b.Status != 201+409 {
			t.Errorf("two at once: %d and %d", a.Status, b.Status)
		}
	})
}

// TestClusterOfAnotherProjectIsNotThere: 404 in the words for an absent one, and it
// stays as it is.
func TestClusterOfAnotherProjectIsNotThere(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		id, other := newCluster(t, s.Scene, k, s.Project, "web"), newProject(t, s.Scene, "Other")
		for _, method := range []string{"GET", "DELETE"} {
			absent := s.Do(t, method, k.in(other)+"/"+k.name+"-absent-v1", "")
			theirs := s.Do(t, method, k.in(other)+"/"+id, "")
			harness.WantRefusal(t, absent, 404, "NOT_FOUND")
			harness.WantRefusal(t, theirs, 404, "NOT_FOUND")
			if string(absent.Raw) != string(theirs.Raw) {
				t.Errorf("%s: %s, absent %s", method, theirs.Raw, absent.Raw)
			}
			harness.WantRefusal(t, s.Do(t, method, k.in(s.Project)+"/"+id+"?force=1", ""), 400, "BAD_REQUEST")
		}
		r := s.Must(t, 200, "GET", k.in(s.Project)+"/"+id, "")
		if k.of(r.Body["cluster"], "status") != k.status("PENDING") {
			t.Errorf("%s", r.Raw)
		}
	})
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
			theirs, absent := s.Do(t, method, k.in(other.Project), body), s.Do(t, method, k.in("proj-absent-v1"), body)
			harness.WantRefusal(t, theirs, 403, "FORBIDDEN")
			if strings.ReplaceAll(string(theirs.Raw), other.Project, "P") != strings.ReplaceAll(string(absent.Raw), "proj-absent-v1", "P") {
				t.Errorf("%s: %s, absent %s", method, theirs.Raw, absent.Raw)
			}
			harness.WantRefusal(t, harness.Call(t, method, other.Path(k.in(other.Project)), s.AdminToken, body), 403, "FORBIDDEN")
		}
	})
}

// TestListOfClustersIsAskedStrictly: wrong query values, and a token that is
// forged or of another list, are 400.
func TestListOfClustersIsAskedStrictly(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		other := newProject(t, s.Scene, "Other")
		for _, name := range []string{"a", "b"} {
			newCluster(t, s.Scene, k, s.Project, name)
			newCluster(t, s.Scene, k, other, name)
		}
		token, _ := s.Must(t, 200, "GET", k.in(s.Project)+"?page_size=1", "").Body["next_page_token"].(string)
		s.Must(t, 200, "GET", k.in(s.Project)+"?page_token="+token, "")
		last := token[:len(token)-1] + map[bool]string{true: "B", false: "A"}[strings.HasSuffix(token, "A")]
		for _, rest := range []string{
			k.in(other) + "?page_token=" + token, k.in(s.Project) + "?status=" + k.status("PENDING") + "&page_token=" + token,
			k.in(s.Project) + "?page_token=" + last, k.in(s.Project) + "?page_token=" + token[1:], k.in(s.Project) + "?page_token=x",
			clusterKinds()[map[string]int{"kubernetes_cluster": 1}[k.name]].in(s.Project) + "?page_token=" + token,
		} {
			r := s.Do(t, "GET", rest, "")
			harness.WantRefusal(t, r, 400, "BAD_REQUEST")
			if d := detailsOf(r); len(d) != 1 || !strings.HasPrefix(d[0], "page_token: ") {
				t.Errorf("%s: %q", rest, d)
			}
		}
		r := s.Do(t, "GET", k.in(s.Project)+"?page_size=101&status=running-late&page=1", "")
		harness.WantRefusal(t, r, 400, "BAD_REQUEST")
		if d := detailsOf(r); len(d) != 3 {
			t.Errorf("%q", d)
		}
		for _, query := range []string{"page_size=0", "page_size=a", "status=", "status[$ne]=x", "page_size=1&page_size=2"} {
			harness.WantRefusal(t, s.Do(t, "GET", k.in(s.Project)+"?"+query, ""), 400, "BAD_REQUEST")
		}
	})
}
