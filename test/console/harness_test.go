package console_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// The demo's users: Alice is an admin of the account, Bob reads a project, Carol is a member of the team.
const (
	demoAccount       = "acct-demo-v1"
	alice, bob, carol = "user-alice-v1", "user-bob-v1", "user-carol-v1"
)

// demo starts a gateway of the demo with a console.
func demo(t testing.TB, args ...string) *harness.Gateway {
	t.Helper()
	return harness.Start(t, append([]string{"--demo"}, args...)...)
}

// browser is a browser at the console: it keeps cookies, and follows no redirect.
type browser struct {
	t      testing.TB
	base   string
	client *http.Client
}

// newBrowser returns a browser without a session.
func newBrowser(t testing.TB, g *harness.Gateway) *browser {
	t.Helper()
	return newBrowserAt(t, g.ConsoleURL)
}

// newBrowserAt is newBrowser for the console at an address.
func newBrowserAt(t testing.TB, base string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{t, base, &http.Client{Jar: jar, CheckRedirect: stay, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// signIn returns a browser of a user, who has signed in with a link.
func signIn(t testing.TB, g *harness.Gateway, user string) *browser {
	t.Helper()
	b := newBrowser(t, g)
	if got := b.redeem(newCode(t, g, user)); got.Status != http.StatusOK {
		t.Fatalf("%s can't sign in: %d\n%s", user, got.Status, got.Body)
	}
	return b
}

// newCode has the gateway make the code of a link.
func newCode(t testing.TB, g *harness.Gateway, user string) string {
	t.Helper()
	status, body := askForCode(t, g, user, g.ServiceToken(t, resources.ServiceScopeConsole))
	var answer struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	return answer.Code
}

// askForCode asks the private listener for the code of a link.
func askForCode(t testing.TB, g *harness.Gateway, user, token string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.HealthURL+"/console/links?"+url.Values{"user": {user}}.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// answer is an answer of the console.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

// says reports whether the page has a text.
func (a answer) says(text string) bool { return strings.Contains(a.Body, text) }

// get opens a page.
func (b *browser) get(path string) answer {
	b.t.Helper()
	return b.do(b.request(http.MethodGet, path, nil))
}

// post sends a form as a page of the console does.
func (b *browser) post(path string, fields ...string) answer {
	b.t.Helper()
	return b.send(path, form(fields...))
}

// send is post with a form as it is read from a page.
func (b *browser) send(path string, fields url.Values) answer {
	b.t.Helper()
	req := b.request(http.MethodPost, path, fields)
	req.Header.Set("Origin", b.base)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(req)
}

// redeem signs in with a code.
func (b *browser) redeem(code string) answer {
	b.t.Helper()
	return b.post("/login/link", "code", code)
}

// form returns names and values as a form.
func form(fields ...string) url.Values {
	out := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		out.Add(fields[i], fields[i+1])
	}
	return out
}

// request returns a request of the console. A form is its body, unless that is nil.
func (b *browser) request(method, path string, form url.Values) *http.Request {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req
}

// do sends a request, and holds the answer to the headers that every one has.
func (b *browser) do(req *http.Request) answer {
	b.t.Helper()
	a := b.plain(req)
	wantHeaders(b.t, req, a)
	return a
}

// plain sends a request.
func (b *browser) plain(req *http.Request) answer {
	b.t.Helper()
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

// withSession gives the browser the session of another one.
func (b *browser) withSession(cookie *http.Cookie) *browser {
	b.t.Helper()
	base, err := url.Parse(b.base)
	if err != nil {
		b.t.Fatal(err)
	}
	b.client.Jar.SetCookies(base, []*http.Cookie{{Name: cookie.Name, Value: cookie.Value, Path: "/"}})
	return b
}

// session returns the session's cookie, nil for none.
func (b *browser) session() *http.Cookie {
	b.t.Helper()
	base, err := url.Parse(b.base)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, cookie := range b.client.Jar.Cookies(base) {
		if cookie.Name == "portcullis" {
			return cookie
		}
	}
	return nil
}

// hrefTo returns where the page's link with a text leads, "" for none.
func hrefTo(page, text string) string {
	before, _, ok := strings.Cut(page, `">`+text+"</a>")
	i := strings.LastIndex(before, `href="`)
	if !ok || i < 0 {
		return ""
	}
	return html.UnescapeString(before[i+len(`href="`):])
}
