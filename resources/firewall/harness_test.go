package firewall_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// Two accounts; A has two projects.
const (
	acctA, acctB = "acct-a-v1", "acct-b-v1"
	projA, projX = "proj-a-v1", "proj-x-v1" // both of A
	projB        = "proj-b-v1"
	start        = int64(1_790_000_000_000) // the clock's first reading
)

type object map[string]any

// anybody takes every caller: who they are is not what is tested here.
func anybody(context.Context, store.Tx, string, resources.Principal) error { return nil }

// world is the area on a store of its own.
type world struct {
	t       *testing.T
	store   store.Store
	c       records.Collections
	service *firewall.Service
	routes  wire.Routes
	clock   *atomic.Int64 // milliseconds
	// where requests go
	account, project string
}

func newWorld(t *testing.T, change ...func(*firewall.Config)) *world {
	t.Helper()
	w := &world{t: t, c: records.NewCollections(), clock: &atomic.Int64{}, account: acctA, project: projA}
	w.clock.Store(start)
	var err error
	if w.store, err = sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Schemas: w.c.Schemas()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	tokens, err := wire.NewPageTokens([][]byte{bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	cfg := firewall.Config{
		Store: w.store, Collections: w.c, CheckCaller: anybody, Tokens: tokens, Idempotency: idempotency.New(w.store, w.c, w.time),
		IDs: resources.IDs{Now: w.time, Random: rand.Reader}, Now: w.time,
		MaxGroups: firewall.DefaultMaxGroups, MaxRules: firewall.DefaultMaxRules,
	}
	for _, c := range change {
		c(&cfg)
	}
	w.service = firewall.New(cfg)
	w.routes = w.service.Routes()
	return w
}

// quotas makes the area with others than the default ones.
func quotas(groups, rules int) func(*firewall.Config) {
	return func(c *firewall.Config) { c.MaxGroups, c.MaxRules = groups, rules }
}

// in is the same world for a sub-test.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t = t
	return &sub
}

// at is the same world with requests to another project.
func (w *world) at(account, project string) *world {
	sub := *w
	sub.account, sub.project = account, project
	return &sub
}

func (w *world) time() time.Time { return time.UnixMilli(w.clock.Load()) }

// later moves the clock on.
func (w *world) later(ms int64) { w.clock.Add(ms) }

// answer is what a handler gave: body is the success or the error as it is sent.
type answer struct {
	status int
	text   string
	body   map[string]any
}

// call asks a handler. ids are those of the group and the rule in the path; a route
// `security_group.list?status=active` has a query, `security_group.create#key` an Idempotency-Key; a body that is no string
// is rendered as JSON.
func (w *world) call(route string, body any, ids ...string) answer {
	w.t.Helper()
	r := &wire.Request{
		Principal: resources.Principal{Kind: resources.PrincipalUser, ID: "user-a-v1", AccountID: w.account},
		Params:    map[string]string{"accountId": w.account, "projectId": w.project}, AccountID: w.account,
	}
	route, r.IdempotencyKey, _ = strings.Cut(route, "#")
	route, r.Query, _ = strings.Cut(route, "?")
	for i, id := range ids {
		r.Params[[]string{"id", "ruleId"}[i]] = id
	}
	r.Path = fmt.Sprint(route, w.account, w.project, ids)
	switch b := body.(type) {
	case nil:
	case string:
		r.Body = []byte(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		r.Body = raw
	}
	out, err := w.routes[route](w.t.Context(), r)
	var got answer
	if err != nil {
		e := resources.AsError(err)
		if e.Kind == resources.KindInternal {
			w.t.Errorf("%s: %v", route, err)
		}
		got.status, got.text = wire.Status(e.Kind), string(wire.ErrorBody(resources.AreaFirewall, e))
	} else {
		raw, err := wire.Render(out.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		got.status, got.text = out.Status, string(raw)
	}
	dec := json.NewDecoder(strings.NewReader(got.text))
	dec.UseNumber()
	if err := dec.Decode(&got.body); err != nil {
		w.t.Fatalf("%s: %v", got.text, err)
	}
	return got
}

// expect fails unless the answer has that status and each of texts is in it.
func (w *world) expect(got answer, status int, texts ...string) answer {
	w.t.Helper()
	if got.status != status {
		w.t.Fatalf("%d %s, want %d", got.status, got.text, status)
	}
	for _, text := range texts {
		if !strings.Contains(got.text, text) {
			w.t.Errorf("%q is not in the answer %s", text, got.text)
		}
	}
	return got
}

// refused fails unless the answer is a 400 about exactly these fields.
func (w *world) refused(got answer, fields ...string) {
	w.t.Helper()
	w.expect(got, 400)
	details, _ := got.body["details"].(map[string]any)
	var named []string
	for name := range details {
		named = append(named, name)
	}
	slices.Sort(named)
	slices.Sort(fields)
	if !slices.Equal(named, fields) || got.body["code"] != "BAD_REQUEST" {
		w.t.Errorf("the details name %v, want %v: %s", named, fields, got.text)
	}
}

// draft is security_group.create's body for a group of that name.
func (w *world) draft(name string, rules ...object) object {
	out := object{"project_id": w.project, "name": name}
	if rules != nil {
		out["rules"] = rules
	}
	return out
}

// made is the id of a new group, whose rules' ids come after it.
func (w *world) made(name string, rules ...object) (id string, ruleIDs []string) {
	w.t.Helper()
	got := w.expect(w.call("security_group.create", w.draft(name, rules...)), 201)
	g := got.body["security_group"].(map[string]any)
	for _, rule := range g["rules"].([]any) {
		ruleIDs = append(ruleIDs, rule.(map[string]any)["id"].(string))
	}
	return g["id"].(string), ruleIDs
}

// group is a group as security_group.get shows it.
func (w *world) group(id string) map[string]any {
	w.t.Helper()
	return w.expect(w.call("security_group.get", nil, id), 200).body["security_group"].(map[string]any)
}

// names are those of the groups in a list.
func names(got answer) []string {
	out := []string{}
	for _, g := range got.body["security_groups"].([]any) {
		out = append(out, g.(map[string]any)["name"].(string))
	}
	return out
}

// tcpRule is a rule that differs from others by its port; others are not.
func tcpRule(port int) object {
	return object{"direction": "ingress", "protocol": "tcp", "port_range_min": port, "port_range_max": port}
}

// naming is a rule that names a group.
func naming(id string, port int) object {
	rule := tcpRule(port)
	rule["remote_security_group_id"] = id
	return rule
}
