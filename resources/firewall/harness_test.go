package firewall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Two accounts; A has two projects.
const (
	acctA, acctB = "acct-a-v1", "acct-b-v1"
	projA, projX = "proj-a-v1", "proj-x-v1" // both of A
	projB        = "proj-b-v1"
)

// firewallWorld is the area, with a clock and a store of its own.
type firewallWorld struct {
	*areatest.World
	service *firewall.Service
	// where requests go
	account, project string
}

func newWorld(t *testing.T, change ...func(*firewall.Config)) *firewallWorld {
	t.Helper()
	w := &firewallWorld{World: areatest.New(t, resources.AreaFirewall), account: acctA, project: projA}
	cfg := firewall.Config{
		Store: w.Store, Collections: w.Collections, CheckCaller: areatest.Anybody, Tokens: areatest.PageTokens(t), Idempotency: w.Idempotency(),
		IDs: w.IDs(), Now: w.Clock.Now, MaxGroups: firewall.DefaultMaxGroups, MaxRules: firewall.DefaultMaxRules,
	}
	for _, c := range change {
		c(&cfg)
	}
	w.service = firewall.New(cfg)
	w.Routes = w.service.Routes()
	return w
}

// quotas makes the area with others than the default ones.
func quotas(groups, rules int) func(*firewall.Config) {
	return func(c *firewall.Config) { c.MaxGroups, c.MaxRules = groups, rules }
}

// subTest is the same world for a sub-test.
func (w *firewallWorld) subTest(t *testing.T) *firewallWorld {
	sub := *w
	sub.World = w.In(t)
	return &sub
}

// inProject is the same world with requests to another project.
func (w *firewallWorld) inProject(account, project string) *firewallWorld {
	sub := *w
	sub.account, sub.project = account, project
	return &sub
}

// call asks a handler. ids are those of the group and the rule in the path. A route `security_group.list?status=active`
// has a query, `security_group.create#key` an Idempotency-Key. A body is a string or rendered as JSON.
func (w *firewallWorld) call(route string, body any, ids ...string) areatest.Answer {
	w.T.Helper()
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
	r.Body = areatest.Body(body)
	got := w.Ask(route, r)
	if got.Err != nil && got.Err.Kind == resources.KindInternal {
		w.T.Errorf("%s: %v", route, got.Err)
	}
	return got
}

// refused fails unless the answer is a 400 about exactly these fields.
func (w *firewallWorld) refused(got areatest.Answer, fields ...string) {
	w.T.Helper()
	w.Expect(got, 400)
	details, _ := got.Body["details"].(map[string]any)
	var named []string
	for name := range details {
		named = append(named, name)
	}
	slices.Sort(named)
	slices.Sort(fields)
	if !slices.Equal(named, fields) || got.Body["code"] != "BAD_REQUEST" {
		w.T.Errorf("the details name %v, want %v: %s", named, fields, got.Text)
	}
}

// draft is security_group.create's body for a group of that name.
func (w *firewallWorld) draft(name string, rules ...areatest.Object) areatest.Object {
	out := areatest.Object{"project_id": w.project, "name": name}
	if rules != nil {
		out["rules"] = rules
	}
	return out
}

// made is the id of a new group, whose rules' ids come after it.
func (w *firewallWorld) made(name string, rules ...areatest.Object) (id string, ruleIDs []string) {
	w.T.Helper()
	got := w.Expect(w.call("security_group.create", w.draft(name, rules...)), 201)
	g := got.Body["security_group"].(map[string]any)
	for _, rule := range g["rules"].([]any) {
		ruleIDs = append(ruleIDs, rule.(map[string]any)["id"].(string))
	}
	return g["id"].(string), ruleIDs
}

// group is a group as security_group.get shows it.
func (w *firewallWorld) group(id string) map[string]any {
	w.T.Helper()
	return w.Expect(w.call("security_group.get", nil, id), 200).Body["security_group"].(map[string]any)
}

// names are those of the groups in a list.
func names(got areatest.Answer) []string {
	out := []string{}
	for _, g := range got.Body["security_groups"].([]any) {
		out = append(out, g.(map[string]any)["name"].(string))
	}
	return out
}

// tcpRule is a rule that differs from others by its port; others are not.
func tcpRule(port int) areatest.Object {
	return areatest.Object{"direction": "ingress", "protocol": "tcp", "port_range_min": port, "port_range_max": port}
}

// naming is a rule that names a group.
func naming(id string, port int) areatest.Object {
	rule := tcpRule(port)
	rule["remote_security_group_id"] = id
	return rule
}
