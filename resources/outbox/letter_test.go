package outbox_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestAccountNameAddsNothingToTheHeader(t *testing.T) {
	s := newScene(t)
	server := (&mailServer{t: t}).start("")
	d := s.smtp(server)
	for _, c := range []struct{ title, name, subject string }{
		{"header", "Acme\r\nBcc: eve@example.com", "Acme Bcc: eve@example.com"},
		{"bare line feed", "Acme\nX-Evil: 1", "Acme X-Evil: 1"},
		{"bare carriage return", "Acme\rX-Evil: 1", "Acme X-Evil: 1"},
		{"body", "Acme\r\n\r\n<b>pay</b>", "Acme <b>pay</b>"},
		{"end of data", "Acme\r\n.\r\nMAIL FROM:<eve@example.com>", "Acme . MAIL FROM:<eve@example.com>"},
		{"other line ends", "a\u0085b\u2028c\u2029d\ve\ff", "a b c d e f"},
		{"control", "A\x00c\x1b[31mme\x7f", "Ac[31mme"},
		{"direction", "Acme\u202egpj.exe\u2066", "Acmegpj.exe"},
		{"encoded word", "=?utf-8?q?Acme=0D=0ABcc:_eve@example.com?=", "= ?utf-8?q?Acme=0D=0ABcc:_eve@example.com?="},
		{"encoded word twice", "==??utf-8?q?x?=", "== ??utf-8?q?x?="},
		{"empty", " \r\n\t", "acct-1-v1"},
		{"white space to fold at", "a" + strings.Repeat(" ", 90) + strings.Repeat("b", 74) + " c", "a " + strings.Repeat("b", 74) + " c"},
		{"invalid", "Ac\xffme", "Ac\uFFFDme"},
		{"long", strings.Repeat("ä", 500), strings.Repeat("ä", 99) + "…"},
		{"not too long", strings.Repeat("x", 100), strings.Repeat("x", 100)},
	} {
		t.Run(c.title, func(t *testing.T) {
			must.Do(t, deliver(t, d, c.name, "bob@example.org"))
			got := server.got()
			l := got[len(got)-1]
			p := parse(t, l.data)
			if p.subject != "You are invited to "+c.subject {
				t.Errorf("subject %q", p.subject)
			}
			if len(l.recipients) != 1 || len(p.header) != 8 {
				t.Errorf("recipients %q, header %v", l.recipients, p.header)
			}
			for _, line := range strings.Split(l.data, "\r\n") {
				if len(line) > 998 || strings.ContainsFunc(line, unicode.IsControl) {
					t.Errorf("line %q", line)
				}
			}
			if first, _, _ := strings.Cut(p.text, "Sign in"); strings.Count(first, "\n") != 4 || !utf8.ValidString(p.text) {
				t.Errorf("text %q", p.text)
			}
		})
	}
}

func TestReceiverIsOneBareAddress(t *testing.T) {
	server := (&mailServer{t: t}).start("")
	d := newScene(t).smtp(server)
	for _, target := range []string{
		"", "bob", "bob@example.org\r\nBcc: eve@example.com", "bob@example.org,eve@example.com", "bob@example.org eve@example.com",
		"Bob <bob@example.org>", "bob@example.org>\r\nRCPT TO:<eve@example.com", "\"a b\"@example.org", "böb@example.org", "bob@example.org\n",
	} {
		if err := deliver(t, d, "Acme", target); !outbox.IsPermanent(err) {
			t.Errorf("%q: %v", target, err)
		}
	}
	if server.heard("EHLO") {
		t.Error("the server was asked")
	}
}

func TestMessageOfANewerVersionIsNotGivenUp(t *testing.T) {
	m := message("Acme", "bob@example.org")
	m.Kind = "farewell"
	if err := newScene(t).smtp((&mailServer{t: t}).start("")).Deliver(t.Context(), m); err == nil || outbox.IsPermanent(err) {
		t.Error(err)
	}
}
