package console_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// askBrowser is a browser without scripts that is signed in.
type askBrowser struct {
	base   string
	cookie *http.Cookie
}

// askShown is a page.
type askShown struct {
	Status int
	Header http.Header
	Text   string
}

// signInTo signs a user in with a link.
func signInTo(t *testing.T, g *harness.Gateway, user string) *askBrowser {
	t.Helper()
	b := &askBrowser{base: g.ConsoleURL}
	req, err := http.NewRequest(http.MethodPost, g.HealthURL+"/console/links?user="+user, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.ServiceToken(t, "console:sessions"))
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var link struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&link); err != nil || link.Code == "" {
		t.Fatalf("a link for %s: %d %v", user, resp.StatusCode, err)
	}
	answer := b.post(t, "/login/link", url.Values{"code": {link.Code}})
	cookies := (&http.Response{Header: answer.Header}).Cookies()
	if answer.Status != http.StatusOK || len(cookies) == 0 {
		t.Fatalf("sign-in of %s: %d %s", user, answer.Status, answer.Text)
	}
	b.cookie = cookies[0]
	return b
}

func (b *askBrowser) get(t *testing.T, path string) askShown {
	t.Helper()
	return b.send(t, http.MethodGet, path, nil)
}

func (b *askBrowser) post(t *testing.T, path string, form url.Values) askShown {
	t.Helper()
	return b.send(t, http.MethodPost, path, form)
}

func (b *askBrowser) send(t *testing.T, method, path string, form url.Values) askShown {
	t.Helper()
	req, err := http.NewRequest(method, b.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.base)
	}
	if b.cookie != nil {
		req.AddCookie(b.cookie)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return askShown{resp.StatusCode, resp.Header, string(text)}
}

// want fails unless the page has the status and all of the texts.
func (s askShown) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	if s.Status != status {
		t.Errorf("status %d, want %d:\n%s", s.Status, status, s.Text)
	}
	for _, text := range texts {
		if !strings.Contains(s.Text, text) {
			t.Errorf("the page does not say %q:\n%s", text, s.Text)
		}
	}
}

// lacks fails if the page has one of the texts.
func (s askShown) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(s.Text, text) {
			t.Errorf("the page says %q:\n%s", text, s.Text)
		}
	}
}

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// links returns the addresses on the page that begin so.
func (s askShown) links(prefix string) (out []string) {
	for _, m := range hrefs.FindAllStringSubmatch(s.Text, -1) {
		if link := html.UnescapeString(m[1]); strings.HasPrefix(link, prefix) {
			out = append(out, link)
		}
	}
	return out
}

var hiddens = regexp.MustCompile(`<input type="(?:hidden|date)" name="([^"]*)" value="([^"]*)"`)

// form returns what the form of the page sends, as it is.
func (s askShown) form() url.Values {
	out := url.Values{}
	for _, m := range hiddens.FindAllStringSubmatch(s.Text, -1) {
		if m[1] != "return_to" && m[1] != "all" {
			out.Set(m[1], html.UnescapeString(m[2]))
		}
	}
	return out
}
