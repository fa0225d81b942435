package outbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/test/must"
)

// A letter has its headers and its two parts for every account name, and the subject is not empty.
func FuzzAccountName(f *testing.F) {
	for _, seed := range []string{
		"Acme", "a\r\nBcc: b@c.example", "=?utf-8?q?=0D=0A?=", strings.Repeat(" x", 80), strings.Repeat("x", 80) + " " + strings.Repeat("y", 80),
		"\r\n.\r\n", "\u202e\u2028", "<script>", "{{.To}}", "\xff\xfe", strings.Repeat("ä ", 60), "\"", "=\r\n=", "--boundary",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		dir := t.TempDir()
		folder := must.Get(outbox.NewFolder(dir, newLog(&logBuffer{})))(t)
		must.Do(t, folder.Deliver(t.Context(), message(name, "bob@example.org")))
		raw := must.Get(os.ReadFile(filepath.Join(dir, "01m.eml")))(t)
		p := parse(t, string(raw))
		if len(p.header) != 8 || p.text == "" || p.html == "" || strings.Contains(p.html, "<script") {
			t.Errorf("%q made\n%s", name, raw)
		}
		if said, ok := strings.CutPrefix(p.subject, "You are invited to "); !ok || strings.TrimSpace(said) == "" || strings.ContainsAny(said, "\r\n\x00") {
			t.Errorf("%q made the subject %q", name, p.subject)
		}
		for _, line := range strings.SplitAfter(string(raw), "\n") {
			if len(line) > 998 || line != "" && !strings.HasSuffix(line, "\r\n") {
				t.Errorf("%q made the line %q", name, line)
			}
		}
	})
}

// A URL is refused, or names a server; its password stands in neither text.
func FuzzMailServerURL(f *testing.F) {
	for _, seed := range []string{"@mail.example.com", "@h:25?tls=none", "/@h", "#@h?from=a@b.c", "%zz@h", "?@h", "@[::1]:1?helo=x", "@h?a=%0d", "@[x]:1", "@[fe80::1%25x]", ":"} {
		f.Add("smtp", seed)
		f.Add("smtps", seed)
	}
	f.Fuzz(func(t *testing.T, scheme, rest string) {
		const secret = "S3CR3T"
		d, err := outbox.NewSMTP(scheme+"://user:"+secret+rest, nil)
		said := fmt.Sprint(d, err)
		if strings.Contains(said, secret) || strings.ContainsAny(said, "\r\n") {
			t.Errorf("%q: %s", rest, said)
		}
	})
}
