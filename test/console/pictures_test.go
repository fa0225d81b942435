package console_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// envPictures names a folder for a picture of each page, in each scene, light and dark, at each width.
const envPictures = "PORTCULLIS_TEST_PICTURES"

// scene is a gateway in some state, with a user and the pages to look at, in which start replaces what it has made.
type scene struct {
	user  string
	start func(t *testing.T) (*harness.Gateway, *strings.Replacer)
	pages []string
	// form, unless it is "", sends the form with this action on the last page, without the browser's own checks.
	form string
}

// scenes are those of TestPagesInABrowser beside the demo.
func scenes() map[string]scene {
	return map[string]scene{
		"empty": {user: alice, start: emptied, pages: []string{
			"/", "/ask", "/who", "/who?find=actions", "/who?find=places", "/who?find=matrix", "/people?q=zz", "/groups", "/agents", "/roles?status=INACTIVE", "/decisions?user=user-none-v1", "/changes?actor=user-none-v1", "/platform",
			"/people/" + alice + "/keys", "/approvals",
		}},
		"approvals": {user: deskUser, start: requests, pages: []string{
			"/", "/approvals", "/approvals/approval-0-v1", "/approvals/approval-1-v1", "/approvals/approval-2-v1", "/approvals/approval-3-v1", "/approvals/approval-4-v1", "/approvals/approval-5-v1", "/approvals/approval-none-v1",
		}},
		"refused": {user: carol, start: plainDemo, pages: []string{
			"/", denied, "/who?find=people&action=project:instance:read", "/people", "/groups", "/agents", "/roles", "/decisions", "/changes", "/policy", "/platform", "/people/" + bob, "/no-such-page",
		}},
		"wrong": {user: alice, start: plainDemo, pages: []string{
			"/ask?user=a%20b&action=none", "/who?find=people&action=none", "/decisions?since=yesterday&action=x", "/changes?since=yesterday", "/people/user-none-v1/assign", "/agents/agent-none-v1/delegation", "/people",
		}, form: "/people"},
		"many": {user: crowdAdmin, start: throng, pages: []string{
			"/", "/ask?user=user-team1bob-v1&action=project:instance:create&project=" + crowdProject, "/who?find=people&action=project:project:read", "/who?find=matrix&project=" + crowdProject,
			"/who?find=actions&user=" + crowdAdmin, "/people", "/groups", "/agents", "/roles", "/decisions?verdict=all&lookups=true", "/changes", "/platform", "/platform/" + crowdProject, "/platform/" + crowdProject + "/gpu-clusters", "/roles/team_member", "/policy",
			"/people/user-team1bob-v1", "/people/user-team1bob-v1/assign", "/people/user-team1bob-v1/remove",
			"/agents/AGENT", "/agents/AGENT/delegation", "/agents/AGENT/delete", "/people/" + crowdAdmin, "/groups/GROUP", "/groups/GROUP/delete", "/groups/GROUP/members/new", "/roles/ROLE", "/roles/ROLE/edit", "/platform/" + crowdProject + "/security-groups/RULES",
		}},
	}
}

func plainDemo(t *testing.T) (*harness.Gateway, *strings.Replacer) {
	return demo(t), strings.NewReplacer()
}

// emptied is the demo without its project and its agent.
func emptied(t *testing.T) (*harness.Gateway, *strings.Replacer) {
	g, none := plainDemo(t)
	account, token := g.URL+"/api/v1/accounts/"+demoAccount, g.UserToken(t, alice)
	agents := harness.Call(t, "GET", account+"/agents", token, "")
	for _, path := range []string{"/projects/proj-demo-v1", "/agents/" + fmt.Sprint(harness.At(agents.Body, "agents", 0, "id"))} {
		if r := harness.Call(t, "DELETE", account+path, token, ""); r.Status/100 != 2 {
			t.Fatalf("%s: %d %s", path, r.Status, r.Raw)
		}
	}
	return g, none
}

const (
	crowdAdmin, crowdProject = "user-team1admin-v1", "proj-team1-v1"
	// nasty has markup, quotes, a direction that turns what follows, marks above and below, and no place to break.
	nasty = "<script>alert(1)</script>\"'&Z\u0351\u036b\u0343\u036a\u0302\u036bXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"
	// crowdMany are its members, crowdRows its groups, projects, roles and so on: more than a page has.
	crowdMany, crowdRows = 10_000, 60
)

// throng is an account with many of all, whose first ones have a nasty name.
func throng(t *testing.T) (*harness.Gateway, *strings.Replacer) {
	dir, account := t.TempDir(), "acct-team1-v1"
	users := []resources.User{harness.MemberRecord(account, "user-team1bob-v1")}
	users[0].Name = "\u202e" + nasty
	for n := range crowdMany {
		one := harness.MemberRecord(account, fmt.Sprintf("user-m%05d-v1", n))
		one.Name = fmt.Sprintf("Member %d", n)
		users = append(users, one)
	}
	harness.SeedUsers(t, dir, users...)
	s := harness.TeamIn(t, harness.StartIn(t, dir, "--console-listen", "127.0.0.1:0", "--console-operators", crowdAdmin), 1)
	s.Must(t, 200, "PATCH", "/projects/"+s.Project, `{"name":`+jsonText(nasty)+`}`)
	s.Must(t, 200, "PUT", "/users/"+crowdAdmin+"/profile", `{"name":`+jsonText(nasty)+`}`)
	name := func(n int) string {
		if n == 0 {
			return jsonText(nasty)
		}
		return jsonText(fmt.Sprintf("Number %d", n))
	}
	id := func(r harness.Reply, path ...any) string { return fmt.Sprint(harness.At(r.Body, path...)) }
	inside := func(rest, body string) harness.Reply {
		r := harness.Call(t, "POST", s.Path("/projects/"+s.Project+rest), s.AdminToken, body, "X-Account-ID", s.Account)
		if r.Status != 201 {
			t.Fatalf("%s: %d %s", rest, r.Status, r.Raw)
		}
		return r
	}
	var first [4]string
	for n := range crowdRows {
		group := id(s.Must(t, 201, "POST", "/groups", `{"name":`+name(n)+`,"description":`+name(n)+`}`), "group", "id")
		role := id(s.Must(t, 201, "POST", "/roles", `{"name":`+name(n)+`,"scope":"PROJECT","permissions":["project:instance:start","project:*:read"],"description":`+name(n)+`}`), "id")
		rules := `[{"direction":"ingress","protocol":"tcp","port_range_min":22,"port_range_max":22,"remote_ip_prefix":"2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff/128","priority":100}]`
		sg := id(inside("/security-groups", `{"project_id":"`+s.Project+`","name":`+name(n)+`,"description":`+name(n)+`,"rules":`+rules+`}`), "security_group", "id")
		if n == 0 {
			first = [4]string{group, role, sg}
		}
		agent := id(s.Must(t, 201, "POST", "/agents", `{"name":`+name(n)+`,"clients":[{"issuer":"https://login.example","client_id":"`+strings.Repeat("x", n+1)+`"}]}`), "agent", "id")
		if n == 0 {
			first[3] = agent
			s.Must(t, 200, "PUT", "/roles/project_reader/assignments/"+agent, `{"assigneeType":"AGENT","projectId":"`+s.Project+`"}`)
		}
		s.Must(t, 200, "PUT", "/users/"+crowdAdmin+"/delegations/"+agent, `{"permissions":["project:instance:*","project:*:read"],"project_id":"`+s.Project+`"}`)
		s.Must(t, 201, "POST", "/projects", `{"name":"Number `+fmt.Sprint(n)+`"}`)
		inside("/gpu-clusters", fmt.Sprintf(`{"cluster_name":"number-%d","flavor_id":"f","image_id":"i"}`, n))
		user := fmt.Sprintf("user-m%05d-v1", n+200)
		s.Grant(t, "team_member", user, "")
		s.Must(t, 200, "PUT", "/groups/"+first[0]+"/members/"+user, "")
		s.Grant(t, role, "user-team1bob-v1", s.Project)
	}
	s.Must(t, 200, "PUT", "/roles/"+first[1]+"/assignments/"+first[0]+"?projectId="+s.Project, `{"assigneeType":"IAMGROUP"}`)
	for n := range crowdRows {
		s.Ask(t, "user-team1bob-v1", "project:instance:create", fmt.Sprintf("/projects/%s/instances/%d-%s", s.Project, n, strings.Repeat("x", 90)))
	}
	return s.Gateway, strings.NewReplacer("GROUP", first[0], "ROLE", first[1], "RULES", first[2], "AGENT", first[3])
}

// jsonText is a text as JSON.
func jsonText(text string) string {
	return fmt.Sprintf("%q", text)
}

// windows are widths in CSS pixels. A page of 1,280 px at 200 % has 640 of them.
func windows() map[string]int64 {
	return map[string]int64{"320": 320, "zoomed": 640, "1024": 1024, "1920": 1920}
}

// lookAt opens a page, holds it to the width of the window at each width, and takes pictures if somebody wants them.
func (b *tab) lookAt(title, path string) {
	b.t.Helper()
	b.open(path)
	b.wait(`document.readyState === "complete"`)
	b.lookAround(title)
}

// lookAround is lookAt for the page that is open.
func (b *tab) lookAround(title string) {
	b.t.Helper()
	for name, width := range windows() {
		for _, colours := range []string{"light", "dark"} {
			if os.Getenv(envPictures) == "" && colours == "dark" {
				continue
			}
			b.look(width, colours)
			if !b.holds("document.documentElement.scrollWidth <= window.innerWidth") {
				b.t.Errorf("%s scrolls sideways in a window of %d px", title, width)
			}
			b.picture(title + "-" + colours + "-" + name + ".png")
		}
	}
	b.wantNoProblem(title)
}

// picture writes a picture of the whole page, if somebody wants them.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv(envPictures)
	if dir == "" {
		return
	}
	raw, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// fileName returns a name for a picture of a page.
func fileName(path string) string {
	name, query, _ := strings.Cut(strings.Trim(path, "/"), "?")
	if values, err := url.ParseQuery(query); err == nil && query != "" {
		name += "-" + values.Get("find") + values.Get("verdict")
		if path == denied {
			name += "denied"
		}
	}
	if name == "" {
		name = "overview"
	}
	return strings.Trim(strings.ReplaceAll(name, "/", "-"), "-")
}
