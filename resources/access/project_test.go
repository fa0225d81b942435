package access_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// pathOf is the path's parameters: at(acctA, "projectId", projA1).
func pathOf(account string, pairs ...string) string {
	var b strings.Builder
	b.WriteString("accountId=" + account)
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("," + pairs[i] + "=" + pairs[i+1])
	}
	return b.String()
}

// same fails unless two answers are equal, byte for byte.
func same(t *testing.T, title string, a, b areatest.Answer) {
	t.Helper()
	if a.Status != b.Status || a.Text != b.Text {
		t.Errorf("%s: two answers that must be the same differ:\n%d %s\n%d %s", title, a.Status, a.Text, b.Status, b.Text)
	}
}

func TestProjectIsMade(t *testing.T) {
	w := newWorld(t)
	rev := w.Revision(acctA)
	got := w.call("project.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":" Neu "}`)
	id := got.Str("project.id")
	w.Expect(got, 201, fmt.Sprintf(`{"project":{"id":"%s","account_id":"acct-a-v1","name":"Neu",`+
		`"created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T14:13:20.000Z"}}`, id))
	if !resources.ValidExternalID("proj", id) || w.Revision(acctA) != rev+1 {
		t.Errorf("id %q, revision %d after %d", id, w.Revision(acctA), rev)
	}
	if p, _ := lookUp(w, w.Collections.Projects, id); p.State != resources.ProjectActive {
		t.Errorf("the state is %q", p.State)
	}
	w.Expect(w.call("project.create", platform, pathOf(acctB), "", `{"id":"proj-given-v1","name":"Neu"}`), 201, `"proj-given-v1"`)
}

func TestProjectIsMadeForASuspendedAccountByThePlatformOnly(t *testing.T) {
	w := newWorld(t)
	change(w, w.Collections.Accounts, acctA, func(a *resources.Account) { a.Status = resources.StatusSuspended })
	w.Expect(w.call("project.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"n"}`), 403, "suspended")
	w.Expect(w.call("project.create", platform, pathOf(acctA), "", `{"name":"n"}`), 201)
}

func TestProjectIsRefused(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("project.delete", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA2), "", nil), 200)
	for _, c := range []struct {
		name   string
		caller resources.Principal
		text   string
		body   string
		status int
	}{
		{"400 name missing", areatest.As(acctA, alice), acctA, `{}`, 400},
		{"400 name blank", areatest.As(acctA, alice), acctA, `{"name":" "}`, 400},
		{"400 name long", areatest.As(acctA, alice), acctA, `{"name":"` + strings.Repeat("é", 256) + `"}`, 400},
		{"400 unknown field", areatest.As(acctA, alice), acctA, `{"name":"n","account_id":"acct-b-v1"}`, 400},
		{"400 id", platform, acctA, `{"id":"proj_1","name":"n"}`, 400},
		{"400 id empty", platform, acctA, `{"id":"","name":"n"}`, 400},
		{"400 before 404", platform, absent, `{}`, 400},
		{"404 account", platform, absent, `{"name":"n"}`, 404},
		{"403 id from a user", areatest.As(acctA, alice), acctA, `{"id":"proj-given-v1","name":"n"}`, 403},
		{"403 id in use from a user", areatest.As(acctA, alice), acctA, `{"id":"proj-b1-v1","name":"n"}`, 403},
		{"403 id from another service", areatest.Service("users:sync"), acctA, `{"id":"proj-given-v1","name":"n"}`, 403},
		{"403 no right", areatest.As(acctA, carol), acctA, `{"name":"n"}`, 403},
		{"409 name", areatest.As(acctA, alice), acctA, `{"name":"one"}`, 409},
		{"409 name untrimmed", areatest.As(acctA, alice), acctA, `{"name":" one "}`, 409},
		{"409 id", platform, acctA, `{"id":"proj-a1-v1","name":"n"}`, 409},
		{"409 id in another account", platform, acctA, `{"id":"proj-b1-v1","name":"n"}`, 409},
		{"409 id deleted", platform, acctA, `{"id":"proj-a2-v1","name":"n"}`, 409},
	} {
		t.Run(c.name, func(t *testing.T) {
			rev := w.Revision(c.text)
			got := w.call("project.create", c.caller, pathOf(c.text), "", c.body)
			if got.Status != c.status {
				t.Errorf("%d %s", got.Status, got.Text)
			}
			if w.Revision(c.text) != rev {
				t.Error("a refused change moved the revision")
			}
		})
	}
	w.Expect(w.call("project.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"two"}`), 201) // a deleted project's name is free
}

func TestTwoProjectsOfOneNameAtOnce(t *testing.T) {
	w := newWorld(t)
	oneOfTwo(t, atOnce(func(int) areatest.Answer {
		return w.call("project.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"n"}`)
	}))
}

func TestProjectsAreListedByToken(t *testing.T) {
	w := newWorld(t)
	for i := range 4 {
		w.Clock.Add(1)
		w.Expect(w.call("project.create", areatest.As(acctA, alice), pathOf(acctA), "", fmt.Sprintf(`{"name":"p%d"}`, i)), 201)
	}
	w.Expect(w.call("project.delete", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA2), "", nil), 200)
	var names []string
	query, pages := "page_size=2", 0
	for {
		got := w.call("project.list", areatest.As(acctA, carol), pathOf(acctA), query, nil)
		w.Expect(got, 200, `"total_count":6`)
		for _, p := range got.Body["projects"].([]any) {
			names = append(names, p.(map[string]any)["name"].(string))
		}
		pages++
		if got.Str("next_page_token") == "" {
			break
		}
		query = "page_size=2&page_token=" + url.QueryEscape(got.Str("next_page_token"))
	}
	if s := strings.Join(names, " "); s != "one leaving p0 p1 p2 p3" || pages != 3 {
		t.Errorf("%d pages: %s", pages, s)
	}
	w.Expect(w.call("project.list", platform, pathOf(absent), "", nil), 200, `{"projects":[],"total_count":0,"next_page_token":""}`)
}

func TestPageTokenIsOfItsListOnly(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.call("project.create", areatest.As(acctB, bea), pathOf(acctB), "", `{"name":"more"}`), 201)
	token := w.call("project.list", areatest.As(acctB, bea), pathOf(acctB), "page_size=1", nil).Str("next_page_token")
	if token == "" {
		t.Fatal("no token")
	}
	w.Expect(w.call("project.list", areatest.As(acctB, bea), pathOf(acctB), "page_token="+token, nil), 200)
	for name, query := range map[string]string{
		"of another account": "page_token=" + token,
		"forged":             "page_token=x",
		"truncated":          "page_token=" + token[:len(token)-4],
		"huge":               "page_token=" + strings.Repeat("A", 5000),
		"size 0":             "page_size=0",
		"size 101":           "page_size=101",
		"size +1":            "page_size=%2B1",
		"twice":              "page_size=1&page_size=1",
		"unknown":            "page=1",
		"operator":           "page_size[$ne]=1",
	} {
		t.Run("400 "+name, func(t *testing.T) {
			w.Expect(w.call("project.list", areatest.As(acctA, alice), pathOf(acctA), query, nil), 400)
		})
	}
	w.Expect(w.call("group.list", areatest.As(acctB, bea), pathOf(acctB), "page_token="+token, nil), 400, "page_token: ")
	w.Expect(w.call("group_member.list", areatest.As(acctB, bea), pathOf(acctB, "groupId", groupB), "page_token="+token, nil), 400)
}

func TestProjectIsRenamed(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(int64(hour))
	rev := w.Revision(acctA)
	w.Expect(w.call("project.update", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA1), "", `{"name":" Neu "}`), 200,
		`{"project":{"id":"proj-a1-v1","account_id":"acct-a-v1","name":"Neu","created_at":"2026-09-21T14:13:20.000Z","updated_at":"2026-09-21T15:13:20.000Z"}}`)
	if w.Revision(acctA) != rev+1 {
		t.Error("the revision did not move")
	}
	w.Expect(w.call("project.update", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA1), "", `{"name":"Neu"}`), 200)
	w.Expect(w.call("project.update", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA1), "", `{"name":"two"}`), 409)
	w.Expect(w.call("project.update", areatest.As(acctA, alice), pathOf(acctA, "projectId", projLeaving), "", `{"name":"n"}`), 409, "being deleted")
	w.Expect(w.call("project.update", areatest.As(acctA, carol), pathOf(acctA, "projectId", projA1), "", `{"name":"n"}`), 403)
	for _, body := range []string{``, `{}`, `{"name":""}`, `{"name":"n","id":"proj-x-v1"}`, `{"name":"n","state":"active"}`} {
		w.Expect(w.call("project.update", areatest.As(acctA, alice), pathOf(acctA, "projectId", projA1), "", body), 400)
	}
}

func TestForeignProjectIsAnsweredLikeAnAbsentOne(t *testing.T) {
	w := newWorld(t)
	const gone, goneThere = "proj-gone-v1", "proj-gonethere-v1"
	w.Expect(w.call("project.create", platform, pathOf(acctA), "", `{"id":"proj-gone-v1","name":"gone"}`), 201)
	w.Expect(w.call("project.create", platform, pathOf(acctB), "", `{"id":"proj-gonethere-v1","name":"gone"}`), 201)
	w.Expect(w.call("project.delete", areatest.As(acctA, alice), pathOf(acctA, "projectId", gone), "", nil), 200)
	w.Expect(w.call("project.delete", areatest.As(acctB, bea), pathOf(acctB, "projectId", goneThere), "", nil), 200)
	for _, route := range []string{"project.update", "project.delete"} {
		for _, body := range []string{`{"name":"two"}`, `{}`, `[`} {
			if route == "project.delete" && body != `[` {
				body = ""
			}
			ask := func(id string) areatest.Answer {
				return w.call(route, areatest.As(acctA, alice), pathOf(acctA, "projectId", id), "", body)
			}
			never := ask(absent)
			w.Expect(never, 403, "You do not have permission to do this in that project.")
			same(t, route+" foreign", never, ask(projB1))
			same(t, route+" foreign, deleted", never, ask(goneThere))
		}
		body := `{"name":"n"}`
		if route == "project.delete" {
			body = ""
		}
		w.Expect(w.call(route, areatest.As(acctA, alice), pathOf(acctA, "projectId", gone), "", body), 404)
		w.Expect(w.call(route, areatest.As(acctA, alice), pathOf(acctA, "projectId", gone), "", `[`), 400)
	}
	if p, _ := lookUp(w, w.Collections.Projects, projB1); p.Name != "one" || p.State != resources.ProjectActive {
		t.Errorf("the foreign project became %+v", p)
	}
}
