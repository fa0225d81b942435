package console_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// want fails unless the page has the status and all of the texts.
func (a answer) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("status %d, want %d:\n%s", a.Status, status, a.Body)
	}
	for _, text := range texts {
		if !strings.Contains(a.Body, text) {
			t.Errorf("the page does not say %q:\n%s", text, a.Body)
		}
	}
}

// lacks fails if the page has one of the texts.
func (a answer) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			t.Errorf("the page says %q:\n%s", text, a.Body)
		}
	}
}

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// links returns the addresses on the page that begin so.
func (a answer) links(prefix string) (out []string) {
	for _, m := range hrefs.FindAllStringSubmatch(a.Body, -1) {
		if link := html.UnescapeString(m[1]); strings.HasPrefix(link, prefix) {
			out = append(out, link)
		}
	}
	return out
}

var hiddens = regexp.MustCompile(`<input type="(?:hidden|date)" name="([^"]*)" value="([^"]*)"`)

// form returns what the form of the page sends, as it is.
func (a answer) form() url.Values {
	out := url.Values{}
	for _, m := range hiddens.FindAllStringSubmatch(a.Body, -1) {
		if m[1] != "return_to" && m[1] != "all" {
			out.Set(m[1], html.UnescapeString(m[2]))
		}
	}
	return out
}
