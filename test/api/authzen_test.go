package api_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestEvaluationSaysWhatE3Says of the same question, for every way to name its place, with the facts
// about the decision in its context.
func TestEvaluationSaysWhatE3Says(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	inProject := []string{"project_id", s.Project}
	place := "accounts/" + s.Account + "/projects/" + s.Project
	for name, c := range map[string]struct {
		resource object
		context  []string
		path     string
		account  string
	}{
		"account":                 {entity("account", s.Account), nil, "accounts/" + s.Account, s.Account},
		"another account":         {entity("account", other.Account), nil, "accounts/" + other.Account, other.Account},
		"absent account":          {entity("account", "acct-absent-v1"), nil, "accounts/acct-absent-v1", "acct-absent-v1"},
		"project":                 {entity("project", s.Project), nil, place, s.Account},
		"another's project":       {entity("project", other.Project), nil, "accounts/" + s.Account + "/projects/" + other.Project, s.Account},
		"project elsewhere":       {entity("project", s.Project, "account_id", other.Account), nil, "accounts/" + other.Account + "/projects/" + s.Project, other.Account},
		"path":                    {entity("path", place+"/instances/i-1/x%20y"), nil, place + "/instances/i-1/x%20y", s.Account},
		"path without account":    {entity("path", "projects/"+s.Project+"/x"), nil, "projects/" + s.Project + "/x", s.Account},
		"path of another account": {entity("path", "accounts/"+other.Account+"/x"), nil, "accounts/" + other.Account + "/x", s.Account},
		"path of no account":      {entity("path", "x/y"), nil, "x/y", other.Account},
		"security group":          {entity("security_group", "sg-1", inProject...), nil, place + "/security-groups/sg-1", s.Account},
		"kubernetes cluster":      {entity("kubernetes_cluster", "k-1", inProject...), nil, place + "/kubernetes/k-1", s.Account},
		"gpu cluster":             {entity("gpu_cluster", "g-1", inProject...), nil, place + "/gpu-clusters/g-1", s.Account},
		"any type":                {entity("instances", "i%20x", inProject...), []string{"ip", "::1"}, place + "/instances/i%20x", s.Account},
	} {
		for _, user := range []string{s.Admin, s.Bob, s.Carol, other.Admin, "user-nobody-v1"} {
			for _, action := range []string{"project:instance:read", "project:instance:create", "account:role:read", "resource:x:y"} {
				q := question(entity("user", user), action, c.resource, append(c.context, "account_id", c.account)...)
				got, ask := evaluate(t, s.Scene, s.Checker, q), e3(t, s.Scene, s.Checker, user, c.account, action, c.path)
				allowed, reason := decided(t, got.Body)
				want, says := verdict(t, ask)
				if got.Status != 200 || allowed != want || reason != says {
					t.Errorf("%s, %s, %s: %s, E3 %s", name, user, action, got.Raw, ask.Raw)
				}
				if names := slices.Sorted(maps.Keys(harness.At(got.Body, "context").(object))); !slices.Equal(names, []string{"account_revision", "decision_id", "policy_revision", "reason"}) {
					t.Errorf("%s: context has %q", name, names)
				}
				for name, header := range map[string]string{"policy_revision": "X-Policy-Revision", "account_revision": "X-Account-Revision"} {
					if text := strings.Trim(marshalled(t, harness.At(got.Body, "context", name)), `"`); text != ask.Header.Get(header) {
						t.Errorf("%s is %s, of E3 %s", name, text, ask.Header.Get(header))
					}
				}
			}
		}
	}
}

// TestAccountInQuestion guarantees the resource's account, otherwise the context's, otherwise the subject's own. Two
// different ones are denied.
func TestAccountInQuestion(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	const action = "project:instance:read"
	project := entity("project", s.Project)
	for name, c := range map[string]struct {
		q    object
		want bool
		why  string
	}{
		"the subject's own":              {question(entity("user", s.Admin), action, project), true, "role"},
		"the subject's own, elsewhere":   {question(entity("user", other.Admin), action, project), false, "not an active project"},
		"nobody's own":                   {question(entity("user", "user-nobody-v1"), action, project), false, "not an active member"},
		"the context's":                  {question(entity("user", s.Admin), action, project, "account_id", s.Account), true, "role"},
		"the context's, another":         {question(entity("user", s.Admin), action, project, "account_id", other.Account), false, "not an active member"},
		"the property's":                 {question(entity("user", s.Admin), action, entity("project", s.Project, "account_id", s.Account)), true, "role"},
		"both":                           {question(entity("user", s.Admin), action, entity("project", s.Project, "account_id", s.Account), "account_id", s.Account), true, "role"},
		"two that differ":                {question(entity("user", s.Admin), action, entity("project", s.Project, "account_id", s.Account), "account_id", other.Account), false, "differ"},
		"the resource and a property":    {question(entity("user", s.Admin), action, entity("account", s.Account, "account_id", other.Account)), false, "differ"},
		"the resource and the context":   {question(entity("user", s.Admin), action, entity("account", s.Account), "account_id", other.Account), false, "differ"},
		"two projects that differ":       {question(entity("user", s.Admin), action, entity("project", s.Project, "project_id", other.Project)), false, "two projects are named"},
		"a project twice":                {question(entity("user", s.Admin), action, entity("project", s.Project, "project_id", s.Project)), true, "role"},
		"a null is none":                 {question(entity("user", s.Admin), action, object{"type": "project", "id": s.Project, "properties": object{"account_id": nil}}), true, "role"},
		"a subject's property is none":   {question(entity("user", s.Admin, "account_id", other.Account), action, project), true, "role"},
		"a type's own in another's path": {question(entity("user", s.Admin), action, entity("path", "accounts/"+other.Account+"/x")), false, "another account"},
	} {
		r := oddly(t, s.Scene, pathEvaluation, marshalled(t, c.q))
		if allowed, why := decided(t, r.Body); r.Status != 200 || allowed != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
}

// TestEvaluationDeniesWhatDoesNotExist with 200.
func TestEvaluationDeniesWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	const action = "project:instance:read"
	admin, project := entity("user", s.Admin), entity("project", s.Project)
	for name, q := range map[string]object{
		"unknown subject":            question(entity("user", "user-nobody-v1"), action, project),
		"no user's id":               question(entity("user", "alice smith/ü"), action, project),
		"another type of subject":    question(entity("group", s.Admin), action, project),
		"a type in capitals":         question(entity("User", s.Admin), action, project),
		"unknown type":               question(admin, action, entity("document", "1")),
		"unknown type, odd action":   question(admin, "can_read", entity("document", "1")),
		"a group without a project":  question(admin, action, entity("security_group", "sg-1")),
		"unknown project":            question(admin, action, entity("project", "proj-absent-v1")),
		"unknown project's resource": question(admin, action, entity("x", "1", "project_id", "proj-absent-v1")),
		"unknown account":            question(admin, action, entity("account", "acct-absent-v1")),
		"unknown project of a route": question(admin, "PATCH", entity("route", "/api/v1/accounts/"+s.Account+"/projects/proj-absent-v1")),
		"unknown route":              question(admin, "GET", entity("route", "/todos")),
		"unknown method":             question(admin, "BREW", entity("route", "/api/v1/accounts/"+s.Account+"/roles")),
		"route without an action":    question(admin, "GET", entity("route", "/docs")),
	} {
		r := evaluate(t, s.Scene, s.Checker, q)
		allowed, why := decided(t, r.Body)
		if r.Status != 200 || allowed || why == "" || harness.At(r.Body, "context", "decision_id") == nil || harness.At(r.Body, "context", "policy_revision") == nil {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
}

// TestWhoMayAskForEvaluations is as for E3: 403 for one question, an error of its item in a batch.
func TestWhoMayAskForEvaluations(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	const action = "project:instance:read"
	project := entity("project", s.Project)
	request := func(user string) object {
		return question(entity("user", user), action, project, "account_id", s.Account)
	}
	for name, c := range map[string]struct {
		token string
		q     object
		want  int
	}{
		"200 a service with authz:check":      {s.Checker, request(s.Admin), 200},
		"200 the user in question":            {s.AdminToken, request(s.Admin), 200},
		"200 an admin about another":          {s.AdminToken, request("user-somebody-v1"), 200},
		"400 an admin about another's own":    {s.AdminToken, question(entity("user", s.Bob), action, project), 400},
		"200 an admin, the account by itself": {s.AdminToken, question(entity("user", s.Bob), action, entity("account", s.Account)), 200},
		"200 a user about itself":             {g.UserToken(t, s.Bob), question(entity("user", s.Bob), action, project), 200},
		"200 a user about itself elsewhere":   {other.AdminToken, request(other.Admin), 200},
		"200 an admin about no user":          {s.AdminToken, question(entity("group", "x"), action, project, "account_id", s.Account), 200},
		"403 a service without":               {s.Platform, request(s.Admin), 403},
		"403 a member about another":          {g.UserToken(t, s.Bob), request(s.Carol), 403},
		"403 a member about no user":          {g.UserToken(t, s.Bob), question(entity("group", s.Bob), action, project, "account_id", s.Account), 403},
		"400 a member about no user":          {g.UserToken(t, s.Bob), question(entity("group", s.Bob), action, project), 400},
		"403 a service without, no account":   {s.Platform, question(entity("user", s.Bob), action, project), 403},
		"403 another account's admin":         {other.AdminToken, request(s.Admin), 403},
		"400 another admin, nobody's account": {other.AdminToken, question(entity("user", "user-nobody-v1"), action, project), 400},
		"403 another admin, an absent user":   {other.AdminToken, request("user-nobody-v1"), 403},
		"400 another admin, a user's own":     {other.AdminToken, question(entity("user", s.Bob), action, project), 400},
		"403 another admin, an unknown type":  {other.AdminToken, question(entity("user", s.Bob), action, entity("x", "1"), "account_id", s.Account), 403},
		"403 another admin, two that differ":  {other.AdminToken, question(entity("user", s.Bob), action, entity("account", s.Account), "account_id", other.Account), 403},
		"400 before 403":                      {other.AdminToken, question(entity("user", s.Bob), "x", project), 400},
		"401 nobody":                          {"", request(s.Admin), 401},
		"401 a token with a changed ending":   {harness.OtherEnding(s.Checker), request(s.Admin), 401},
		"401 a user whom the store lacks":     {g.UserToken(t, "user-ghost-v1"), request("user-ghost-v1"), 401},
	} {
		t.Run(name, func(t *testing.T) {
			r := evaluate(t, s.Scene, c.token, c.q)
			if _, decided := r.Body["decision"]; r.Status != c.want || decided != (c.want == 200) {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
			if c.want == 401 {
				return
			}
			batch := evaluateAll(t, s.Scene, c.token, object{"evaluations": []object{c.q, c.q}})
			for i := range 2 {
				item := harness.At(batch.Body, "evaluations", i)
				if _, why := decided(t, item); (c.want == 200) != (len(why) != 3) || c.want != 200 && marshalled(t, harness.At(item, "context", "error", "status")) != marshalled(t, c.want) {
					t.Errorf("item %d: %s", i, batch.Raw)
				}
			}
		})
	}
}
