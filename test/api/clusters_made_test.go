package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestKubernetesClusterIsCreated with every field of the specification.
func TestKubernetesClusterIsCreated(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	r := s.Must(t, 201, "POST", "/projects/"+s.Project+"/kubernetes", `{"name":"web","flavor_id":"m1.large","image_id":"ubuntu-24.04","ssh_key_id":"key-1",
		"node_count":3,"k8s_version":"v1.31.2","pod_cidr":"192.168.0.0/16","service_cidr":"172.16.0.0/12","cni_plugin":"calico","cluster_agent_enabled":true}`)
	harness.WantFields(t, "the answer", r.Body, "cluster")
	harness.WantFields(t, "the cluster", r.Body["cluster"], "base", "node_count", "installed_apps")
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
	if harness.At(cluster, "name") != "train" || r.Body["request_id"] != "mine.1" || r.Body["message"] == "" {
		t.Errorf("%s", r.Raw)
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

// TestClusterIsReadAndDeleted: {cluster}; a PENDING one is DELETED from then on, and can still be
// read and listed; its name is free. A repeat says the same.
func TestClusterIsReadAndDeleted(t *testing.T) {
	eachClusterKind(t, func(t *testing.T, s *harness.Team, k clusterKind) {
		made := s.Must(t, 201, "POST", k.pathIn(s.Project), k.body("web"))
		one := k.pathIn(s.Project) + "/" + k.member(made.Body["cluster"], "id")
		read := s.Must(t, 200, "GET", one, "")
		harness.WantFields(t, "the answer", read.Body, "cluster")
		if fmt.Sprint(read.Body["cluster"]) != fmt.Sprint(made.Body["cluster"]) {
			t.Errorf("%s, made as %s", read.Raw, made.Raw)
		}
		first := s.Must(t, 200, "DELETE", one, "")
		harness.WantFields(t, "the answer", first.Body, "cluster")
		if k.member(first.Body["cluster"], "status") != k.status("DELETED") || k.member(first.Body["cluster"], "updated_at") < k.member(made.Body["cluster"], "updated_at") {
			t.Errorf("%s", first.Raw)
		}
		for _, method := range []string{"DELETE", "GET"} {
			if again := s.Must(t, 200, method, one, ""); string(again.Raw) != string(first.Raw) {
				t.Errorf("%s again: %s, first %s", method, again.Raw, first.Raw)
			}
		}
		list := s.Must(t, 200, "GET", k.pathIn(s.Project)+"?status="+k.status("DELETED"), "")
		harness.WantFields(t, "the list", list.Body, k.list...)
		if got := k.names(list); !slices.Equal(got, []string{"web"}) {
			t.Errorf("%v are listed as deleted", got)
		}
		s.Must(t, 201, "POST", k.pathIn(s.Project), k.body("web"))
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
		s.Must(t, 200, "GET", k.pathIn(s.Project)+"/"+ids[k.name], "")
		harness.WantRefusal(t, s.Do(t, "POST", k.pathIn(s.Project), k.body("web")), 409, "CONFLICT")
	}
}
