package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

func questionOf(user, action, project string) string {
	return "/ask?" + url.Values{"user": {user}, "action": {action}, "project": {project}}.Encode()
}

// TestAsk: the form offers what there is, refusals stand beside their fields in the API's words, and a user who may not
// see an answer reads so.
func TestAsk(t *testing.T) {
	s := harness.StartTeam(t, console...)
	admin, bob := signIn(t, s.Gateway, s.Admin), signIn(t, s.Gateway, s.Bob)
	empty := admin.get("/ask")
	empty.want(t, 200, `<option value="`+s.Bob+`">`, `<option value="account:role:read">`, s.Project, "For example:")
	for _, link := range empty.links("/ask?") {
		admin.get(link).want(t, 200, "How it was decided")
	}
	admin.get(questionOf("no body", "nonsense", s.Project)).want(t, 400, `id="user-problem">must be `, `id="action-problem">`)
	admin.get("/ask?user=a%0Ab&action=project:instance:read").want(t, 400, `id="user-problem">must not hold a control character`)
	admin.get(questionOf(s.Bob, asked, "p q?")).want(t, 400, `id="place-problem">`)
	admin.get(questionOf(s.Bob, asked, s.Project)).want(t, 200, "What would allow it", "/apply?", "The user holds no role", "The role counts in the whole account, not only here.")
	if meant := admin.get(questionOf(s.Bob+"@team.example", asked, s.Project)); !strings.Contains(meant.Body, "Did you mean") {
		t.Errorf("nobody is offered for an e-mail address:\n%s", meant.Body)
	}
	bob.get(questionOf(s.Carol, asked, s.Project)).want(t, 403, "You may not see why a question about somebody else", "account:authorization:explain")
	bob.get(questionOf(s.Bob, asked, s.Project)).want(t, 200, "No change that you may see")
	s.Grant(t, "team_member", s.Carol, "")
	admin.get(questionOf(s.Carol, asked, s.Project)).want(t, 200, `<bdi>Team member</bdi> <code class="soft">team_member</code> in the whole account`, "its role lacks the action")
	self := bob.get(questionOf(s.Bob, "account:user:read", ""))
	self.want(t, 200, "You may not make these changes", "account:role_assignment:update", "An admin of the account can")
	self.lacks(t, "/apply?")
}

// TestAskForeign: a user of another account and one who does not exist have the same page.
func TestAskForeign(t *testing.T) {
	teams := harness.StartTeams(t, 2, console...)
	admin := signIn(t, teams[0].Gateway, teams[0].Admin)
	shown := func(user string) string {
		page := admin.get(questionOf(user, asked, teams[0].Project))
		page.want(t, 200, "Denied", "not an active member")
		page.lacks(t, "/apply?")
		text := strings.ReplaceAll(page.Body, user, "X")
		for _, part := range []string{"<time", "account revision "} { // these depend on the moment
			before, rest, _ := strings.Cut(text, part)
			_, rest, _ = strings.Cut(rest, "</p>")
			text = before + rest
		}
		return text
	}
	if a, b := shown(teams[1].Bob), shown("user-nobody-v1"); a != b {
		t.Errorf("a foreign user is shown as\n%s\nand an unknown one as\n%s", a, b)
	}
}

// TestApplyRefused: nothing is applied but the fix that was shown, and a refusal in the middle says what was done.
func TestApplyRefused(t *testing.T) {
	s := harness.StartTeam(t, console...)
	admin, bob, carol := signIn(t, s.Gateway, s.Admin), signIn(t, s.Gateway, s.Bob), signIn(t, s.Gateway, s.Carol)
	form := admin.get(admin.get(questionOf(s.Dan, asked, s.Project)).links("/apply?")[0]).form()
	changed := func(name, value string) url.Values {
		out := url.Values{}
		for field := range form {
			out.Set(field, form.Get(field))
		}
		out.Set(name, value)
		return out
	}
	admin.send("/apply", changed("fix", "0")).want(t, 409, "Ask again")
	admin.send("/apply", changed("until", "soon")).want(t, 400, "must be a day", "Nothing was changed.")
	admin.send("/apply", changed("until", "2001-01-01")).want(t, 400, `id="until-problem">`, "Nothing was changed.")
	bob.send("/apply", form).want(t, 403, "You may not do this.")
	if s.Allowed(t, s.Dan, asked, "/projects/"+s.Project) {
		t.Fatal("a refused fix was applied")
	}

	r := s.Must(t, 201, "POST", "/roles", `{"name":"desk","scope":"ACCOUNT","permissions":["account:user:update","account:role_assignment:update","account:authorization:*","account:*:read"]}`)
	s.Grant(t, harness.At(r.Body, "id").(string), s.Carol, "")
	r = harness.Call(t, "PUT", s.URL+"/api/v1/users/"+s.Dan, s.AdminToken, `{"status":"INACTIVE"}`, "X-Account-ID", s.Account)
	if r.Status != 200 {
		t.Fatalf("user.update: %d %s", r.Status, r.Raw)
	}
	page := carol.get(questionOf(s.Dan, asked, s.Project))
	confirm := carol.findFix(t, page, []string{"Make the user " + s.Dan, "Give " + s.Dan + " the role project_admin in"})
	carol.send("/apply", confirm.form()).want(t, 403, "1 of 2 steps was made and stay", "✓ made", "✕ not made", "the caller does not hold")
	if got := harness.At(s.Do(t, "GET", "/users/"+s.Dan+"/profile", "").Body, "user", "status"); got != nil && got != "ACTIVE" {
		t.Errorf("the first step was not made: the user is %v", got)
	}
	admin.get(questionOf(s.Dan, asked, s.Project)).want(t, 200, "Give <bdi>"+s.Dan+"</bdi>")
}

// TestNoWiderRoleIsApplied: a role that was widened after the fix was shown is not assigned by it.
func TestNoWiderRoleIsApplied(t *testing.T) {
	s := harness.StartTeam(t, console...)
	admin := signIn(t, s.Gateway, s.Admin)
	r := s.Must(t, 201, "POST", "/roles", `{"name":"desk","scope":"PROJECT","permissions":["`+asked+`"]}`)
	role := harness.At(r.Body, "id").(string)
	form := admin.findFix(t, admin.get(questionOf(s.Dan, asked, s.Project)), []string{"Give " + s.Dan + " the role " + role + " in"}).form()
	s.Must(t, 200, "PUT", "/roles/"+role, `{"name":"desk","permissions":["`+asked+`","project:*:delete"]}`)
	admin.send("/apply", form).want(t, 409, "Ask again")
	if s.Allowed(t, s.Dan, asked, "/projects/"+s.Project) {
		t.Error("the wider role was assigned")
	}
}

// TestAskHostile: what people chose as names is text on every page.
func TestAskHostile(t *testing.T) {
	dir, name := t.TempDir(), "<script>alert(1)</script>\"'&\u202e\x01=x"
	bob := harness.MemberRecord("acct-"+harness.TeamName(1)+"-v1", harness.TeamMember(1, "bob"))
	bob.Name = name
	harness.SeedUsers(t, dir, bob)
	s := harness.TeamIn(t, harness.StartIn(t, dir, console...), 1)
	admin := signIn(t, s.Gateway, s.Admin)
	odd := url.QueryEscape(name)
	for _, path := range []string{
		"/ask", questionOf(s.Bob, asked, s.Project), "/ask?user=" + odd + "&action=" + odd + "&project=" + odd + "&resource=" + odd,
		"/apply?user=" + odd + "&action=" + odd + "&fix=" + odd, "/who?find=matrix&actions=" + odd + "&people=" + odd, "/who?find=matrix",
		"/who?find=people&action=" + odd, "/who?find=actions&user=" + s.Bob, "/who?find=places&user=" + odd + "&action=" + odd + "&kind=" + odd, "/who?page_token=" + odd + "&action=" + asked,
	} {
		page := admin.get(path)
		page.lacks(t, "<script>alert", " style=", " onclick=", "javascript:", "ZgotmplZ")
		if page.Status >= 500 || strings.Contains(page.Body, "\u202e") && !strings.Contains(page.Body, "<bdi>") {
			t.Errorf("%s: %d\n%s", path, page.Status, page.Body)
		}
	}
}

// TestADenyRuleIsOpened guarantees that the link of a deny rule leads to a line of the policy in force.
func TestADenyRuleIsOpened(t *testing.T) {
	operator := signIn(t, demo(t), alice)
	page := operator.get(questionOf("user-nobody-v1", asked, "proj-demo-v1"))
	links := page.links("/policy?file=")
	if len(links) == 0 {
		t.Fatalf("no rule has a link:\n%s", page.Body)
	}
	path, line, _ := strings.Cut(links[0], "#")
	operator.get(path).want(t, 200, `id="`+line+`"`)
}
