package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

type searchBody struct {
	Subject  *thing         `json:"subject,omitempty"`
	Action   map[string]any `json:"action,omitempty"`
	Resource *thing         `json:"resource,omitempty"`
	Context  map[string]any `json:"context,omitempty"`
	Page     map[string]any `json:"page,omitempty"`
	Each     []searchBody   `json:"evaluations,omitempty"`
}

func named(action string) map[string]any { return map[string]any{"name": action} }

func post(t *testing.T, g *harness.Gateway, path, token string, body any) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", g.URL+"/access/v1/"+path, token, marshalled(t, body))
}

type searchPage struct {
	Page struct {
		Next *string `json:"next_token"`
	}
	Results []struct {
		thing
		Name string
	}
	Context struct{ Complete bool }
}

// search makes one search that must be answered.
func search(t *testing.T, g *harness.Gateway, kind, token string, body searchBody) searchPage {
	t.Helper()
	r := post(t, g, "search/"+kind, token, body)
	var out searchPage
	if err := json.Unmarshal(r.Raw, &out); err != nil || r.Status != 200 || out.Page.Next == nil || out.Results == nil {
		t.Fatalf("%+v: %d %s, %v", body, r.Status, r.Raw, err)
	}
	return out
}

// walk makes the search page by page, and calls before each page. It returns what was found as text.
func walk(t *testing.T, g *harness.Gateway, kind, token string, body searchBody, limit int, before func()) (all []string) {
	t.Helper()
	body.Page = map[string]any{"limit": limit}
	for range 200 {
		before()
		out := search(t, g, kind, token, body)
		if !out.Context.Complete || len(out.Results) > limit {
			t.Fatalf("%+v: %+v", body, out)
		}
		for _, r := range out.Results {
			all = append(all, r.Name+marshalled(t, r.thing))
		}
		if *out.Page.Next == "" {
			return all
		}
		body.Page["token"] = *out.Page.Next
	}
	t.Fatalf("%+v has no end", body)
	return nil
}

// evaluated asks about each one by one, and returns those for which the decision is true.
func (w *searchWorld) evaluated(t *testing.T, each []searchBody, names []string) (all []string) {
	t.Helper()
	if len(each) == 0 {
		return nil
	}
	r := post(t, w.Gateway, "evaluations", w.checker, searchBody{Each: each})
	var out struct {
		Evaluations []struct {
			Decision bool
			Context  struct{ Error any }
		}
	}
	if err := json.Unmarshal(r.Raw, &out); err != nil || len(out.Evaluations) != len(each) {
		t.Fatalf("%d %s, %v", r.Status, r.Raw, err)
	}
	for i, e := range out.Evaluations {
		if e.Context.Error != nil {
			t.Fatalf("%+v: %v", each[i], e.Context.Error)
		}
		if e.Decision {
			all = append(all, names[i])
		}
	}
	return all
}

// subjects asks about every user there is.
func (w *searchWorld) subjects(t *testing.T, action string, resource thing) []string {
	t.Helper()
	var each []searchBody
	var names []string
	for _, id := range append([]string{w.admin, "user-unknown-v1"}, w.users...) {
		e := thing{Type: "user", ID: id}
		each, names = append(each, searchBody{Subject: &e, Action: named(action), Resource: &resource}), append(names, marshalled(t, e))
	}
	return w.evaluated(t, each, names)
}

// resources asks about every resource of the type that is stored.
func (w *searchWorld) resources(t *testing.T, action, user, kind string) []string {
	t.Helper()
	var each []searchBody
	var names []string
	for _, e := range w.stored[kind] {
		each = append(each, searchBody{Subject: &thing{Type: "user", ID: user}, Action: named(action), Resource: &e, Context: map[string]any{"account_id": w.account}})
		names = append(names, marshalled(t, e))
	}
	return w.evaluated(t, each, names)
}

// same compares what a search found with what evaluation says, and that nothing came twice.
func same(t *testing.T, name string, got, want []string) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\nfound     %q\nevaluated %q", name, got, want)
	}
}

var searchedActions = []string{
	"project:instance:read", "project:instance:create", "account:user:read", "resource:disk:read", "project:security_group:read", "project:odd:thing",
}

// TestSearchGivesWhatEvaluationAllows: nothing is missing, nothing is wrong and nothing comes twice, in
// worlds that are drawn by lot.
func TestSearchGivesWhatEvaluationAllows(t *testing.T) {
	t.Parallel()
	allowed := 0
	for seed := range uint64(harness.Rounds(5) + 1) {
		w := drawWorld(t, seed)
		places := slices.Concat(w.stored["account"], w.stored["project"], w.stored["security_group"][:4],
			[]thing{{Type: "path", ID: "accounts/" + w.account + "/projects/proj-0-v1/instances/i-1", Properties: map[string]string{"account_id": w.account}}})
		for _, action := range searchedActions {
			for _, resource := range places {
				want := w.subjects(t, action, resource)
				allowed += len(want)
				got := walk(t, w.Gateway, "subject", w.checker, searchBody{Subject: &thing{Type: "user"}, Action: named(action), Resource: &resource}, 1+w.rnd.IntN(7), func() {})
				same(t, fmt.Sprintf("seed %d: who may %s on %+v", seed, action, resource), got, want)
			}
			w.searchResources(t, action, &allowed)
		}
	}
	if allowed < 500 {
		t.Errorf("only %d are allowed; the worlds show nothing", allowed)
	}
}

func (w *searchWorld) searchResources(t *testing.T, action string, allowed *int) {
	t.Helper()
	for _, user := range append([]string{w.admin, "user-unknown-v1"}, w.users[:8]...) {
		for kind := range w.stored {
			body := searchBody{
				Subject: &thing{Type: "user", ID: user}, Action: named(action),
				Resource: &thing{Type: kind, Properties: map[string]string{"account_id": w.account}},
			}
			if harness.AreasElsewhere() && kind != "account" && kind != "project" {
				if search(t, w.Gateway, "resource", w.checker, body).Context.Complete {
					t.Errorf("what another process stores is said to be complete: %s", kind)
				}
				continue
			}
			want := w.resources(t, action, user, kind)
			*allowed += len(want)
			got := walk(t, w.Gateway, "resource", w.checker, body, 1+w.rnd.IntN(5), func() {})
			same(t, fmt.Sprintf("where %s may %s a %s", user, action, kind), got, want)
		}
	}
}

// TestSearchWalksOverChanges: while assignments change between pages, those who qualify all the time come
// once, the others at most once, and each qualifies when it comes.
func TestSearchWalksOverChanges(t *testing.T) {
	t.Parallel()
	w := drawWorld(t, 99)
	adminToken, resource := w.UserToken(t, w.admin), w.stored["account"][0]
	always, once, changes := 0, 0, 0
	for round := range harness.Rounds(20) + 1 {
		action := searchedActions[round%2*2]
		var lasting []string
		var now []string
		seen := map[string]bool{}
		body := searchBody{Subject: &thing{Type: "user"}, Action: named(action), Resource: &resource, Page: map[string]any{"limit": 2}}
		for page := 0; ; page++ {
			for range 3 {
				role, user := pick(w, "account_reader", "team_member", "account_admin"), pick(w, w.users...)
				path := fmt.Sprintf("%s/api/v1/accounts/%s/roles/%s/assignments/%s", w.URL, w.account, role, user)
				if r := harness.Call(t, pick(w, "PUT", "DELETE"), path, adminToken, pick(w, `{}`)); r.Status < 300 {
					changes++
				}
			}
			now = w.subjects(t, action, resource)
			if page == 0 {
				lasting = now
			}
			lasting = slices.DeleteFunc(slices.Clone(lasting), func(id string) bool { return !slices.Contains(now, id) })
			out := search(t, w.Gateway, "subject", w.checker, body)
			for _, r := range out.Results {
				id := marshalled(t, r.thing)
				if seen[id] || !slices.Contains(now, id) {
					t.Fatalf("round %d, page %d: %s came before: %t; qualify %q", round, page, id, seen[id], now)
				}
				seen[id] = true
			}
			if *out.Page.Next == "" {
				break
			}
			body.Page["token"] = *out.Page.Next
		}
		for _, id := range lasting {
			if !seen[id] {
				t.Errorf("round %d: %s qualified all the time and did not come", round, id)
			}
		}
		always, once = always+len(lasting), once+len(seen)
	}
	if changes < 20 || always == 0 || once == always {
		t.Errorf("%d changes, %d qualified all the time, %d came", changes, always, once)
	}
}

// catalogueActions are the actions of the shipped catalogue.
func catalogueActions(t *testing.T) []string {
	t.Helper()
	raw := must.Get(os.ReadFile("../../policies/routes/data.json"))(t)
	var rows map[string]struct{ Action string }
	must.Do(t, json.Unmarshal(raw, &rows))
	var out []string
	for _, row := range rows {
		if row.Action != "" {
			out = append(out, row.Action)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
