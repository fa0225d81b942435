package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestALinkSignsInOnce guarantees one session for a code, also when two browsers press its button at the same time, and
// that opening the page of the link redeems nothing.
func TestALinkSignsInOnce(t *testing.T) {
	t.Parallel()
	g := demo(t)
	code := newCode(t, g, alice)
	for range 2 { // a program that looks at links
		if got := newBrowser(t, g).get("/login/link?code=" + code); got.Status != http.StatusOK || !got.says(code) || got.Header.Get("Set-Cookie") != "" {
			t.Fatalf("%d\n%s", got.Status, got.Body)
		}
	}
	browsers, statuses := []*browser{newBrowser(t, g), newBrowser(t, g), newBrowser(t, g)}, make([]int, 3)
	var wait sync.WaitGroup
	for i, b := range browsers {
		wait.Go(func() { statuses[i] = b.redeem(code).Status })
	}
	wait.Wait()
	won := 0
	for i, b := range browsers {
		page := b.get("/ask")
		switch {
		case statuses[i] == http.StatusOK && page.Status == http.StatusOK && page.says("Alice"):
			won++
		case statuses[i] != http.StatusForbidden || page.Status != http.StatusSeeOther || b.session() != nil:
			t.Errorf("browser %d: %d, then %d, %v", i, statuses[i], page.Status, b.session())
		}
	}
	if won != 1 {
		t.Errorf("%d browsers were signed in: %v", won, statuses)
	}
	if got := newBrowser(t, g).redeem(code); got.Status != http.StatusForbidden || !got.says("has been used") {
		t.Errorf("again: %d", got.Status)
	}
}

// TestALinkOutlivesARotation guarantees that a link signs in while the file has a new master key and the gateway waits for
// its restart: the gateway takes no token of the new key yet.
func TestALinkOutlivesARotation(t *testing.T) {
	t.Parallel()
	g := demo(t)
	code := newCode(t, g, alice)
	harness.Command(t, nil, "keys", "rotate", "--data-dir", g.DataDir)
	b := newBrowser(t, g)
	if got := b.redeem(code); got.Status != http.StatusOK {
		t.Errorf("%d\n%s", got.Status, got.Body)
	}
}

// TestTheDemoPrintsHowToSignIn guarantees that its link signs in, and another one from the command beside it.
func TestTheDemoPrintsHowToSignIn(t *testing.T) {
	t.Parallel()
	g := demo(t)
	var command, link string
	harness.Soon(t, "the demo prints a link", func() bool {
		_, rest, _ := strings.Cut(g.Stdout.String(), "`")
		command, rest, _ = strings.Cut(rest, "`")
		link, _, _ = strings.Cut(rest[strings.IndexByte(rest, '\n')+1:], "\n")
		return strings.Contains(link, "/login/link?code=")
	})
	made := harness.Command(t, nil, strings.Fields(command)[1:]...)
	for _, one := range []string{strings.TrimPrefix(link, "#   "), strings.TrimSpace(made.Stdout)} {
		code, ok := strings.CutPrefix(one, g.ConsoleURL+"/login/link?code=")
		if got := newBrowser(t, g).redeem(code); !ok || got.Status != http.StatusOK {
			t.Errorf("%q signs nobody in: %+v", one, made)
		}
	}
}

// TestCodesThatNobodyMade guarantees that no other text signs in.
func TestCodesThatNobodyMade(t *testing.T) {
	t.Parallel()
	g := demo(t)
	code := newCode(t, g, alice)
	for _, other := range []string{"", "x", code + "A", code[1:], harness.OtherEnding(code), " " + code, strings.ToLower(code), g.UserToken(t, alice)} {
		b := newBrowser(t, g)
		if got := b.redeem(other); got.Status != http.StatusForbidden || b.session() != nil || got.says("portcullis=") {
			t.Errorf("%q: %d", other, got.Status)
		}
	}
	// Only the form redeems it.
	b := newBrowser(t, g)
	if got := b.get("/login/link?code=" + code + "&redeem=1"); got.Status != http.StatusOK || b.session() != nil {
		t.Errorf("GET: %d, %v", got.Status, b.session())
	}
	if got := b.redeem(code); got.Status != http.StatusOK {
		t.Errorf("the code itself: %d", got.Status)
	}
}

// TestAnotherUsersLinkEndsTheSession guarantees that a browser has the session of its last sign-in alone.
func TestAnotherUsersLinkEndsTheSession(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := signIn(t, g, alice)
	former := b.session().Value
	if got := b.redeem(newCode(t, g, bob)); got.Status != http.StatusOK {
		t.Fatal(got.Status)
	}
	if got := b.get("/ask"); !got.says(">Bob<") || got.says(">Alice<") || b.session().Value == former {
		t.Error("the browser still has the former session")
	}
	thief := newBrowser(t, g)
	thief.use(former)
	if got := thief.get("/ask"); got.Status != http.StatusSeeOther {
		t.Errorf("the former session: %d", got.Status)
	}
	// A link that is refused ends no session.
	if got := b.redeem("none"); got.Status != http.StatusForbidden || b.get("/ask").Status != http.StatusOK {
		t.Errorf("%d", got.Status)
	}
}

// use sets the session's cookie, one or several.
func (b *browser) use(values ...string) {
	b.t.Helper()
	base, err := url.Parse(b.base)
	if err != nil {
		b.t.Fatal(err)
	}
	for i, value := range values {
		path := map[bool]string{true: "/", false: "/ask"}[i == 0]
		b.client.Jar.SetCookies(base, []*http.Cookie{{Name: "portcullis", Value: value, Path: path}})
	}
}

// TestCookies guarantees their attributes, and refuses a cookie that is doubled or foreign.
func TestCookies(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := newBrowser(t, g)
	got := b.redeem(newCode(t, g, alice))
	lines := got.Header.Values("Set-Cookie")
	if len(lines) != 1 {
		t.Fatal(lines)
	}
	for _, part := range []string{"portcullis=", "; Path=/", "; Max-Age=43200", "; HttpOnly", "; SameSite=Strict"} {
		if !strings.Contains(lines[0], part) {
			t.Errorf("%s lacks %q", lines[0], part)
		}
	}
	if strings.Contains(lines[0], "Domain") || got.says(b.session().Value) {
		t.Error("the secret is in the page, or the cookie is of a whole domain")
	}
	secret := b.session().Value
	for name, values := range map[string][]string{
		"two of them": {secret, "other"}, "two alike": {secret, secret}, "another": {"x"}, "its hash": {harness.OtherEnding(secret)}, "a token": {g.UserToken(t, alice)},
	} {
		other := newBrowser(t, g)
		other.use(values...)
		if got := other.get("/ask"); got.Status != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/login?return_to=") {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	// A bearer token is not a session.
	req := newBrowser(t, g).request("GET", "/ask", nil)
	req.Header.Set("Authorization", "Bearer "+g.UserToken(t, alice))
	if got := newBrowser(t, g).do(req); got.Status != http.StatusSeeOther {
		t.Errorf("a bearer token: %d", got.Status)
	}
}

// TestSignOut guarantees that a copy of the cookie is worth nothing afterwards.
func TestSignOut(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b, second := signIn(t, g, alice), signIn(t, g, alice)
	copied := newBrowser(t, g)
	copied.use(b.session().Value)
	if got := copied.get("/ask"); got.Status != http.StatusOK {
		t.Fatal(got.Status)
	}
	got := b.post("/logout")
	if got.Status != http.StatusOK || got.Header.Get("Clear-Site-Data") != `"cache", "storage"` || b.session() != nil {
		t.Errorf("%d, %q, %v", got.Status, got.Header.Get("Clear-Site-Data"), b.session())
	}
	if copied.get("/ask").Status != http.StatusSeeOther || second.get("/ask").Status != http.StatusOK {
		t.Error("a sign-out ends this session, and no other")
	}
	third, other := signIn(t, g, alice), signIn(t, g, bob)
	if got := third.post("/logout", "all", "1"); got.Status != http.StatusOK {
		t.Error(got.Status)
	}
	if second.get("/ask").Status != http.StatusSeeOther || third.get("/ask").Status != http.StatusSeeOther || other.get("/ask").Status != http.StatusOK {
		t.Error("a sign-out everywhere ends all sessions of the user, and no other's")
	}
}

// TestWhoGetsALink guarantees that only a service with the scope makes links, for members of an account.
func TestWhoGetsALink(t *testing.T) {
	t.Parallel()
	g := demo(t)
	service := g.ServiceToken(t, resources.ServiceScopeConsole)
	for _, c := range []struct {
		name, user, token string
		want              int
	}{
		{"no token", alice, "", http.StatusUnauthorized},
		{"a user", alice, g.UserToken(t, alice), http.StatusForbidden},
		{"another scope", alice, g.ServiceToken(t, resources.ServiceScopeAdmin), http.StatusForbidden},
		{"a token that is not one", alice, harness.OtherEnding(service), http.StatusUnauthorized},
		{"an unknown user", "user-none-v1", service, http.StatusNotFound},
		{"no user", "", service, http.StatusConflict},
		{"a user with a line break", "a\nb", service, http.StatusConflict},
	} {
		if status, body := askForCode(t, g, c.user, c.token); status != c.want || strings.Contains(body, `"code"`) {
			t.Errorf("%s: %d %s, want %d", c.name, status, body, c.want)
		}
	}
}

// TestNoCodeInTheLog guarantees that neither the code nor the session's secret is in a line of the log, at debug level.
func TestNoCodeInTheLog(t *testing.T) {
	t.Parallel()
	g := demo(t)
	code := newCode(t, g, alice)
	b := newBrowser(t, g)
	b.get("/login/link?code=" + code)
	b.redeem(code)
	b.redeem(code)
	b.get("/ask")
	for name, secret := range map[string]string{"code": code, "session": b.session().Value} {
		if strings.Contains(g.Stderr.String(), secret) {
			t.Errorf("the log has the %s", name)
		}
	}
}

// TestASuspendedUserIsOut guarantees that the request after a suspension or a removal finds no session, also with a
// cookie from before. A new status brings no session back.
func TestASuspendedUserIsOut(t *testing.T) {
	t.Parallel()
	g := demo(t)
	admin := g.UserToken(t, alice)
	b, unasked := signIn(t, g, bob), signIn(t, g, bob)
	call := func(method, path, body string) {
		t.Helper()
		if r := harness.Call(t, method, g.URL+path, admin, body, "x-account-id", demoAccount); r.Status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, r.Status, r.Raw)
		}
	}
	code := newCode(t, g, bob)
	call("PUT", "/api/v1/users/"+bob, `{"status": "SUSPENDED"}`)
	if got := b.get("/ask"); got.Status != http.StatusSeeOther {
		t.Errorf("suspended: %d", got.Status)
	}
	if got := newBrowser(t, g).redeem(code); got.Status != http.StatusForbidden {
		t.Errorf("a link from before: %d", got.Status)
	}
	call("PUT", "/api/v1/users/"+bob, `{"status": "ACTIVE"}`)
	for name, former := range map[string]*browser{"asked": b, "not asked": unasked} {
		if got := former.get("/ask"); got.Status != http.StatusSeeOther {
			t.Errorf("active again, with a session that was %s while suspended: %d", name, got.Status)
		}
	}
	b = signIn(t, g, bob)
	call("DELETE", "/api/v1/accounts/"+demoAccount+"/users/"+bob, "")
	if got := b.get("/ask"); got.Status != http.StatusSeeOther {
		t.Errorf("removed: %d", got.Status)
	}
}
