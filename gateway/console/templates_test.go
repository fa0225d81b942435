package console_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// forbiddenInPage finds what the content security policy forbids in a page: scripts and styles in it, handlers, and addresses of
// other hosts in elements that load something.
var forbiddenInPage = regexp.MustCompile(`(?i)<style|\sstyle\s*=|\son[a-z]+\s*=|javascript:|<script(?: type="module" src="\{\{asset "[a-z.]+"\}\}")?[^>]*>[^<]|` +
	`<script(?: type="module")?>|<iframe|<object|<embed|<base|(?:src|action)\s*=\s*"?(?:https?:)?//|@import|url\(`)

// TestTemplatesHaveNothingInline guarantees that no template has an inline script, style or handler, and loads nothing
// of another host.
func TestTemplatesHaveNothingInline(t *testing.T) {
	var files []string
	for _, pattern := range []string{"templates/*.html", "assets/*.svg", "assets/style/*.css"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, some...)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range forbiddenInPage.FindAllString(string(raw), -1) {
			t.Errorf("%s has %q", file, text)
		}
	}
}

// TestTheExpressionFindsWhatIsInline guarantees that the test above would see it.
func TestTheExpressionFindsWhatIsInline(t *testing.T) {
	for _, text := range []string{
		"<script>x</script>", `<script type="module">x</script>`, `<p style="x">`, "<style>", `<a onclick="x">`, "<b\nonerror=x>", `<a href="javascript:x">`,
		`<script src="//evil.example/x.js">`, `<img src="https://evil.example/x">`, `<form action="https://evil.example">`, "<iframe>", "<base href=/x>",
	} {
		if !forbiddenInPage.MatchString(text) {
			t.Error(text)
		}
	}
	for _, text := range []string{`<script type="module" src="{{asset "console.js"}}"></script>`, `<a href="/x" data-on="1">`, `<form method="post" action="/apply">`} {
		if forbiddenInPage.MatchString(text) {
			t.Error(text)
		}
	}
}
