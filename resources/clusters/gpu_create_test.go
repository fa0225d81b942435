package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

// gpuRecord is the cluster as it is stored.
func (w *clustersWorld) gpuRecord(id string) (out resources.GPURecord) {
	w.T.Helper()
	must.Do(w.T, w.Store.View(w.T.Context(), func(tx store.Tx) error {
		rec, err := w.Collections.GPUClusters.Get(w.T.Context(), tx, id)
		out = rec.Value
		return err
	}))
	return out
}

// TestGPUClusterIsMade with the specification's fields and nothing else, beside a
// message and the id of the request.
func TestGPUClusterIsMade(t *testing.T) {
	w := newWorld(t)
	got := w.call("gpu_cluster.create", home, "", `{"cluster_name":"train","flavor_id":"h100","image_id":"i"}`)
	id := got.Str("cluster.id")
	want := fmt.Sprintf(`{"cluster":{"id":%q,"name":"train","status":"pending","account_id":"acct-a-v1","project_id":"proj-one-v1",`+
		`"created_at":%q,"updated_at":%[2]q,"metadata":"","resources":[]},"message":%q,"request_id":"rid-gpu_cluster.create"}`, id, startText, got.Str("message"))
	if got.Status != 201 || got.Text != want || got.Str("message") == "" || !strings.HasPrefix(id, "gpu-") || len(id) != len("gpu--v1")+26 {
		t.Errorf("%d %s, want %s", got.Status, got.Text, want)
	}
	if plan, want := w.gpuRecord(id).Plan, (resources.GPUPlan{FlavorID: "h100", ImageID: "i", GPUCount: 1}); !reflect.DeepEqual(plan, want) {
		t.Errorf("%+v, want %+v", plan, want)
	}
	if w.groups.asked.Load() != 0 {
		t.Error("the firewall is asked about nothing")
	}
}

// TestGPUOrderIsKept: what a body says and no answer shows is there for a provisioner.
func TestGPUOrderIsKept(t *testing.T) {
	w := newWorld(t)
	got := w.call("gpu_cluster.create", home, "", `{"cluster_name":"train","flavor_id":"f","image_id":"i","ssh_key_id":"k","gpu_count":8,"pricing_template_id":"p",
		"user_data":"#cloud-config\n<secret>\u00e4","security_group_ids":["sg-b-v1","sg-a-v1"]}`)
	w.Expect(got, 201)
	if plan, want := w.gpuRecord(got.Str("cluster.id")).Plan, (resources.GPUPlan{
		FlavorID: "f", ImageID: "i", SSHKeyID: "k", GPUCount: 8, PricingTemplateID: "p", UserData: "#cloud-config\n<secret>ä",
		SecurityGroupIDs: []string{"sg-b-v1", "sg-a-v1"},
	}); !reflect.DeepEqual(plan, want) {
		t.Errorf("%+v, want %+v", plan, want)
	}
	for _, hidden := range []string{"secret", "sg-a-v1", "user_data", "gpu_count", "pricing"} {
		if strings.Contains(got.Text, hidden) {
			t.Errorf("%s shows %s", got.Text, hidden)
		}
	}
}

// TestGPUFields: both sides of each bound.
func TestGPUFields(t *testing.T) {
	w := newWorld(t)
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("sg-%d-v1", i)
	}
	w.groups.ids[home] = append(w.groups.ids[home], many...)
	list := func(ids []string) string { return `["` + strings.Join(ids, `","`) + `"]` }
	number := 0
	for field, c := range map[string]struct{ good, bad []string }{
		"cluster_name":        {[]string{`"a"`, `"` + text(63) + `"`}, []string{`""`, `null`, `7`, `"A"`, `"a-"`, `"a.b"`, `"` + text(64) + `"`}},
		"flavor_id":           {[]string{`"a"`, `"` + text(128) + `"`}, []string{`""`, `null`, `7`, `"a b"`, `"` + text(129) + `"`}},
		"image_id":            {[]string{`"a"`, `"` + text(128) + `"`}, []string{`""`, `null`, `7`, `"a/b"`, `"` + text(129) + `"`}},
		"ssh_key_id":          {[]string{`null`, `"a"`}, []string{`""`, `7`, `"` + text(129) + `"`}},
		"pricing_template_id": {[]string{`null`, `"a"`, `"` + text(128) + `"`}, []string{`""`, `7`, `"a b"`, `"` + text(129) + `"`}},
		"gpu_count":           {[]string{`null`, `1`, `512`}, []string{`0`, `-1`, `513`, `1.5`, `1e1`, `"8"`, `9223372036854775808`}},
		"user_data": {
			[]string{`null`, `""`, `"` + text(16384) + `"`, `"` + strings.Repeat("ä", 8192) + `"`},
			[]string{`"` + text(16385) + `"`, `"` + strings.Repeat("ä", 8192) + `a"`, `7`, `{"a":1}`},
		},
		"security_group_ids": {
			[]string{`null`, `[]`, `["sg-a-v1"]`, `["sg-a-v1","sg-b-v1"]`, list(many[:100])},
			[]string{
				`"sg-a-v1"`, `[7]`, `[null]`, `[""]`, `["a b"]`, `[["sg-a-v1"]]`, `[{"$ne":""}]`, `["sg-a-v1","sg-a-v1"]`, list(many),
				`["sg-absent-v1"]`, `["sg-two-v1"]`, `["sg-theirs-v1"]`,
			},
		},
	} {
		for _, value := range append(slices.Clone(c.good), c.bad...) {
			number++
			body := replaced(fmt.Sprintf(`{"cluster_name":"n%d","flavor_id":"f","image_id":"i"}`, number), field, value)
			status := 201
			if slices.Contains(c.bad, value) {
				status = 400
			}
			t.Run(fmt.Sprintf("%d %s %.40s", status, field, value), func(t *testing.T) {
				got := w.subTest(t).call("gpu_cluster.create", home, "", body)
				w.subTest(t).Expect(got, status)
				if d := details(got); status == 400 && (len(d) != 1 || !strings.HasPrefix(d[0], field)) {
					t.Errorf("%q", d)
				}
			})
		}
	}
}

// TestGroupsOfOthersAreNotThere: an absent security group, another project's and another
// account's are refused in the same words, each by its place, and nothing is made.
func TestGroupsOfOthersAreNotThere(t *testing.T) {
	w := newWorld(t)
	got := w.call("gpu_cluster.create", home, "", `{"cluster_name":"n","flavor_id":"f","image_id":"i","security_group_ids":["sg-absent-v1","sg-a-v1","sg-two-v1","sg-theirs-v1"]}`)
	var want []string
	for _, i := range []int{0, 2, 3} {
		want = append(want, fmt.Sprintf("security_group_ids[%d]: is no security group of this project", i))
	}
	if got.Status != 400 || !slices.Equal(details(got), want) {
		t.Errorf("%d %s", got.Status, got.Text)
	}
	if page := w.call("gpu_cluster.list", home, "", ""); page.Int("total_count") != 0 {
		t.Errorf("%s", page.Text)
	}
	w.Expect(w.call("gpu_cluster.create", site{acctB, one}, "", `{"cluster_name":"n","flavor_id":"f","image_id":"i","security_group_ids":["sg-theirs-v1"]}`), 201)
}

// TestGPUProblemsAreToldAtOnce: those of the body and those that only the firewall knows.
func TestGPUProblemsAreToldAtOnce(t *testing.T) {
	w := newWorld(t)
	got := w.call("gpu_cluster.create", home, "?x=1", `{"cluster_name":"","gpu_count":0,"user_data":1,"security_group_ids":["sg-a-v1","sg-absent-v1","sg-a-v1"],"name":"n"}`)
	want := []string{
		"x: unknown query parameter", "cluster_name: must not be empty", "flavor_id: is missing", "image_id: is missing",
		"gpu_count: must be a whole number from 1 to 512", "security_group_ids[2]: names a security group for the second time",
		"user_data: must be a string",
		"name: unknown field; allowed are cluster_name, flavor_id, gpu_count, image_id, pricing_template_id, security_group_ids, ssh_key_id, user_data",
		"security_group_ids[1]: is no security group of this project",
	}
	if !slices.Equal(details(got), want) {
		t.Errorf("%d %q, want %q", got.Status, details(got), want)
	}
	w.groups.err = errors.New("no firewall") // it can't be asked, and the answer has the other problems all the same
	got = w.call("gpu_cluster.create", home, "", `{"cluster_name":"n","flavor_id":"f","security_group_ids":["sg-absent-v1"]}`)
	if !slices.Equal(details(got), []string{"image_id: is missing"}) {
		t.Errorf("%d %s", got.Status, got.Text)
	}
}

// twice is a store that runs each view's function twice, and undoes the first run.
type twice struct{ store.Store }

// View implements store.Store.
func (t twice) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := t.Store.View(ctx, fn); err != nil {
		return err
	}
	return t.Store.View(ctx, fn)
}

// TestGPUProblemsAreToldOnce guarantees that a repeated view reports no problem twice.
func TestGPUProblemsAreToldOnce(t *testing.T) {
	w := newWorld(t, func(c *clusters.Config) { c.Store = twice{c.Store} })
	got := w.call("gpu_cluster.create", home, "", `{"cluster_name":"n","flavor_id":"f","security_group_ids":["sg-absent-v1"]}`)
	want := []string{"image_id: is missing", "security_group_ids[0]: is no security group of this project"}
	if !slices.Equal(details(got), want) {
		t.Errorf("%d %q, want %q", got.Status, details(got), want)
	}
}

// TestFirewallThatFailsMakesNoCluster guarantees that a failed look-up does not count as a yes.
func TestFirewallThatFailsMakesNoCluster(t *testing.T) {
	w := newWorld(t)
	body := `{"cluster_name":"n","flavor_id":"f","image_id":"i","security_group_ids":["sg-a-v1"]}`
	for err, status := range map[error]int{errors.New("odd"): 500, store.ErrUnavailable: 503} {
		w.groups.err = err
		got := w.call("gpu_cluster.create", home, "", body)
		w.Expect(got, status)
		if strings.Contains(got.Text, "odd") {
			t.Errorf("the cause is told: %s", got.Text)
		}
	}
	w.groups.err = nil
	w.Expect(w.call("gpu_cluster.create", home, "", body), 201) // the name is free
}
