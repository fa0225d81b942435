package clusters_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

// Two accounts, the first with two projects; each has a project one.
const (
	acctA, acctB = "acct-a-v1", "acct-b-v1"
	one, two     = "proj-one-v1", "proj-two-v1"
	user         = "user-alice-v1"
	startText    = "2026-09-21T14:13:20.000Z"
)

// site is where a request goes.
type site struct{ account, project string }

var home = site{acctA, one}

// groups is a firewall: the security groups that there are, by account and project. err is
// what it answers instead.
type groups struct {
	ids map[site][]string
	err error
	// asked counts the questions.
	asked atomic.Int64
}

func (g *groups) Missing(_ context.Context, tx store.Tx, account, project string, ids []string) ([]string, error) {
	g.asked.Add(1)
	if tx == nil {
		panic("the firewall is asked outside a transaction")
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.Contains(g.ids[site{account, project}], id)
	}), g.err
}

// clustersWorld is the area, with a clock and a store of its own.
type clustersWorld struct {
	*areatest.World
	svc    *clusters.Service
	groups *groups
	// suspended are the accounts that are.
	suspended map[string]bool
}

func newWorld(t *testing.T, configure ...func(*clusters.Config)) *clustersWorld {
	t.Helper()
	w := &clustersWorld{World: areatest.New(t, resources.AreaCompute), suspended: map[string]bool{}, groups: &groups{ids: map[site][]string{
		home: {"sg-a-v1", "sg-b-v1"}, {acctA, two}: {"sg-two-v1"}, {acctB, one}: {"sg-theirs-v1"},
	}}}
	cfg := w.config(w.Store)
	for _, f := range configure {
		f(&cfg)
	}
	w.svc = clusters.New(cfg)
	w.Routes = w.svc.Routes()
	return w
}

// config is a whole configuration on that store.
func (w *clustersWorld) config(s store.Store) clusters.Config {
	w.T.Helper()
	return clusters.Config{
		Store: s, Collections: w.Collections, CheckCaller: areatest.Anybody, Suspended: w.isSuspended, SecurityGroups: w.groups, Tokens: areatest.PageTokens(w.T),
		Idempotency: idempotency.New(s, w.Collections, w.Clock.Now), IDs: w.IDs(), Now: w.Clock.Now,
	}
}

func (w *clustersWorld) isSuspended(_ context.Context, _ store.Tx, account string) (bool, error) {
	return w.suspended[account], nil
}

// subTest is the same world for a sub-test.
func (w *clustersWorld) subTest(t *testing.T) *clustersWorld {
	sub := *w
	sub.World = w.In(t)
	return &sub
}

// details are the problems of a refusal.
func details(a areatest.Answer) []string {
	list, _ := a.At("error.details").([]any)
	out := make([]string, len(list))
	for i, v := range list {
		out[i], _ = v.(string)
	}
	return out
}

// call asks a handler; rest is the id of a cluster, or a query after a question mark.
func (w *clustersWorld) call(route string, s site, rest, body string) areatest.Answer {
	w.T.Helper()
	return w.send(route, s, rest, body, "")
}

// send is call with an Idempotency-Key.
func (w *clustersWorld) send(route string, s site, rest, body, key string) areatest.Answer {
	w.T.Helper()
	id, query, _ := strings.Cut(rest, "?")
	return w.Ask(route, &wire.Request{
		Principal: resources.Principal{Kind: resources.PrincipalUser, ID: user, AccountID: s.account, Credential: resources.CredentialToken},
		Params:    map[string]string{"accountId": s.account, "projectId": s.project, "id": id},
		Query:     query, Body: []byte(body), RequestID: "rid-" + route, AccountID: s.account, IdempotencyKey: key,
		Path: "/" + s.account + "/" + s.project + "/" + route + "/" + id,
	})
}

// sort is one of the two kinds of cluster, as the routes name it.
type sort struct {
	name, create, list, get, remove, id, status string
	// body is a good one with that name; state is a status as this kind writes it.
	body  func(name string) string
	state func(resources.ClusterState) string
}

func sorts() []sort {
	return []sort{
		{
			"kubernetes", "kubernetes_cluster.create", "kubernetes_cluster.list", "kubernetes_cluster.get", "kubernetes_cluster.delete", "cluster.base.cluster_id", "cluster.base.status",
			func(name string) string { return `{"name":"` + name + `","flavor_id":"f","image_id":"i"}` }, resources.ClusterState.Kubernetes,
		},
		{
			"gpu", "gpu_cluster.create", "gpu_cluster.list", "gpu_cluster.get", "gpu_cluster.delete", "cluster.id", "cluster.status",
			func(name string) string { return `{"cluster_name":"` + name + `","flavor_id":"f","image_id":"i"}` }, resources.ClusterState.GPU,
		},
	}
}

// each runs a test for both kinds of cluster, each in a world of its own.
func each(t *testing.T, test func(w *clustersWorld, k sort)) {
	for _, k := range sorts() {
		t.Run(k.name, func(t *testing.T) { test(newWorld(t), k) })
	}
}

// made is the id of a new cluster.
func (w *clustersWorld) made(k sort, s site, name string) string {
	w.T.Helper()
	got := w.call(k.create, s, "", k.body(name))
	w.Expect(got, 201)
	return got.Str(k.id)
}

// namesOf are those of the clusters in a list.
func namesOf(a areatest.Answer) []string {
	list, _ := a.At("clusters").([]any)
	out := make([]string, len(list))
	for i, v := range list {
		item := areatest.Answer{Body: v.(map[string]any)}
		out[i] = item.Str("name") + item.Str("base.name")
	}
	return out
}

// set changes a stored cluster behind the handlers' back, as a provisioner does.
func (w *clustersWorld) set(k sort, id string, state resources.ClusterState) {
	w.T.Helper()
	ctx := w.T.Context()
	must.Do(w.T, w.Store.Transact(ctx, func(tx store.Tx) error {
		if k.name == "gpu" {
			rec, err := w.Collections.GPUClusters.Get(ctx, tx, id)
			if err != nil {
				return err
			}
			rec.Value.Cluster.Status, rec.Value.Task = state.GPU(), resources.ClusterTask{}
			return w.Collections.GPUClusters.Replace(ctx, tx, rec)
		}
		rec, err := w.Collections.KubernetesClusters.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.Cluster.Base.Status, rec.Value.Task = state.Kubernetes(), resources.ClusterTask{}
		return w.Collections.KubernetesClusters.Replace(ctx, tx, rec)
	}))
}

// next asks for a list's page behind another one.
func (w *clustersWorld) next(k sort, s site, query string, page areatest.Answer) areatest.Answer {
	w.T.Helper()
	return w.call(k.list, s, "?"+query+"&page_token="+url.QueryEscape(page.Str("next_page_token")), "")
}
