package console_test

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// crowd is how many readers the account of these tests has beside its admin.
const crowd = 60

const whoAccount, whoProject, whoAdmin = "acct-who-v1", "proj-who-v1", "user-admin-v1"

func reader(n int) string { return fmt.Sprintf("user-reader%02d-v1", n) }

// startCrowd starts a gateway with the account, and signs its admin in.
func startCrowd(t *testing.T, settings ...string) (*harness.Gateway, *browser) {
	t.Helper()
	members := []harness.Member{{ID: whoAdmin, Roles: []string{"account_admin"}}}
	for n := range crowd {
		members = append(members, harness.Member{ID: reader(n), Roles: []string{"account_reader"}})
	}
	dir := t.TempDir()
	harness.Seed(t, dir, whoAccount, whoProject, members...)
	g := harness.StartIn(t, dir, append(settings, console...)...)
	return g, signIn(t, g, whoAdmin)
}

// TestWho: each search finds all that there is, page by page, and a file has all of it.
func TestWho(t *testing.T) {
	g, admin := startCrowd(t)
	page := admin.get("/who?find=people&action=account:user:read")
	page.want(t, 200, "Who may do")
	users := map[string]bool{}
	for {
		for _, link := range page.links("/ask?") {
			where, err := url.Parse(link)
			if err != nil || users[where.Query().Get("user")] {
				t.Errorf("%s: %v, or a person comes twice", link, err)
			}
			users[where.Query().Get("user")] = true
		}
		next := page.links("/who?action=account%3Auser%3Aread&find=people&page_token=")
		if len(next) == 0 {
			break
		}
		page = admin.get(next[len(next)-1])
		page.want(t, 200, "First page")
	}
	if len(users) != crowd+1 || !users[reader(7)] {
		t.Errorf("%d people may read users, want %d", len(users), crowd+1)
	}
	file := admin.get("/who.csv?find=people&action=account:user:read")
	rows, err := csv.NewReader(strings.NewReader(file.Body)).ReadAll()
	if err != nil || len(rows) != crowd+2 || fmt.Sprint(rows[1][:4]) != "["+whoAdmin+" "+whoAdmin+" "+rows[1][2]+" account:user:read]" {
		t.Errorf("the file has %d rows, %v: %v", len(rows), err, rows[:2])
	}
	for name, want := range map[string]string{
		"Content-Type": "text/csv; charset=utf-8; header=present", "X-Content-Type-Options": "nosniff", "Content-Disposition": `attachment; filename="who-can-people.csv"`,
	} {
		if got := file.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	admin.get("/who?find=actions&user="+reader(1)).want(t, 200, "<code>account:user:read</code>")
	admin.get("/who?find=actions&user="+reader(1)).lacks(t, "<code>account:user:update</code>")
	admin.get("/who?find=places&user="+whoAdmin+"&action=project:instance:read").want(t, 200, "<code>"+whoProject+"</code>")
	admin.get("/who?find=places&kind=account&user="+reader(2)+"&action=account:user:update").want(t, 200, "Nowhere.")
	admin.get("/who?find=people&action=nonsense").want(t, 400, `id="action-problem">`)
	admin.get("/who?find=people&action=account:user:read&page_token=x").want(t, 400, "page.token")
	admin.get("/who.csv?find=people&action=nonsense").want(t, 400)
	admin.get("/who.csv?find=people").want(t, 400)
	b := signIn(t, g, reader(1))
	b.get("/who?find=actions").want(t, 200, "<code>account:user:read</code>")
	b.get("/who?find=people&action=account:user:read").want(t, 403, "You may not see what other people may do", "account:authorization:check")
	b.get("/who.csv?find=people&action=account:user:read").want(t, 403)
	b.get("/who?find=matrix").want(t, 200, "Some cells have no answer", "? unknown", "✓ yes")
}

// TestWhoPlaces: the link beside a found resource asks about that resource.
func TestWhoPlaces(t *testing.T) {
	s := harness.StartTeam(t, console...)
	r := harness.Call(t, "POST", s.Path("/projects/"+s.Project+"/security-groups"), s.AdminToken, fmt.Sprintf(`{"project_id":%q,"name":"web"}`, s.Project), "X-Account-ID", s.Account)
	if r.Status != 201 {
		t.Fatalf("security_group.create: %d %s", r.Status, r.Raw)
	}
	s.Grant(t, "project_reader", s.Bob, s.Project)
	admin := signIn(t, s.Gateway, s.Admin)
	question := "kind=security_group&user=" + s.Bob + "&action="
	page := admin.get("/who?find=places&" + question + "project:security_group:read")
	links := page.links("/ask?")
	if len(links) != 1 || !strings.Contains(links[0], "resource=security-groups%2F") {
		t.Fatalf("the places are %v:\n%s", links, page.Body)
	}
	admin.get(links[0]).want(t, 200, "Allowed", "<code>security-groups/")
	admin.get("/who.csv?find=places&"+question+"project:security_group:read").want(t, 200, ","+s.Project+",security-groups/")
	admin.get("/who?find=places&"+question+asked).want(t, 200, "Nowhere.")
}

// TestMatrix: 25 people by 20 actions, each cell as evaluation says, though a batch may have fewer questions.
func TestMatrix(t *testing.T) {
	g, admin := startCrowd(t, "--max-evaluations", "30")
	page := admin.get("/who?find=matrix")
	page.want(t, 200, "25 people; actions 1 to 20 of ")
	if cells := len(page.links("/ask?")); cells != 500 {
		t.Errorf("%d cells, want 500", cells)
	}
	token := g.ServiceToken(t, "authz:check")
	for _, link := range page.links("/ask?")[10:40] {
		where, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		q := where.Query()
		r := harness.Call(t, "POST", g.URL+"/api/v1/authorize/accounts/"+whoAccount, token, "", "X-User-ID", q.Get("user"), "X-Account-ID", whoAccount, "X-Action", q.Get("action"))
		want := map[any]string{true: "✓ yes", false: "✕ no"}[r.Body["allowed"]]
		_, rest, _ := strings.Cut(page.Body, strings.ReplaceAll(link, "&", "&amp;")+`">`)
		if got, _, _ := strings.Cut(rest, "<"); got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
	seen := 0
	for next := "/who?find=matrix&actions=role_assignment"; next != ""; {
		page := admin.get(next)
		page.want(t, 200)
		seen += len(page.links("/ask?"))
		links := page.links("/who?actions=role_assignment&find=matrix&page_token=")
		if next = ""; strings.Contains(page.Body, "More people") {
			next = links[0]
		}
	}
	if want := 2 * (crowd + 1); seen != want {
		t.Errorf("the pages have %d cells, want %d", seen, want)
	}
	admin.get("/who?find=matrix&people=user-reader1&actions=account:user:").want(t, 200, "10 people; actions 1 to ")
	admin.get("/who?find=matrix&project="+whoProject).lacks(t, "action=account%3Auser%3Aread")
	admin.get("/who?find=matrix&actions=zzz").want(t, 200, "No action has")
	admin.get("/who?find=matrix&people=zzz").want(t, 200, "begins with")
	file := admin.get("/who.csv?find=matrix&actions=account:user:update")
	file.want(t, 200, reader(3)+","+reader(3), ",account:user:update,,,no,no active role of the user grants account:user:update in "+whoAccount)
	if rows := strings.Count(file.Body, "\r\n"); rows != 26 {
		t.Errorf("the file has %d rows", rows)
	}
}

// TestMatrixRate: what the gateway answers before a caller's rate is used up is shown, with its refusal.
func TestMatrixRate(t *testing.T) {
	_, admin := startCrowd(t, "--rate-principal", "250/h")
	admin.get("/who?find=matrix").want(t, 429, "✓ yes", "? unknown", `role="alert"`)
	admin.get("/who.csv?find=matrix").want(t, 429)
}

// TestFormulas: no cell of a file begins a formula.
func TestFormulas(t *testing.T) {
	dir := t.TempDir()
	account := "acct-" + harness.TeamName(1) + "-v1"
	bob := harness.MemberRecord(account, harness.TeamMember(1, "bob"))
	bob.Name, bob.Email = `=HYPERLINK("http://x.example","y")`, "@sum.example"
	carol := harness.MemberRecord(account, harness.TeamMember(1, "carol"))
	carol.Name, carol.Email = "\t-1+1", "+1@x.example"
	harness.SeedUsers(t, dir, bob, carol)
	s := harness.TeamIn(t, harness.StartIn(t, dir, console...), 1)
	file := signIn(t, s.Gateway, s.Admin).get("/who.csv?find=matrix&actions=account:user:read")
	rows, err := csv.NewReader(strings.NewReader(file.Body)).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%v: %s", err, file.Body)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("a cell is %q", cell)
			}
		}
	}
	file.want(t, 200, `'=HYPERLINK(""http://x.example"",""y"")`, "'@sum.example", "'+1@x.example", "'\t'-1+1")
}
