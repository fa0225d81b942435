package clusters_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// request is one by a signed-in user.
func request(s site, body string) *wire.Request {
	return &wire.Request{
		Principal: resources.Principal{Kind: resources.PrincipalUser, ID: user, AccountID: s.account},
		Params:    map[string]string{"accountId": s.account, "projectId": s.project, "id": ""}, Body: []byte(body),
	}
}

// shelf is a store that keeps nothing but the last record of each collection.
type shelf struct {
	store.Store
	store.Tx
	put map[string][]byte
}

func (s *shelf) View(_ context.Context, fn func(store.Tx) error) error     { return fn(s) }
func (s *shelf) Transact(_ context.Context, fn func(store.Tx) error) error { return fn(s) }

func (s *shelf) Get(context.Context, *store.Schema, string) (store.Row, error) {
	return store.Row{}, store.ErrNotFound
}

func (s *shelf) Insert(_ context.Context, schema *store.Schema, row store.Row) error {
	s.put[schema.Name] = row.Body
	return nil
}

// fuzzed sends a body and returns its record. It returns nil if the body was refused; the answer
// then has problems, and the store no trace.
func fuzzed(t *testing.T, route, collection, body string) []byte {
	t.Helper()
	s := &shelf{put: map[string][]byte{}}
	w := &clustersWorld{
		World: &areatest.World{
			T: t, Ctx: t.Context(), Store: s, Collections: records.NewCollections(), Area: resources.AreaCompute, Clock: &areatest.Clock{},
		},
		groups: &groups{ids: map[site][]string{home: {"sg-a-v1"}}},
	}
	w.Routes = clusters.New(w.config(s)).Routes()
	got := w.Ask(route, request(home, body))
	switch {
	case got.Status == 201 && s.put[collection] != nil:
		return s.put[collection]
	case got.Status == 400 && len(s.put) == 0 && len(details(got)) > 0:
		return nil
	}
	t.Fatalf("%q: %d %s, stored %q", body, got.Status, got.Text, s.put)
	return nil
}

var label = regexp.MustCompile(`\A[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\z`)

// FuzzKubernetesBody guarantees that any body is refused with problems, or makes a cluster within
// every bound.
func FuzzKubernetesBody(f *testing.F) {
	for _, body := range []string{
		"", "{}", "[]", "null", "{", `{"name":"a","name":"b"}`, "\xef\xbb\xbf{}", "{\"name\":\"\xff\"}", `{"name":"\ud800"}`, `{"name":"\u0000"}`,
		`{"name":"web","flavor_id":"f","image_id":"i"}`, `{"name":"web","flavor_id":"f","image_id":"i"} {}`,
		`{"name":"web","flavor_id":"f","image_id":"i","ssh_key_id":"k","node_count":1000,"k8s_version":"v1.31.2","pod_cidr":"fd00::/48","service_cidr":"fd01::/112","cni_plugin":"flannel","cluster_agent_enabled":true}`,
		`{"name":"web","flavor_id":"f","image_id":"i","node_count":1e2,"pod_cidr":"::ffff:10.0.0.0/104","service_cidr":"10.0.0.1/8"}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		raw := fuzzed(t, "kubernetes_cluster.create", "kubernetes_clusters", body)
		if raw == nil {
			return
		}
		var r resources.KubernetesRecord
		must.Do(t, json.Unmarshal(raw, &r))
		pods, err := netip.ParsePrefix(r.Plan.PodCIDR)
		services, err2 := netip.ParsePrefix(r.Plan.ServiceCIDR)
		if err != nil || err2 != nil || pods.Overlaps(services) || pods != pods.Masked() || services != services.Masked() ||
			pods.Addr().Is4() != services.Addr().Is4() || pods.Addr().Is4In6() || services.Addr().Is4In6() {
			t.Errorf("%q: networks %s and %s", body, r.Plan.PodCIDR, r.Plan.ServiceCIDR)
		}
		if n := r.Cluster.NodeCount; n < 1 || n > 1000 || !label.MatchString(r.Cluster.Base.Name) ||
			!slices.Contains([]string{"cilium", "calico", "flannel"}, r.Plan.CNIPlugin) ||
			!resources.ValidID(r.Plan.FlavorID) || !resources.ValidID(r.Plan.ImageID) || r.Plan.SSHKeyID != "" && !resources.ValidID(r.Plan.SSHKeyID) {
			t.Errorf("%q: %+v", body, r)
		}
	})
}

// FuzzGPUBody: the same for gpu_cluster.create.
func FuzzGPUBody(f *testing.F) {
	for _, body := range []string{
		"", "{}", "[]", `{"cluster_name":"web","flavor_id":"f","image_id":"i"}`,
		`{"cluster_name":"web","flavor_id":"f","image_id":"i","ssh_key_id":"k","gpu_count":512,"pricing_template_id":"p","user_data":"#!/bin/sh","security_group_ids":["sg-a-v1"]}`,
		`{"cluster_name":"web","flavor_id":"f","image_id":"i","gpu_count":-0,"security_group_ids":["sg-a-v1","sg-a-v1","sg-b-v1",""]}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		raw := fuzzed(t, "gpu_cluster.create", "gpu_clusters", body)
		if raw == nil {
			return
		}
		var r resources.GPURecord
		must.Do(t, json.Unmarshal(raw, &r))
		if n := r.Plan.GPUCount; n < 1 || n > 512 || !label.MatchString(r.Cluster.Name) || len(r.Plan.UserData) > 16384 ||
			!resources.ValidID(r.Plan.FlavorID) || !resources.ValidID(r.Plan.ImageID) ||
			len(r.Plan.SecurityGroupIDs) > 0 && !slices.Equal(r.Plan.SecurityGroupIDs, []string{"sg-a-v1"}) {
			t.Errorf("%q: %+v", body, r)
		}
	})
}
