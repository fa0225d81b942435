package flood_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/tier"
)

const (
	// crowd is on how many connections one tenant asks.
	crowd = 48
	// crowdTime is one window. There may be windows of each kind until one was good: other tests may run on the machine.
	crowdTime = 3 * time.Second
	windows   = 3
	// longest is how long anybody else may wait.
	longest = time.Second
)

// TestOneTenantHoldsNobodyUp: beside 48 connections on which a tenant asks for what costs the most of its kind, another
// tenant's searches, checks, batches, lists and changes are answered, and soon.
func TestOneTenantHoldsNobodyUp(t *testing.T) {
	tier.Check(t)
	g := startGateway(t, size{dir: seedTenants(t)})
	loud, quiet := g.tenant(t, "loud"), g.tenant(t, "quiet")
	alone := g.beside(t, quiet, nil)
	for kind, w := range alone {
		t.Logf("%-10s alone: %s", kind, w)
	}
	for name, asks := range loud.costly() {
		t.Run(name, func(t *testing.T) {
			for range windows {
				good := true
				for kind, w := range g.beside(t, quiet, asks) {
					t.Logf("%-10s %s", kind, w)
					good = good && (kind == "crowd" || w.answeredWithin(longest))
				}
				if good {
					return
				}
			}
			t.Errorf("in no window was everybody but the crowd answered 200 within %s", longest)
		})
	}
}

// tenant is an account of the seeded folder, with its admin's token.
type tenant struct{ name, account, project, token string }

func (g *gateway) tenant(t *testing.T, name string) tenant {
	t.Helper()
	x := named(name)
	x.token = g.tokenOf(t, "--user", x.user(0))
	return x
}

func named(name string) tenant {
	return tenant{name: name, account: "acct-" + name + "-v1", project: "proj-" + name + "-v1"}
}

func (x tenant) user(i int) string { return fmt.Sprintf("user-%s%d-v1", x.name, i) }

func (x tenant) role(i int) string { return fmt.Sprintf("role-%s%d-v1", x.name, i) }

// ask is a request below the account.
func (x tenant) ask(method, rest, body string) string {
	return request(x.token, method, "/api/v1/accounts/"+x.account+rest, body)
}

// questionAbout is a question at a door of E3's form.
func (x tenant) questionAbout(door, user, action, rest string) string {
	return request(x.token, "POST", "/api/v1/"+door+"/accounts/"+x.account+"/projects/"+x.project+"/instances"+rest, "",
		"X-User-ID", user, "X-Account-ID", x.account, "X-Action", action)
}

// search looks for all who may read an instance.
func (x tenant) search(instance, limit int) string {
	return request(x.token, "POST", "/access/v1/search/subject", fmt.Sprintf(
		`{"subject":{"type":"user"},"action":{"name":"project:instance:read"},"page":{"limit":%d},"resource":{"type":"instances","id":"i%d","properties":{"account_id":%q,"project_id":%q}}}`,
		limit, instance, x.account, x.project))
}

// batch asks about that many instances.
func (x tenant) batch(instance, many int) string {
	items := make([]string, many)
	for i := range items {
		items[i] = fmt.Sprintf(`{"resource":{"type":"instances","id":"i%d-%d","properties":{"account_id":%q,"project_id":%q}}}`, instance, i, x.account, x.project)
	}
	return request(x.token, "POST", "/access/v1/evaluations", fmt.Sprintf(
		`{"subject":{"type":"user","id":%q},"action":{"name":"project:instance:read"},"evaluations":[%s]}`, x.user(1), strings.Join(items, ",")))
}

// costly are the costliest requests of their kind; n is a new number for each.
func (x tenant) costly() map[string]func(n int) string {
	patterns := make([]string, 200)
	for i := range patterns {
		patterns[i] = fmt.Sprintf(`"project:r%d:read"`, i)
	}
	role := fmt.Sprintf(`{"name":"account_admin","scope":"PROJECT","permissions":[%s]}`, strings.Join(patterns, ","))
	return map[string]func(n int) string{
		"explanations": func(int) string { return x.questionAbout("explain", x.user(1), "project:instance:create", "") },
		"searches":     func(n int) string { return x.search(n, 1000) },
		"batches":      func(n int) string { return x.batch(n, 1000) },
		"checks": func(n int) string {
			return x.questionAbout("authorize", x.user(2), "project:instance:read", fmt.Sprintf("/i%d", n))
		},
		"roles": func(int) string { return x.ask("POST", "/roles", role) },
		"joins": func(n int) string {
			return x.ask([]string{"PUT", "DELETE"}[n/crowd%2], fmt.Sprintf("/groups/%s/members/%s", x.group(), x.user(3+n%crowd)), "")
		},
		"changes": func(int) string { return x.ask("GET", "/changes?action=account:nothing:read", "") },
		"clusters": func(int) string {
			return x.ask("GET", "/projects/"+x.project+"/kubernetes?page_size=100", "")
		},
		"groups": func(int) string {
			return request(x.token, "GET", "/api/v1/accounts/"+x.account+"/projects/"+x.project+"/security-groups?page_size=100", "", "X-Account-ID", x.account)
		},
		"members": func(int) string { return x.ask("GET", "/users?page_size=100", "") },
		"holders": func(int) string { return x.ask("GET", "/roles/project_reader/assignments?pageSize=100&page=50", "") },
	}
}

func (x tenant) group() string { return "group-" + x.name + "-v1" }

// beside has the tenant ask for a window, beside a crowd with that request; nil is without a crowd.
func (g *gateway) beside(t *testing.T, x tenant, crowded func(n int) string) map[string]*waits {
	t.Helper()
	kinds := map[string]*waits{}
	end := time.Now().Add(crowdTime)
	var all sync.WaitGroup
	again := func(kind string, first, step int, pause time.Duration, raw func(n int) string) {
		if kinds[kind] == nil {
			kinds[kind] = &waits{}
		}
		w := kinds[kind]
		all.Go(func() {
			c := connect(t, g)
			for n := first; time.Now().Before(end); n += step {
				w.ask(t, c, raw(n))
				time.Sleep(pause)
			}
		})
	}
	began := int(time.Now().UnixMilli()) // numbers that no window before had
	again("search", began, 1, 50*time.Millisecond, func(n int) string { return x.search(n, 100) })
	again("batch", began, 1, 50*time.Millisecond, func(n int) string { return x.batch(n, 20) })
	again("cold check", began, 1, 20*time.Millisecond, func(n int) string {
		return x.questionAbout("authorize", x.user(1), "project:instance:read", fmt.Sprintf("/i%d", n))
	})
	again("warm check", 0, 1, 20*time.Millisecond, func(int) string { return x.questionAbout("authorize", x.user(1), "project:instance:read", "") })
	again("list", 0, 1, 50*time.Millisecond, func(int) string { return x.ask("GET", "/users?page_size=10", "") })
	again("change", 0, 1, 50*time.Millisecond, func(n int) string {
		return x.ask("PUT", "/roles/project_reader/assignments/"+x.user(2)+"?projectId="+x.project, fmt.Sprintf(`{"status":%q}`, []string{"ACTIVE", "INACTIVE"}[n%2]))
	})
	if crowded != nil {
		kinds["crowd"] = g.crowd(t, crowded)
	}
	all.Wait()
	return kinds
}
