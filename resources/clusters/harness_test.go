package clusters_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// Two accounts, the first with two projects; each has a project one.
const (
	acctA, acctB = "acct-a-v1", "acct-b-v1"
	one, two     = "proj-one-v1", "proj-two-v1"
	user         = "user-alice-v1"
	start        = resources.Time(1_790_000_000_000) // the clock's first reading
	startText    = "2026-09-21T14:13:20.000Z"
)

// site is where a request goes.
type site struct{ account, project string }

var here = site{acctA, one}

// groups is a firewall: the security groups that there are, by account and project. err is
// what it answers instead.
type groups struct {
	there map[site][]string
	err   error
	// asked counts the questions.
	asked atomic.Int64
}

func (g *groups) Missing(_ context.Context, tx store.Tx, account, project string, ids []string) ([]string, error) {
	g.asked.Add(1)
	if tx == nil {
		panic("the firewall is asked outside a transaction")
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.Contains(g.there[site{account, project}], id)
	}), g.err
}

// anybody takes every caller: who they are is not what is tested here.
func anybody(context.Context, store.Tx, string, resources.Principal) error { return nil }

// world is the area on a store of its own.
type world struct {
	t      *testing.T
	store  store.Store
	c      records.Collections
	svc    *clusters.Service
	routes wire.Routes
	groups *groups
	clock  *atomic.Int64 // milliseconds
}

func newWorld(t *testing.T, configure ...func(*clusters.Config)) *world {
	t.Helper()
	w := &world{t: t, c: records.NewCollections(), clock: &atomic.Int64{}, groups: &groups{there: map[site][]string{
		here: {"sg-a-v1", "sg-b-v1"}, {acctA, two}: {"sg-two-v1"}, {acctB, one}: {"sg-theirs-v1"},
	}}}
	w.clock.Store(int64(start))
	var err error
	if w.store, err = sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: w.c.Schemas()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	cfg := configOf(t, w.store, w.c, w.groups, w.time)
	for _, f := range configure {
		f(&cfg)
	}
	w.svc = clusters.New(cfg)
	w.routes = w.svc.Routes()
	return w
}

// configOf is a whole configuration on that store.
func configOf(t testing.TB, s store.Store, c records.Collections, g *groups, now func() time.Time) clusters.Config {
	t.Helper()
	tokens, err := wire.NewPageTokens([][]byte{make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return clusters.Config{
		Store: s, Collections: c, CheckCaller: anybody, SecurityGroups: g, Tokens: tokens, Idempotency: idempotency.New(s, c, now),
		IDs: resources.IDs{Now: now, Random: rand.Reader}, Now: now,
	}
}

// in is the same world for a sub-test.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t = t
	return &sub
}

func (w *world) time() time.Time { return time.UnixMilli(w.clock.Load()) }

// answer is what a handler gave: err is nil where it succeeded.
type answer struct {
	status int
	body   map[string]any
	text   string
	err    *resources.Error
}

// at reads a value of the answer by names joined with dots.
func (a answer) at(path string) any {
	var v any = a.body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

func (a answer) str(path string) string {
	s, _ := a.at(path).(string)
	return s
}

// details are the problems that a refusal tells.
func (a answer) details() []string {
	list, _ := a.at("error.details").([]any)
	out := make([]string, len(list))
	for i, v := range list {
		out[i], _ = v.(string)
	}
	return out
}

// call asks a handler; rest is the id of a cluster, or a query after a question mark.
func (w *world) call(route string, at site, rest, body string) answer {
	w.t.Helper()
	return w.send(route, at, rest, body, "")
}

// send is call with an Idempotency-Key.
func (w *world) send(route string, at site, rest, body, key string) answer {
	w.t.Helper()
	id, query, _ := strings.Cut(rest, "?")
	return ask(w.t, w.routes, route, &wire.Request{
		Principal: resources.Principal{Kind: resources.PrincipalUser, ID: user, AccountID: at.account, Credential: resources.CredentialToken},
		Params:    map[string]string{"accountId": at.account, "projectId": at.project, "id": id},
		Query:     query, Body: []byte(body), RequestID: "rid-" + route, AccountID: at.account, IdempotencyKey: key,
		Path: "/" + at.account + "/" + at.project + "/" + route + "/" + id,
	})
}

func ask(t testing.TB, routes wire.Routes, route string, r *wire.Request) answer {
	t.Helper()
	handler, ok := routes[route]
	if !ok {
		t.Fatalf("no route %q", route)
	}
	var got answer
	out, err := handler(t.Context(), r)
	var raw []byte
	if err != nil {
		got.err = resources.AsError(err)
		got.status, raw = wire.Status(got.err.Kind), wire.ErrorBody(resources.AreaCompute, got.err)
	} else {
		got.status = out.Status
		if raw, err = wire.Render(out.Body); err != nil {
			t.Fatal(err)
		}
	}
	got.text = string(raw)
	if err := json.Unmarshal(raw, &got.body); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return got
}

// expect fails unless the answer has that status, and each of texts is in it.
func (w *world) expect(got answer, status int, texts ...string) {
	w.t.Helper()
	if got.status != status {
		w.t.Fatalf("status %d, want %d: %s (cause: %v)", got.status, status, got.text, got.err)
	}
	for _, text := range texts {
		if !strings.Contains(got.text, text) {
			w.t.Errorf("%q is not in the answer %s", text, got.text)
		}
	}
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
func each(t *testing.T, test func(w *world, k sort)) {
	for _, k := range sorts() {
		t.Run(k.name, func(t *testing.T) { test(newWorld(t), k) })
	}
}

// made is the id of a new cluster.
func (w *world) made(k sort, at site, name string) string {
	w.t.Helper()
	got := w.call(k.create, at, "", k.body(name))
	w.expect(got, 201)
	return got.str(k.id)
}

// names are those of the clusters in a list.
func (a answer) names() []string {
	list, _ := a.at("clusters").([]any)
	out := make([]string, len(list))
	for i, v := range list {
		item := answer{body: v.(map[string]any)}
		out[i] = item.str("name") + item.str("base.name")
	}
	return out
}

// set changes a stored cluster behind the handlers' back, as a provisioner does.
func (w *world) set(k sort, id string, state resources.ClusterState) {
	w.t.Helper()
	ctx := w.t.Context()
	err := w.store.Transact(ctx, func(tx store.Tx) error {
		if k.name == "gpu" {
			rec, err := w.c.GPUClusters.Get(ctx, tx, id)
			if err != nil {
				return err
			}
			rec.Value.Cluster.Status = state.GPU()
			return w.c.GPUClusters.Replace(ctx, tx, rec)
		}
		rec, err := w.c.KubernetesClusters.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		rec.Value.Cluster.Base.Status = state.Kubernetes()
		return w.c.KubernetesClusters.Replace(ctx, tx, rec)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// next asks for a list's page behind another one.
func (w *world) next(k sort, at site, query string, page answer) answer {
	w.t.Helper()
	return w.call(k.list, at, "?"+query+"&page_token="+url.QueryEscape(page.str("next_page_token")), "")
}
