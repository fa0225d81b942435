package console_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// console are the settings of a gateway with a console.
var console = []string{"--console-listen", "127.0.0.1:0"}

const (
	asked = "project:security_group:delete"
	later = "2099-05-05T10:00:00Z"
)

// fixCase is a question that a fix with these steps allows.
type fixCase struct {
	title string
	// says are the steps of the fix, as the page has them.
	says []string
	user string
	// end is the day to be sent, "" for that of the form.
	end string
	// prepare makes it so, and returns what must hold after the fix.
	prepare func(t *testing.T, s *harness.Team) (after func(*testing.T))
}

// role makes a custom role of the project.
func role(t *testing.T, s *harness.Team, name, permission string) (id string) {
	t.Helper()
	r := s.Must(t, 201, "POST", "/roles", fmt.Sprintf(`{"name":%q,"scope":"PROJECT","permissions":[%q],"description":"kept"}`, name, permission))
	return harness.At(r.Body, "id").(string)
}

func replaceRole(t *testing.T, s *harness.Team, id, name, permission, status string) {
	t.Helper()
	s.Must(t, 200, "PUT", "/roles/"+id, fmt.Sprintf(`{"name":%q,"scope":"PROJECT","permissions":[%q],"description":"kept","status":%q}`, name, permission, status))
}

// ended gives a role that has an end, and waits for it.
func ended(t *testing.T, s *harness.Team, user string) {
	t.Helper()
	end := time.Now().Add(400 * time.Millisecond).UTC().Format(time.RFC3339Nano)
	s.Must(t, 200, "PUT", harness.AssignmentPath("project_admin", user, s.Project), fmt.Sprintf(`{"expiresAt":%q}`, end))
	harness.Soon(t, "the role ends", func() bool { return !s.Allowed(t, user, asked, "/projects/"+s.Project) })
}

// assignment returns a field of the assignment of a role.
func assignment(t *testing.T, s *harness.Team, role, assignee, field string) any {
	t.Helper()
	r := s.Must(t, 200, "GET", "/assignments?role="+role+"&assignee="+assignee, "")
	return harness.At(r.Body, "assignments", 0, field)
}

// TestApply: each kind of step is made from its page, after which the question is allowed, and nothing else changes.
func TestApply(t *testing.T) {
	s := harness.StartTeam(t, console...)
	b := signIn(t, s.Gateway, s.Admin)
	for _, c := range append(assignmentFixes(s), roleFixes(s)...) {
		t.Run(c.title, func(t *testing.T) {
			after := c.prepare(t, s)
			question := url.Values{"user": {c.user}, "action": {asked}, "project": {s.Project}}
			page := b.get("/ask?" + question.Encode())
			page.want(t, 200, "Denied")
			confirm := b.findFix(t, page, c.says)
			form := confirm.form()
			if c.end != "" {
				form.Set("until", c.end)
			}
			done := b.send("/apply", form)
			if done.Status != 303 || !strings.Contains(done.Header.Get("Location"), "done=applied") {
				t.Fatalf("apply: %d %s", done.Status, done.Body)
			}
			b.get(done.Header.Get("Location")).want(t, 200, "Applied.", "Allowed")
			if !s.Allowed(t, c.user, asked, "/projects/"+s.Project) {
				t.Error("the question is denied after its fix")
			}
			b.send("/apply", form).want(t, 409, "It is allowed already.")
			after(t)
		})
	}
}

// findFix opens the pages of the fixes until one has exactly these steps.
func (b *browser) findFix(t *testing.T, page answer, says []string) answer {
	t.Helper()
	for _, link := range page.links("/apply?") {
		confirm := b.get(link)
		confirm.want(t, 200)
		steps := strings.Count(confirm.Body, `class="call"`)
		for _, one := range says {
			if strings.Contains(byID(confirm.Body), one) {
				steps--
			}
		}
		if steps == 0 {
			return confirm
		}
	}
	t.Fatalf("no fix %q:\n%s", says, page.Body)
	return answer{}
}

var (
	namedOnes = regexp.MustCompile(`<bdi>[^<]*</bdi> <code class="id">([^<]*)</code>`)
	markup    = regexp.MustCompile(`<[^>]*>`)
)

// byID returns the text of a page, with the ids of what it names.
func byID(page string) string {
	return html.UnescapeString(markup.ReplaceAllString(namedOnes.ReplaceAllString(page, "$1"), ""))
}

func nothing(*testing.T) {}

func assignmentFixes(s *harness.Team) []fixCase {
	var group string
	inactive := fmt.Sprintf(`{"status":"INACTIVE","expiresAt":%q,"assigneeType":"USER"}`, later)
	return []fixCase{
		{"assign with an end", []string{"Give " + s.Bob + " the role project_admin in " + s.Project}, s.Bob, "2099-12-31", func(*testing.T, *harness.Team) func(*testing.T) {
			return func(t *testing.T) {
				if end := assignment(t, s, "project_admin", s.Bob, "expiresAt"); end != "2099-12-31T23:59:59.000Z" {
					t.Errorf("the role ends at %v", end)
				}
			}
		}},
		{"extend", []string{"Let " + s.Carol + " have the role project_admin"}, s.Carol, "", func(t *testing.T, s *harness.Team) func(*testing.T) {
			ended(t, s, s.Carol)
			return nothing
		}},
		{"activate an assignment", []string{"Make the role project_admin of " + s.Bob}, s.Bob, "", func(t *testing.T, s *harness.Team) func(*testing.T) {
			s.Must(t, 200, "PUT", harness.AssignmentPath("project_admin", s.Bob, s.Project), inactive)
			return func(t *testing.T) {
				if end := assignment(t, s, "project_admin", s.Bob, "expiresAt"); end != "2099-05-05T10:00:00.000Z" {
					t.Errorf("the end is %v after it was made active", end)
				}
			}
		}},
		{"activate a group's assignment", []string{"Make the role project_admin of the group "}, s.Dan, "", func(t *testing.T, s *harness.Team) func(*testing.T) {
			group = harness.At(s.Must(t, 201, "POST", "/groups", `{"name":"g"}`).Body, "group", "id").(string)
			s.Must(t, 200, "PUT", "/groups/"+group+"/members/"+s.Dan, "")
			s.Must(t, 200, "PUT", harness.AssignmentPath("project_admin", group, s.Project), strings.Replace(inactive, "USER", "IAMGROUP", 1))
			return func(t *testing.T) {
				if end := assignment(t, s, "project_admin", group, "expiresAt"); end != "2099-05-05T10:00:00.000Z" {
					t.Errorf("the group's end is %v after it was made active", end)
				}
				s.Must(t, 200, "DELETE", harness.AssignmentPath("project_admin", group, s.Project)+"&assigneeType=IAMGROUP", "")
			}
		}},
		{"activate a user", []string{"Make the user " + s.Carol + " active again"}, s.Carol, "", func(t *testing.T, s *harness.Team) func(*testing.T) {
			r := harness.Call(t, "PUT", s.URL+"/api/v1/users/"+s.Carol, s.AdminToken, `{"status":"INACTIVE"}`, "X-Account-ID", s.Account)
			if r.Status != 200 {
				t.Fatalf("user.update: %d %s", r.Status, r.Raw)
			}
			return nothing
		}},
	}
}

func roleFixes(s *harness.Team) []fixCase {
	revoked := func(t *testing.T, id string) {
		t.Helper()
		s.Must(t, 200, "DELETE", harness.AssignmentPath(id, s.Dan, s.Project), "")
	}
	kept := func(t *testing.T, id, name, permissions string) func(*testing.T) {
		t.Helper()
		return func(t *testing.T) {
			r := s.Must(t, 200, "GET", "/roles/"+id, "")
			got := fmt.Sprint(harness.At(r.Body, "name"), harness.At(r.Body, "description"), harness.At(r.Body, "status"), harness.At(r.Body, "permissions"))
			if want := name + "keptACTIVE" + permissions; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
				t.Errorf("the role is %s, want %s", got, want)
			}
			revoked(t, id)
		}
	}
	return []fixCase{
		{"activate a role", []string{"Make the role "}, s.Dan, "", func(t *testing.T, s *harness.Team) func(*testing.T) {
			id := role(t, s, "r1", asked)
			s.Grant(t, id, s.Dan, s.Project)
			replaceRole(t, s, id, "r1", asked, "INACTIVE")
			return kept(t, id, "r1", "["+asked+"]")
		}},
		{"add a permission", []string{"Add " + asked + " to what the role "}, s.Dan, "", func(t *testing.T, s *harness.Team) func(*testing.T) {
			id := role(t, s, "r2", "project:instance:read")
			s.Grant(t, id, s.Dan, s.Project)
			return kept(t, id, "r2", "[project:instance:read "+asked+"]")
		}},
		{"activate a role and add a permission", []string{"Make the role ", "Add " + asked + " to what the role "}, s.Dan, "", func(t *testing.T, s *harness.Team) func(*testing.T) {
			id := role(t, s, "r3", "project:instance:read")
			s.Grant(t, id, s.Dan, s.Project)
			replaceRole(t, s, id, "r3", "project:instance:read", "INACTIVE")
			return kept(t, id, "r3", "[project:instance:read "+asked+"]")
		}},
	}
}
