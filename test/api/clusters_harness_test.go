package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// clusterKind is one of the two kinds of cluster as its callers see it.
type clusterKind struct {
	// name is the resource's in actions, path the collection's, field that of the name in a body.
	name, path, field string
	// base is where a cluster keeps its id, name and status; id is what the id is called there.
	base []any
	id   string
	// status is how the kind writes a state.
	status func(state string) string
	list   []string // the fields of a list
}

func clusterKinds() []clusterKind {
	return []clusterKind{
		{
			"kubernetes_cluster", "/kubernetes", "name",
			[]any{"base"},
			"cluster_id", func(state string) string { return "CLUSTER_STATUS_" + state },
			[]string{"clusters", "total_count", "count", "next_page_token"},
		},
		{
			"gpu_cluster", "/gpu-clusters", "cluster_name", nil, "id", strings.ToLower,
			[]string{"clusters", "total_count", "count", "next_page_token", "message"},
		},
	}
}

// eachClusterKind runs a test for both, each with a team of its own.
func eachClusterKind(t *testing.T, test func(t *testing.T, s *harness.Team, k clusterKind)) {
	t.Parallel()
	for _, k := range clusterKinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			test(t, harness.NewTeam(t), k)
		})
	}
}

// body is a good one of kubernetes_cluster.create or gpu_cluster.create; more is put behind its fields.
func (k clusterKind) body(name string, more ...string) string {
	return fmt.Sprintf(`{%q:%q,"flavor_id":"f","image_id":"i"%s}`, k.field, name, strings.Join(append([]string{""}, more...), ","))
}

// pathIn returns the path of the kind's clusters in a project, below the account.
func (k clusterKind) pathIn(project string) string { return "/projects/" + project + k.path }

// member returns a member of a cluster that every kind has: the id, name, status or a time.
func (k clusterKind) member(cluster any, name string) string {
	if name == "id" {
		name = k.id
	}
	text, _ := harness.At(cluster, append(append([]any{}, k.base...), name)...).(string)
	return text
}

// names are those of a list's clusters.
func (k clusterKind) names(r harness.Reply) []string {
	list, _ := r.Body["clusters"].([]any)
	out := make([]string, len(list))
	for i, cluster := range list {
		out[i] = k.member(cluster, "name")
	}
	return out
}

// newCluster makes one as the admin and gives its id.
func newCluster(t testing.TB, s *harness.Scene, k clusterKind, project, name string) string {
	t.Helper()
	r := s.Must(t, 201, "POST", k.pathIn(project), k.body(name))
	id := k.member(r.Body["cluster"], "id")
	if id == "" {
		t.Fatalf("no id in %s", r.Raw)
	}
	return id
}

// newProject makes another project of the account.
func newProject(t testing.TB, s *harness.Scene, name string) string {
	t.Helper()
	id, _ := harness.At(s.Must(t, 201, "POST", "/projects", fmt.Sprintf(`{"name":%q}`, name)).Body, "project", "id").(string)
	return id
}

// newClusterGroup makes a security group for clusters to name.
func newClusterGroup(t testing.TB, s *harness.Scene, project, name string) string {
	t.Helper()
	r := harness.Call(t, "POST", s.Path("/projects/"+project+"/security-groups"), s.AdminToken,
		fmt.Sprintf(`{"project_id":%q,"name":%q}`, project, name), "x-account-id", s.Account)
	id, _ := harness.At(r.Body, "security_group", "id").(string)
	if r.Status != 201 || id == "" {
		t.Fatalf("security_group.create: %d %s", r.Status, r.Raw)
	}
	return id
}

// detailsOf are the problems of a refusal in access management's shape.
func detailsOf(r harness.Reply) []string {
	list, _ := harness.At(r.Body, "error", "details").([]any)
	out := make([]string, len(list))
	for i, v := range list {
		out[i], _ = v.(string)
	}
	return out
}
