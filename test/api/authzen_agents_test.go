package api_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const instanceRead = "project:instance:read"

// newAgent registers an agent with a client and a role in the project.
func newAgent(t *testing.T, s *harness.Team, client string) (id string) {
	t.Helper()
	r := s.Must(t, 201, "POST", "/agents", fmt.Sprintf(`{"name":%q,"clients":[{"issuer":"portcullis","client_id":%q}]}`, client, client))
	id, _ = harness.At(r.Body, "agent", "id").(string)
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", id, s.Project), `{"assigneeType":"AGENT"}`)
	return id
}

// delegate lets the agent act for a member.
func delegate(t *testing.T, s *harness.Team, user, agent, permission string) {
	t.Helper()
	if r := harness.Call(t, "PUT", s.Path("/users/"+user+"/delegations/"+agent), s.UserToken(t, user), fmt.Sprintf(`{"permissions":[%q]}`, permission)); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
}

// TestAnEvaluationNarrowsToItsAgent guarantees the user's verdict and the agent's: registration, status, roles and
// delegation, each in force when it was answered. It holds for each native type, for services and for the user, by the
// agent's id and by its client.
func TestAnEvaluationNarrowsToItsAgent(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "project_admin", s.Bob, s.Project)
	agent := newAgent(t, s, "narrowed")
	bob := s.UserToken(t, s.Bob)
	base := "accounts/" + s.Account + "/projects/" + s.Project
	places := []object{
		entity("project", s.Project, "account_id", s.Account), entity("path", base+"/instances/i-1"),
		entity("instances", "i-1", "project_id", s.Project, "account_id", s.Account), entity("account", s.Account),
	}
	asked := func(token string, subject, resource object, action, agent string) bool {
		t.Helper()
		r := evaluate(t, s.Scene, token, question(subject, action, resource, "account_id", s.Account, "agent", agent))
		if r.Status != 200 {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		allowed, _ := decided(t, r.Body)
		return allowed
	}
	want := func(allowed bool, title string) {
		t.Helper()
		for _, kind := range []string{"user", "identity"} {
			for _, place := range places[:3] {
				for _, name := range []string{agent, "narrowed"} {
					for _, token := range []string{s.Checker, bob} {
						if asked(token, entity(kind, s.Bob), place, instanceRead, name) != allowed {
							t.Errorf("%s: %s at %v as %s: %t", title, name, place, kind, !allowed)
						}
					}
				}
				if asked(s.Checker, entity(kind, s.Bob), place, instanceRead, "unknown") {
					t.Errorf("an unknown client is allowed at %v", place)
				}
			}
		}
		if r := evaluate(t, s.Scene, s.Checker, question(entity("user", s.Bob), instanceRead, places[0])); harness.At(r.Body, "decision") != true {
			t.Errorf("the user alone: %s", r.Raw)
		}
	}
	want(false, "without a delegation")
	delegate(t, s, s.Bob, agent, "project:*:read")
	want(true, "with all")
	if asked(s.Checker, entity("user", s.Bob), places[0], "project:instance:delete", agent) {
		t.Error("the agent exceeds its delegation")
	}
	delegate(t, s, s.Bob, agent, "*:*:*")
	if asked(s.Checker, entity("user", s.Bob), places[0], "project:instance:delete", agent) {
		t.Error("the agent exceeds its role")
	}
	s.Must(t, 200, "PATCH", "/agents/"+agent, `{"status":"SUSPENDED"}`)
	want(false, "suspended")
	s.Must(t, 200, "PATCH", "/agents/"+agent, `{"status":"ACTIVE"}`)
	want(true, "active again")
	s.Must(t, 200, "DELETE", harness.AssignmentPath("project_reader", agent, s.Project)+"&assigneeType=AGENT", "")
	want(false, "without a role")
}

// TestAForeignAgentIsAnUnknownOne guarantees denials, with the texts of an unknown agent, for an agent of another account
// and for a client of another issuer. A delegation of another user does not count.
func TestAForeignAgentIsAnUnknownOne(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	s.Grant(t, "project_admin", s.Bob, s.Project)
	s.Grant(t, "project_admin", s.Carol, s.Project)
	foreign, local := newAgent(t, other, "foreign"), newAgent(t, s, "local")
	delegate(t, other, other.Bob, foreign, "*:*:*")
	delegate(t, s, s.Carol, local, "*:*:*")
	r := s.Must(t, 201, "POST", "/agents", `{"name":"elsewhere","clients":[{"issuer":"https://elsewhere.example","client_id":"elsewhere"}]}`)
	elsewhere, _ := harness.At(r.Body, "agent", "id").(string)
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_reader", elsewhere, s.Project), `{"assigneeType":"AGENT"}`)
	delegate(t, s, s.Bob, elsewhere, "*:*:*")
	ask := func(user, agent string) (bool, string) {
		t.Helper()
		return decided(t, evaluate(t, s.Scene, s.Checker, question(entity("user", user), instanceRead, entity("project", s.Project), "account_id", s.Account, "agent", agent)).Body)
	}
	_, unknown := ask(s.Bob, "nobody-knows-it")
	for _, agent := range []string{foreign, "foreign", "elsewhere", "agent-absent-v1"} {
		if allowed, why := ask(s.Bob, agent); allowed || why != unknown {
			t.Errorf("%s: %t %q, unlike %q", agent, allowed, why, unknown)
		}
	}
	if allowed, why := ask(s.Bob, local); allowed {
		t.Errorf("the delegation of another user counts: %q", why)
	}
	for user, agent := range map[string]string{s.Carol: local, s.Bob: elsewhere} {
		if allowed, why := ask(user, agent); !allowed {
			t.Errorf("%s with %s: %q", user, agent, why)
		}
	}
}

// TestAnAgentIsNeverIgnored guarantees 400 for an agent that can't be read or honoured: in an evaluation, as an item of a
// batch and in each search.
func TestAnAgentIsNeverIgnored(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	key, _ := newKey(t, s.Scene, s.Admin, readWrite)
	good := question(entity("user", s.Admin), instanceRead, entity("project", s.Project))
	for name, c := range map[string]struct {
		token, user string
		agent       any
	}{
		"a number": {s.Checker, s.Admin, 7}, "an array": {s.Checker, s.Admin, []string{"a"}}, "an object": {s.Checker, s.Admin, object{"id": "a"}},
		"a boolean": {s.Checker, s.Admin, true}, "an empty text": {s.Checker, s.Admin, ""}, "a blank one": {s.Checker, s.Admin, " "},
		"a padded one": {s.Checker, s.Admin, "a "}, "an invisible one": {s.Checker, s.Admin, "a\u200bb"},
		"of another user": {s.AdminToken, s.Bob, "a"}, "a client by key": {key, s.Admin, "a"},
	} {
		q := question(entity("user", c.user), instanceRead, entity("project", s.Project, "account_id", s.Account))
		q["context"] = object{"agent": c.agent}
		if r := oddlyAs(t, s.Scene, c.token, pathEvaluation, marshalled(t, q)); r.Status != 400 || !slices.ContainsFunc(problems(t, r), func(p string) bool { return len(p) > 14 && p[:14] == "context.agent:" }) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
		if got := decisions(t, oddlyAs(t, s.Scene, c.token, pathEvaluations, marshalled(t, object{"evaluations": []object{q, good}}))); got != "400 yes" {
			t.Errorf("%s in a batch: %s", name, got)
		}
		delete(q, "subject")
		delete(q, "context")
		batch := object{"context": object{"agent": c.agent}, "evaluations": []object{{"subject": entity("user", c.user)}}}
		for name, part := range q {
			batch[name] = part
		}
		if r := oddlyAs(t, s.Scene, c.token, pathEvaluations, marshalled(t, batch)); r.Status != 400 && decisions(t, r) != "400" {
			t.Errorf("%s as a default: %d %s", name, r.Status, r.Raw)
		}
		for kind, body := range searchBodies(s.Scene) {
			if body.Context = map[string]any{"agent": c.agent}; kind != "subject" {
				body.Subject = &thing{Type: "user", ID: c.user}
			}
			if r := oddlyAs(t, s.Scene, c.token, "/access/v1/search/"+kind, marshalled(t, body)); r.Status != 400 {
				t.Errorf("%s in a search for a %s: %d %s", name, kind, r.Status, r.Raw)
			}
		}
	}
}

// TestAnAgentInABatch guarantees that the context of an evaluation replaces the one of the request as a whole. Those with
// an agent are narrowed, and no others.
func TestAnAgentInABatch(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	agent := newAgent(t, s, "batched")
	delegate(t, s, s.Admin, agent, "project:instance:read")
	item := func(action string, context ...string) object {
		return question(entity("user", s.Admin), action, entity("project", s.Project, "account_id", s.Account), context...)
	}
	const remove = "project:instance:delete"
	for want, batch := range map[string]object{
		"yes no yes":    {"evaluations": []object{item(remove), item(remove, "agent", agent), item(instanceRead, "agent", agent)}},
		"no yes no yes": {"context": object{"agent": agent}, "evaluations": []object{item(remove), item(remove, "account_id", s.Account), item(remove, "agent", "unknown"), item(instanceRead)}},
	} {
		if got := decisions(t, evaluateAll(t, s.Scene, s.Checker, batch)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	q := item(remove)
	q["context"] = nil
	if r := oddly(t, s.Scene, pathEvaluations, marshalled(t, object{"context": object{"agent": agent}, "evaluations": []object{q}})); decisions(t, r) != "no" {
		t.Errorf("null takes the agent away: %s", r.Raw)
	}
}

// TestSearchesNarrowToTheAgent guarantees that each search with an agent finds what evaluation allows with it.
func TestSearchesNarrowToTheAgent(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "project_admin", s.Bob, s.Project)
	s.Grant(t, "project_admin", s.Carol, s.Project)
	agent := newAgent(t, s, "searching")
	delegate(t, s, s.Bob, agent, "project:*:read")
	place := thing{Type: "project", ID: s.Project, Properties: map[string]string{"account_id": s.Account}}
	context := map[string]any{"agent": agent}
	find := func(kind string, body searchBody) (all []string) {
		t.Helper()
		for _, r := range search(t, s.Gateway, kind, s.Checker, body).Results {
			all = append(all, r.Name+r.ID)
		}
		return all
	}
	users := searchBody{Subject: &thing{Type: "identity"}, Action: named(instanceRead), Resource: &place}
	if got := find("subject", users); !slices.Contains(got, s.Carol) || !slices.Contains(got, s.Bob) {
		t.Errorf("without an agent: %q", got)
	}
	users.Context = context
	if got := find("subject", users); !slices.Equal(got, []string{s.Bob}) {
		t.Errorf("users: %q", got)
	}
	for user, want := range map[string][]string{s.Bob: {s.Project}, s.Carol: nil} {
		body := searchBody{Subject: &thing{Type: "user", ID: user}, Action: named(instanceRead), Resource: &thing{Type: "project", Properties: map[string]string{"account_id": s.Account}}, Context: context}
		if got := find("resource", body); !slices.Equal(got, want) {
			t.Errorf("projects of %s: %q", user, got)
		}
	}
	actions := searchBody{Subject: &thing{Type: "user", ID: s.Bob}, Resource: &place, Page: map[string]any{"limit": 1000}}
	alone := find("action", actions)
	actions.Context = context
	narrowed := find("action", actions)
	if len(narrowed) == 0 || len(narrowed) >= len(alone) {
		t.Fatalf("%d actions of %d", len(narrowed), len(alone))
	}
	var each []object
	for _, action := range alone {
		each = append(each, question(entity("user", s.Bob), action, entity("project", s.Project, "account_id", s.Account), "agent", agent))
	}
	for i, item := range evaluateAll(t, s.Scene, s.Checker, object{"evaluations": each}).Body["evaluations"].([]any) {
		if allowed, why := decided(t, item); allowed != slices.Contains(narrowed, alone[i]) {
			t.Errorf("%s: %t %q", alone[i], allowed, why)
		}
	}
}
