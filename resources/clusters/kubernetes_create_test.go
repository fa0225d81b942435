package clusters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

// kubernetesRecord is the cluster as it is stored.
func (w *clustersWorld) kubernetesRecord(id string) (out resources.KubernetesRecord) {
	w.T.Helper()
	must.Do(w.T, w.Store.View(w.T.Context(), func(tx store.Tx) error {
		rec, err := w.Collections.KubernetesClusters.Get(w.T.Context(), tx, id)
		out = rec.Value
		return err
	}))
	return out
}

// TestKubernetesClusterIsMade with the specification's fields and nothing else; what
// it leaves out has its default.
func TestKubernetesClusterIsMade(t *testing.T) {
	w := newWorld(t)
	got := w.call("kubernetes_cluster.create", home, "", `{"name":"web","flavor_id":"m1.large","image_id":"ubuntu-24.04"}`)
	id := got.Str("cluster.base.cluster_id")
	want := fmt.Sprintf(`{"cluster":{"base":{"cluster_id":%q,"name":"web","status":"CLUSTER_STATUS_PENDING","account_id":"acct-a-v1",`+
		`"project_id":"proj-one-v1","created_at":%q,"updated_at":%[2]q,"cluster_endpoint":""},"node_count":1,"installed_apps":[]}}`, id, startText)
	if got.Status != 201 || got.Text != want || !strings.HasPrefix(id, "cluster-") || len(id) != len("cluster--v1")+26 {
		t.Errorf("%d %s, want %s", got.Status, got.Text, want)
	}
	if plan, want := w.kubernetesRecord(id).Plan, (resources.KubernetesPlan{
		FlavorID: "m1.large", ImageID: "ubuntu-24.04", PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", CNIPlugin: "cilium",
	}); plan != want {
		t.Errorf("%+v, want %+v", plan, want)
	}
}

// TestKubernetesOrderIsKept: what a body says and no answer shows is there for a provisioner.
func TestKubernetesOrderIsKept(t *testing.T) {
	w := newWorld(t)
	got := w.call("kubernetes_cluster.create", home, "", `{"name":"web","flavor_id":"f","image_id":"i","ssh_key_id":"k","node_count":3,"k8s_version":"v1.31.2",
		"pod_cidr":"FD00:0:0::/48","service_cidr":"fd00:1::/112","cni_plugin":"calico","cluster_agent_enabled":true}`)
	w.Expect(got, 201, `"node_count":3`)
	if plan, want := w.kubernetesRecord(got.Str("cluster.base.cluster_id")).Plan, (resources.KubernetesPlan{
		FlavorID: "f", ImageID: "i", SSHKeyID: "k", Version: "v1.31.2", PodCIDR: "fd00::/48", ServiceCIDR: "fd00:1::/112",
		CNIPlugin: "calico", ClusterAgent: true,
	}); plan != want {
		t.Errorf("%+v, want %+v", plan, want)
	}
	for _, secret := range []string{"calico", "fd00", "v1.31", "flavor", "ssh"} {
		if strings.Contains(got.Text, secret) {
			t.Errorf("%s shows %s", got.Text, secret)
		}
	}
}

// text is n characters.
func text(n int) string { return strings.Repeat("a", n) }

// TestKubernetesFields: both sides of each bound. A value stands alone in a body that
// is good without it; a refusal names its field and no other one.
func TestKubernetesFields(t *testing.T) {
	w := newWorld(t)
	number := 0
	for field, c := range map[string]struct{ good, bad []string }{
		"name": {
			[]string{`"a"`, `"0"`, `"a-b"`, `"a--b"`, `"9lives"`, `"` + text(63) + `"`},
			[]string{
				`""`, `null`, `7`, `"A"`, `"-a"`, `"a-"`, `"-"`, `"a.b"`, `"a_b"`, `"a b"`, `"ä"`, `"a\n"`, `"` + text(64) + `"`, `["a"]`,
			},
		},
		"flavor_id":  {[]string{`"a"`, `"A.b_c@d-1"`, `"` + text(128) + `"`}, []string{`""`, `null`, `7`, `"a b"`, `"a/b"`, `"` + text(129) + `"`, `{"$ne":""}`}},
		"image_id":   {[]string{`"a"`, `"` + text(128) + `"`}, []string{`""`, `null`, `true`, `"a|b"`, `"` + text(129) + `"`}},
		"ssh_key_id": {[]string{`null`, `"a"`, `"` + text(128) + `"`}, []string{`""`, `7`, `"a b"`, `"` + text(129) + `"`}},
		"node_count": {
			[]string{`null`, `1`, `2`, `999`, `1000`},
			[]string{`0`, `-1`, `-0`, `1001`, `1.0`, `1e0`, `1E2`, `"1"`, `true`, `9223372036854775808`, `4294967297`, `[]`},
		},
		"k8s_version": {
			[]string{`null`, `"1.0"`, `"1.31"`, `"v1.31"`, `"1.31.0"`, `"v1.31.12"`, `"1.999.999"`},
			[]string{
				`""`, `1.31`, `"1"`, `"v1"`, `"2.0"`, `"1."`, `"1.31."`, `"1.31.2.1"`, `"V1.31"`, `"vv1.31"`, `"1.031"`, `"1.31.02"`, `"1.31-rc1"`,
				`" 1.31"`, `"1.31\n"`, `"1.x"`, `"1.1000"`, `"latest"`, `"11.31"`,
			},
		},
		"cni_plugin":            {[]string{`null`, `"cilium"`, `"calico"`, `"flannel"`}, []string{`""`, `"Cilium"`, `"weave"`, `7`, `["cilium"]`}},
		"cluster_agent_enabled": {[]string{`null`, `true`, `false`}, []string{`"true"`, `0`, `1`, `""`}},
	} {
		for _, value := range append(slices.Clone(c.good), c.bad...) {
			number++
			body := fmt.Sprintf(`{"name":"n%d","flavor_id":"f","image_id":"i"}`, number)
			body = replaced(body, field, value)
			status := 201
			if slices.Contains(c.bad, value) {
				status = 400
			}
			t.Run(fmt.Sprintf("%d %s %.40s", status, field, value), func(t *testing.T) {
				got := w.subTest(t).call("kubernetes_cluster.create", home, "", body)
				w.subTest(t).Expect(got, status)
				if d := details(got); status == 400 && (len(d) != 1 || !strings.HasPrefix(d[0], field+": ")) {
					t.Errorf("%q", d)
				}
			})
		}
	}
}

// replaced gives a field of a flat body another value, or adds it.
func replaced(body, field, value string) string {
	start := strings.Index(body, `"`+field+`":`)
	if start < 0 {
		return strings.TrimSuffix(body, "}") + `,"` + field + `":` + value + `}`
	}
	rest := body[start:]
	end := strings.IndexAny(rest, ",}")
	return body[:start] + `"` + field + `":` + value + rest[end:]
}

// TestKubernetesProblemsAreToldAtOnce guarantees an answer with every wrong value and every unknown
// field.
func TestKubernetesProblemsAreToldAtOnce(t *testing.T) {
	w := newWorld(t)
	got := w.call("kubernetes_cluster.create", home, "?dry_run=1", `{"name":"A","ssh_key_id":"","node_count":0,"k8s_version":"2","pod_cidr":"x","service_cidr":"10.0.0.1/8",
		"cni_plugin":"x","cluster_agent_enabled":1,"status":"CLUSTER_STATUS_RUNNING"}`)
	w.Expect(got, 400, `"code":"BAD_REQUEST"`)
	var fields []string
	for _, d := range details(got) {
		field, _, _ := strings.Cut(d, ": ")
		fields = append(fields, field)
	}
	slices.Sort(fields)
	want := []string{
		"cluster_agent_enabled", "cni_plugin", "dry_run", "flavor_id", "image_id", "k8s_version", "name", "node_count", "pod_cidr", "service_cidr",
		"ssh_key_id", "status",
	}
	if !slices.Equal(fields, want) {
		t.Errorf("%q, want %q", details(got), want)
	}
	if page := w.call("kubernetes_cluster.list", home, "", ""); page.Int("total_count") != 0 {
		t.Errorf("a refused request made something: %s", page.Text)
	}
}
