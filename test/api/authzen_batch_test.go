package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestDefaultsOfABatch stand for the entities that an item leaves out, each as a whole.
func TestDefaultsOfABatch(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	admin, bob := entity("user", s.Admin), entity("user", s.Bob)
	read, create := object{"name": "project:instance:read"}, object{"name": "project:instance:create"}
	project := entity("project", s.Project)
	for name, c := range map[string]struct {
		batch object
		want  string
	}{
		"all of them":             {object{"subject": bob, "action": read, "resource": project, "evaluations": []object{{}, {}}}, "yes yes"},
		"another action":          {object{"subject": bob, "action": read, "resource": project, "evaluations": []object{{}, {"action": create}}}, "yes no"},
		"another subject":         {object{"subject": bob, "action": create, "resource": project, "evaluations": []object{{}, {"subject": admin}}}, "no yes"},
		"another resource":        {object{"subject": bob, "action": read, "resource": project, "evaluations": []object{{}, {"resource": entity("project", other.Project)}}}, "yes no"},
		"another context":         {object{"subject": bob, "action": read, "resource": project, "context": attributes("account_id", other.Account), "evaluations": []object{{}, {"context": object{}}}}, "no yes"},
		"null is no context":      {object{"subject": bob, "action": read, "resource": project, "context": attributes("account_id", other.Account), "evaluations": []object{{"context": nil}}}, "no"},
		"no default":              {object{"evaluations": []object{question(bob, "project:instance:read", project), question(bob, "project:instance:create", project)}}, "yes no"},
		"a whole entity":          {object{"subject": bob, "action": read, "resource": entity("x", "1", "project_id", s.Project), "evaluations": []object{{}, {"resource": object{"type": "x", "id": "1"}}, {"resource": object{"id": "1"}}}}, "yes no 400"},
		"nothing to stand for it": {object{"subject": bob, "resource": project, "evaluations": []object{{"action": read}, {}}}, "yes 400"},
		"bad beside a default":    {object{"subject": bob, "action": read, "resource": project, "evaluations": []object{{"subject": object{}}, {"subject": object{"type": "user"}}, {}}}, "400 400 yes"},
		"no object":               {object{"subject": bob, "action": read, "resource": project, "evaluations": []any{1, nil, []any{}, "x", object{}}}, "400 400 400 400 yes"},
	} {
		if r := oddly(t, s.Scene, pathEvaluations, marshalled(t, c.batch)); decisions(t, r) != c.want {
			t.Errorf("%s: %s, want %s", name, r.Raw, c.want)
		}
	}
	// the members may come in any order
	body := fmt.Sprintf(`{"evaluations":[{},{"action":{"name":"project:instance:create"}}],"resource":%s,"action":%s,"subject":%s}`, marshalled(t, project), marshalled(t, read), marshalled(t, bob))
	if r := harness.Call(t, "POST", s.URL+"/access/v1/evaluations", s.Checker, body); decisions(t, r) != "yes no" {
		t.Errorf("%s", r.Raw)
	}
}

// TestSemanticsOfABatch: the answer ends with the first denial or permit where the options say so. An
// error is a denial.
func TestSemanticsOfABatch(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	items := map[byte]object{
		'y': question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project)),
		'n': question(entity("user", s.Bob), "project:instance:read", entity("project", s.Project)),
		'e': {},
	}
	for _, c := range []struct{ asked, all, firstDeny, firstPermit string }{
		{"yny", "yes no yes", "yes no", "yes"},
		{"nny", "no no yes", "no", "no no yes"},
		{"yyy", "yes yes yes", "yes yes yes", "yes"},
		{"nen", "no 400 no", "no", "no 400 no"},
		{"yey", "yes 400 yes", "yes 400", "yes"},
		{"ey", "400 yes", "400", "400 yes"},
	} {
		var batch []object
		for i := range c.asked {
			batch = append(batch, items[c.asked[i]])
		}
		for semantic, want := range map[string]string{"": c.all, "execute_all": c.all, "deny_on_first_deny": c.firstDeny, "permit_on_first_permit": c.firstPermit} {
			body := object{"evaluations": batch}
			if semantic != "" {
				body["options"] = attributes("evaluations_semantic", semantic, "another_option", "value")
			}
			if r := evaluateAll(t, s.Scene, s.Checker, body); decisions(t, r) != want || len(r.Body) != 1 {
				t.Errorf("%s, %q: %s, want %s", c.asked, semantic, r.Raw, want)
			}
		}
	}
}

// TestBatchWithoutItemsIsOneQuestion, with one decision for an answer and the statuses of one.
func TestBatchWithoutItemsIsOneQuestion(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	good := question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project))
	for _, items := range []any{nil, []object{}} {
		good["evaluations"] = items
		if r := oddly(t, s.Scene, pathEvaluations, marshalled(t, good)); r.Status != 200 || r.Body["decision"] != true || len(r.Body) != 2 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		if r := evaluateAll(t, s.Scene, s.Checker, object{"evaluations": items}); r.Status != 400 || len(problems(t, r)) != 3 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		if r := evaluateAll(t, s.Scene, s.Platform, good); r.Status != 403 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	}
}

// TestBatchRefusesAsAWhole what is wrong beside its items.
func TestBatchRefusesAsAWhole(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t, "--max-evaluations", "3"))
	item := question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project))
	four := []object{item, item, item, item}
	for name, c := range map[string]struct {
		batch object
		want  []string
	}{
		"no list":           {object{"evaluations": item}, []string{"evaluations: must be an array"}},
		"no options":        {object{"evaluations": four[:1], "options": "execute_all"}, []string{"options: must be an object"}},
		"ill-typed option":  {object{"evaluations": four[:1], "options": object{"evaluations_semantic": true}}, []string{"options.evaluations_semantic: must be a string"}},
		"unknown semantic":  {object{"evaluations": four[:1], "options": attributes("evaluations_semantic", "any")}, []string{"options.evaluations_semantic: must be one of"}},
		"ill-typed default": {object{"evaluations": four[:1], "subject": "alice", "context": object{"account_id": 1}}, []string{"subject: must be an object", "context.account_id: must be a string"}},
		"too many":          {object{"evaluations": four}, []string{"evaluations: must have at most 3 items"}},
	} {
		r := evaluateAll(t, s, s.Checker, c.batch)
		got := problems(t, r)
		slices.Sort(c.want)
		slices.Sort(got)
		if r.Status != 400 || len(got) != len(c.want) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], c.want[i]) {
				t.Errorf("%s: %q, want %q", name, got[i], c.want[i])
			}
		}
	}
	if r := evaluateAll(t, s, s.Checker, object{"evaluations": four[:3]}); decisions(t, r) != "yes yes yes" {
		t.Errorf("%s", r.Raw)
	}
}

// TestEachDecisionOfABatchHasItsID, and all of them one revision of the account and of the policy.
func TestEachDecisionOfABatchHasItsID(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	var batch []object
	for i := range 50 {
		batch = append(batch, question(entity("user", []string{s.Admin, s.Bob, s.Carol}[i%3]), "project:instance:read", entity("instances", fmt.Sprint(i), "project_id", s.Project)))
	}
	refused := evaluateAll(t, s.Scene, s.UserToken(t, s.Bob), object{"evaluations": []object{question(entity("user", s.Carol), "project:instance:read", entity("project", s.Project), "account_id", s.Account)}})
	if id, _ := harness.At(refused.Body, "evaluations", 0, "context", "decision_id").(string); decisions(t, refused) != "403" || len(id) != 26 {
		t.Errorf("a question that may not be asked: %s", refused.Raw)
	}
	r := evaluateAll(t, s.Scene, s.Checker, object{"evaluations": batch})
	ids, revisions := map[any]bool{}, map[string]bool{}
	for i := range batch {
		context := harness.At(r.Body, "evaluations", i, "context")
		ids[harness.At(context, "decision_id")] = true
		revisions[fmt.Sprint(harness.At(context, "account_revision"), harness.At(context, "policy_revision"))] = true
	}
	if len(ids) != 50 || len(revisions) != 1 {
		t.Errorf("%d ids, revisions %v", len(ids), revisions)
	}
}
