package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// creation is a request that makes something.
type creation struct{ path, token, body, other string }

// creations are the requests whose answer is given again; other is another good body.
func creations(t testing.TB, s *harness.Team, name string) map[string]creation {
	sync := s.ServiceToken(t, "users:sync")
	created := func(path, token, form string) creation {
		return creation{path, token, fmt.Sprintf(form, name), fmt.Sprintf(form, name+"-other")}
	}
	return map[string]creation{
		"account.create":            created(s.URL+"/api/v1/accounts", s.Platform, `{"name":"A","admin":{"email":"%s@n1.example"}}`),
		"project.create":            created(s.Path("/projects"), s.AdminToken, `{"name":%q}`),
		"role.create":               created(s.Path("/roles"), s.AdminToken, `{"name":%q,"scope":"PROJECT","permissions":["project:thing:read"]}`),
		"group.create":              created(s.Path("/groups"), s.AdminToken, `{"name":%q}`),
		"user.invite":               created(s.Path("/users/invite"), s.AdminToken, `{"email":"%s@e11.example"}`),
		"user.create":               created(s.URL+"/api/v1/users", sync, `{"email":"%s@n8.example"}`),
		"kubernetes_cluster.create": created(s.Path("/projects/"+s.Project+"/kubernetes"), s.AdminToken, `{"name":%q,"flavor_id":"f","image_id":"i"}`),
		"gpu_cluster.create":        created(s.Path("/projects/"+s.Project+"/gpu-clusters"), s.AdminToken, `{"cluster_name":%q,"flavor_id":"f","image_id":"i"}`),
	}
}

func (c creation) send(t testing.TB, key string) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", c.path, c.token, c.body, "Idempotency-Key", key)
}

// conflict holds a repeat to 409 in the shape of its area.
func conflict(t testing.TB, name string, r harness.Reply) {
	t.Helper()
	if strings.HasPrefix(name, "user.") {
		wantUserRefusal(t, name, r, 409, "USER_002")
		return
	}
	harness.WantRefusal(t, r, 409, "CONFLICT")
}

// TestRepeatIsAnsweredAgain: with the same bytes and without making anything; another
// body with that key is refused. Every one of these, run twice, would be a conflict or
// say something else.
func TestRepeatIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	for name, c := range creations(t, s, "again-"+s.Account) {
		key := "again-" + name
		first := c.send(t, key)
		if first.Status != 201 && first.Status != 200 {
			t.Fatalf("%s: %d %s", name, first.Status, first.Raw)
		}
		for range 3 {
			if r := c.send(t, key); r.Status != first.Status || string(r.Raw) != string(first.Raw) || r.Header.Get("X-Request-ID") == first.Header.Get("X-Request-ID") {
				t.Errorf("%s again: %d %s, the first was %d %s", name, r.Status, r.Raw, first.Status, first.Raw)
			}
		}
		if plain := harness.Call(t, "POST", c.path, c.token, c.body); string(plain.Raw) == string(first.Raw) {
			t.Errorf("%s without the header is answered as before: the test shows nothing", name)
		}
		other := creation{c.path, c.token, c.other, ""}
		conflict(t, name, other.send(t, key))
		if r := other.send(t, key+"-2"); r.Status != first.Status {
			t.Errorf("%s with a key of its own: %d %s", name, r.Status, r.Raw)
		}
	}
	s.Drained(t)
	if mails := mailsTo(t, s.Gateway, "again-"+s.Account+"@e11.example"); mails != 1 {
		t.Errorf("%d mails", mails)
	}
}

// TestRepeatIsAuthorizedAnew: who lost the right in between is refused, and given the
// answer again with the right.
func TestRepeatIsAuthorizedAnew(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	bob := s.UserToken(t, s.Bob)
	group := creation{s.Path("/groups"), bob, `{"name":"G"}`, ""}
	invite := creation{s.Path("/users/invite"), bob, fmt.Sprintf(`{"email":"anew@%s.example"}`, s.Account), ""}
	s.Grant(t, "account_admin", s.Bob, "")
	first := group.send(t, "k")
	if r := invite.send(t, "k2"); r.Status != 200 || first.Status != 201 {
		t.Fatalf("%d %s, %d", r.Status, r.Raw, first.Status)
	}
	s.Must(t, 200, "DELETE", harness.AssignmentPath("account_admin", s.Bob, ""), "")
	harness.WantRefusal(t, group.send(t, "k"), 403, "FORBIDDEN")
	wantUserRefusal(t, "user.invite", invite.send(t, "k2"), 403, "AUTH_003")
	setStatus(t, s.Scene, s.Bob, "SUSPENDED")
	harness.WantRefusal(t, group.send(t, "k"), 401, "UNAUTHORIZED")
	setStatus(t, s.Scene, s.Bob, "ACTIVE")
	s.Grant(t, "account_admin", s.Bob, "")
	if r := group.send(t, "k"); string(r.Raw) != string(first.Raw) {
		t.Errorf("with the right again: %d %s", r.Status, r.Raw)
	}
}

// TestKeyIsShownOnceAndMadeOnce: a repeat names the first key's id, and two at once
// make one key; 20 rounds.
func TestKeyIsShownOnceAndMadeOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	c := creation{s.Path("/users/" + s.Bob + "/keys"), s.UserToken(t, s.Bob), `{"key_name":"k","scopes":["read"]}`, ""}
	for round := range 20 {
		key := fmt.Sprintf("round-%d", round)
		a, b := atOnce(func() harness.Reply { return c.send(t, key) }, func() harness.Reply { return c.send(t, key) })
		if a.Status != 201 {
			a, b = b, a
		}
		id, _ := harness.At(a.Body, "data", "id").(string)
		if a.Status != 201 || id == "" {
			t.Fatalf("round %d: %d and %d", round, a.Status, b.Status)
		}
		wantUserRefusal(t, "the other one", b, 409, "USER_002")
		again := c.send(t, key)
		wantUserRefusal(t, "a repeat", again, 409, "USER_002")
		if !strings.Contains(string(again.Raw), id) || strings.Contains(string(again.Raw)+string(b.Raw), "pcl_sk_live") {
			t.Errorf("round %d: a repeat: %s", round, again.Raw)
		}
		r := harness.Call(t, "GET", c.path, c.token, "")
		if keys, _ := harness.At(r.Body, "data", "keys").([]any); len(keys) != round+1 {
			t.Fatalf("round %d: %d keys", round, len(keys))
		}
	}
}

// TestRepeatedInvitationMailIsSentOnce, and not refused for coming too soon.
func TestRepeatedInvitationMailIsSentOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	harness.SeedUsers(t, dir, teamWithInvited(1)...)
	s := harness.TeamIn(t, harness.StartIn(t, dir), 1)
	c := creation{s.Path("/users/" + invitedOf(1) + "/invitation"), s.AdminToken, "", ""}
	for range 2 {
		harness.WantMessage(t, "user.resend_invitation", c.send(t, "k"))
	}
	wantUserRefusal(t, "with another key", c.send(t, "k2"), 429, "RATE_001")
	s.Drained(t)
	if mails := mailsTo(t, s.Gateway, invitedOf(1)+"@team.example"); mails != 1 {
		t.Errorf("%d mails", mails)
	}
}

// TestRepeatIsAnsweredAgainAfterACrash: what was answered is kept.
func TestRepeatIsAnsweredAgainAfterACrash(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t)
	all := creations(t, s, "crash")
	answers := map[string]string{}
	for name, c := range all {
		answers[name] = string(c.send(t, name).Raw)
	}
	s.Kill(t)
	g := harness.StartIn(t, s.DataDir)
	for name, c := range all {
		c.path = g.URL + strings.TrimPrefix(c.path, s.URL)
		if r := c.send(t, name); string(r.Raw) != answers[name] || r.Status >= 300 {
			t.Errorf("%s after the restart: %d %s, want %s", name, r.Status, r.Raw, answers[name])
		}
	}
}

// TestIdempotencyKeyHasOneReading: sent twice it is refused, and nothing is made.
func TestIdempotencyKeyHasOneReading(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	groups := s.Path("/groups")
	for name, headers := range map[string][]string{
		"twice": {"Idempotency-Key", "a", "Idempotency-Key", "a"},
		"two":   {"Idempotency-Key", "a", "Idempotency-Key", "b"},
	} {
		if r := harness.Call(t, http.MethodPost, groups, s.AdminToken, `{"name":"G"}`, headers...); r.Status != 400 {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	if r := s.Must(t, 200, "GET", "/groups", ""); fmt.Sprint(r.Body["total_count"]) != "0" {
		t.Errorf("%s", r.Raw)
	}
}
