package api_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestKubernetesClusterIsCreated: 201 with the specification's fields, a cluster of
// the path's account and project, PENDING.
func TestKubernetesClusterIsCreated(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := s.Must(t, 201, "POST", "/projects/"+s.Project+"/kubernetes", `{"name":"web","flavor_id":"m1.large","image_id":"ubuntu-24.04","ssh_key_id":"key-1",
		"node_count":3,"k8s_version":"v1.31.2","pod_cidr":"192.168.0.0/16","service_cidr":"172.16.0.0/12","cni_plugin":"calico","cluster_agent_enabled":true}`)
	harness.WantFields(t, "the answer", r.Body, "cluster")
	harness.WantFields(t, "the cluster", r.Body["cluster"], "base", "node_count", "installed_apps")
	base := harness.At(r.Body, "cluster", "base")
	harness.WantFields(t, "its base", base, "cluster_id", "name", "status", "account_id", "project_id", "created_at", "updated_at", "cluster_endpoint")
	harness.WantTimes(t, base, "created_at", "updated_at")
	if harness.At(base, "name") != "web" || harness.At(base, "status") != "CLUSTER_STATUS_PENDING" || harness.At(base, "account_id") != s.Account || harness.At(base, "project_id") != s.Project ||
		fmt.Sprint(harness.At(r.Body, "cluster", "node_count")) != "3" || harness.At(base, "cluster_endpoint") != "" || len(harness.At(r.Body, "cluster", "installed_apps").([]any)) != 0 {
		t.Errorf("%s", r.Raw)
	}
	if id, _ := harness.At(base, "cluster_id").(string); !regexp.MustCompile(`^cluster-[0-9a-z]{26}-v1$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	least := s.Must(t, 201, "POST", "/projects/"+s.Project+"/kubernetes", `{"name":"least","flavor_id":"f","image_id":"i"}`)
	if fmt.Sprint(harness.At(least.Body, "cluster", "node_count")) != "1" {
		t.Errorf("%s", least.Raw)
	}
}

// TestGPUClusterIsCreated: 201 with the specification's fields, a message and the
// request's id; the project's security groups may be named.
func TestGPUClusterIsCreated(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	a, b := newClusterGroup(t, s.Scene, s.Project, "a"), newClusterGroup(t, s.Scene, s.Project, "b")
	r := harness.Call(t, "POST", s.Path("/projects/"+s.Project+"/gpu-clusters"), s.AdminToken, fmt.Sprintf(`{"cluster_name":"train","flavor_id":"h100","image_id":"i",
		"ssh_key_id":"k","gpu_count":8,"pricing_template_id":"p","user_data":"#cloud-config\nsecret: marked","security_group_ids":[%q,%q]}`, a, b), "X-Request-ID", "mine.1")
	if r.Status != 201 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	harness.WantFields(t, "the answer", r.Body, "cluster", "message", "request_id")
	cluster := r.Body["cluster"]
	harness.WantFields(t, "the cluster", cluster, "id", "name", "status", "account_id", "project_id", "created_at", "updated_at", "metadata", "resources")
	harness.WantTimes(t, cluster, "created_at", "updated_at")
	if harness.At(cluster, "name") != "train" || harness.At(cluster, "status") != "pending" || harness.At(cluster, "account_id") != s.Account || harness.At(cluster, "project_id") != s.Project ||
		harness.At(cluster, "metadata") != "" || len(harness.At(cluster, "resources").([]any)) != 0 || r.Body["request_id"] != "mine.1" || r.Body["message"] == "" {
		t.Errorf("%s", r.Raw)
	}
	if id, _ := harness.At(cluster, "id").(string); !regexp.MustCompile(`^gpu-[0-9a-z]{26}-v1$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	made := s.Must(t, 201, "POST", "/projects/"+s.Project+"/gpu-clusters", `{"cluster_name":"least","flavor_id":"f","image_id":"i"}`)
	if id := made.Header.Get("X-Request-ID"); id == "" || made.Body["request_id"] != id {
		t.Errorf("%s, X-Request-ID %q", made.Raw, id)
	}
	s.Settled(t)
	if list := s.Must(t, 200, "GET", "/projects/"+s.Project+"/gpu-clusters", ""); strings.Contains(string(list.Raw)+s.Stderr.String(), "marked") {
		t.Error("the user data is shown or logged")
	}
}

// TestClustersAreListed: newest first, page by page, each once; count is the
// page's, total_count all.
func TestClustersAreListed(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		empty := s.Must(t, 200, "GET", k.in(s.Project), "")
		harness.WantFields(t, "an empty list", empty.Body, k.list...)
		if list, ok := empty.Body["clusters"].([]any); !ok || len(list) != 0 || empty.Body["next_page_token"] != "" {
			t.Errorf("%s", empty.Raw)
		}
		var want []string
		for i := range 5 {
			name := fmt.Sprintf("n%d", i)
			newCluster(t, s.Scene, k, s.Project, name)
			want = append([]string{name}, want...)
		}
		newCluster(t, s.Scene, k, newProject(t, s.Scene, "Other"), "elsewhere")
		var got []string
		token := ""
		for _, count := range []string{"2", "2", "1"} {
			r := s.Must(t, 200, "GET", k.in(s.Project)+"?page_size=2&page_token="+token, "")
			harness.WantFields(t, "the answer", r.Body, k.list...)
			if fmt.Sprint(r.Body["count"]) != count || fmt.Sprint(r.Body["total_count"]) != "5" {
				t.Fatalf("%s", r.Raw)
			}
			got = append(got, k.names(r)...)
			token, _ = r.Body["next_page_token"].(string)
		}
		// Those of one millisecond stand in any order, each once.
		if got, want := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)); token != "" || !slices.Equal(got, want) {
			t.Errorf("%v, want %v; last token %q", got, want, token)
		}
		whole := s.Must(t, 200, "GET", k.in(s.Project)+"?page_size=100", "")
		list, _ := whole.Body["clusters"].([]any)
		for i := 1; i < len(list); i++ {
			if k.of(list[i-1], "created_at") < k.of(list[i], "created_at") {
				t.Errorf("not newest first: %s", whole.Raw)
			}
		}
	})
}

// TestClustersAreListedByTheirStatus, in the kind's own words.
func TestClustersAreListedByTheirStatus(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		newCluster(t, s.Scene, k, s.Project, "stays")
		s.Must(t, 200, "DELETE", k.in(s.Project)+"/"+newCluster(t, s.Scene, k, s.Project, "goes"), "")
		for state, want := range map[string][]string{
			"PENDING": {"stays"}, "DELETING": nil, "PROVISIONING": nil, "RUNNING": nil, "ERROR": nil, "DELETED": {"goes"},
		} {
			r := s.Must(t, 200, "GET", k.in(s.Project)+"?status="+k.status(state), "")
			if !slices.Equal(k.names(r), want) || fmt.Sprint(r.Body["total_count"]) != fmt.Sprint(len(want)) {
				t.Errorf("%s: %s", state, r.Raw)
			}
		}
		if r := s.Must(t, 200, "GET", k.in(s.Project), ""); fmt.Sprint(r.Body["total_count"]) != "1" {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestClusterIsReadAndDeleted: {cluster}; a PENDING one is DELETED from then on, and can still be
// read; its name is free. A repeat says the same.
func TestClusterIsReadAndDeleted(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		made := s.Must(t, 201, "POST", k.in(s.Project), k.body("web"))
		one := k.in(s.Project) + "/" + k.of(made.Body["cluster"], "id")
		read := s.Must(t, 200, "GET", one, "")
		harness.WantFields(t, "the answer", read.Body, "cluster")
		if fmt.Sprint(read.Body["cluster"]) != fmt.Sprint(made.Body["cluster"]) {
			t.Errorf("%s, made as %s", read.Raw, made.Raw)
		}
		first := s.Must(t, 200, "DELETE", one, "")
		harness.WantFields(t, "the answer", first.Body, "cluster")
		if k.of(first.Body["cluster"], "status") != k.status("DELETED") || k.of(first.Body["cluster"], "updated_at") < k.of(made.Body["cluster"], "updated_at") {
			t.Errorf("%s", first.Raw)
		}
		for _, method := range []string{"DELETE", "GET"} {
			if again := s.Must(t, 200, method, one, ""); string(again.Raw) != string(first.Raw) {
				t.Errorf("%s again: %s, first %s", method, again.Raw, first.Raw)
			}
		}
		s.Must(t, 201, "POST", k.in(s.Project), k.body("web"))
	})
}

// TestClusterSurvivesTheProcess: what was answered is there after a kill.
func TestClusterSurvivesTheProcess(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t)
	ids := map[string]string{}
	for _, k := range clusterKinds() {
		ids[k.name] = newCluster(t, s.Scene, k, s.Project, "web")
	}
	s.Kill(t)
	s.Gateway = harness.StartIn(t, s.DataDir)
	for _, k := range clusterKinds() {
		s.Must(t, 200, "GET", k.in(s.Project)+"/"+ids[k.name], "")
		harness.WantRefusal(t, s.Do(t, "POST", k.in(s.Project), k.body("web")), 409, "CONFLICT")
	}
}
