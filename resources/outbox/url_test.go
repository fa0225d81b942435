package outbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestMailServerURL(t *testing.T) {
	for url, want := range map[string]string{
		"smtp://mail.example.com":                           "smtp://mail.example.com:587",
		"smtps://mail.example.com/":                         "smtps://mail.example.com:465",
		"smtp://u%40x:p%2F%3A@mail.example.com:2525":        "smtp://mail.example.com:2525",
		"smtp://relay:25?tls=none":                          "smtp://relay:25",
		"smtp://u:p@localhost:25?tls=none":                  "smtp://localhost:25",
		"smtp://u:p@[::1]:25?tls=none&from=a@b.example":     "smtp://[::1]:25",
		"smtps://u:p@h.example:1?helo=[127.0.0.1]":          "smtps://h.example:1",
		"smtp://10.0.0.1?from=a@b.example&helo=gw.example":  "smtp://10.0.0.1:587",
		"smtp://invite%40example.com:p@mail.example.com:25": "smtp://mail.example.com:25",
	} {
		d, err := outbox.NewSMTP(url, nil)
		if err != nil || d.String() != want {
			t.Errorf("%s: %v, %v", url, d, err)
		}
	}
}

// No error repeats any part of it a parser could take for a secret.
func TestRefusedURLKeepsItsSecret(t *testing.T) {
	for _, url := range []string{
		"http://u:S3CR3T@mail.example.com", "S3CR3T", "smtp:S3CR3T", "smtp://", "smtp://u:S3CR3T@",
		"smtp://u:S3CR3T%zz@mail.example.com", "smtp://u:S3CR3T/x@mail.example.com", "smtp://u:1#S3CR3T@mail.example.com",
		"smtp://u:1?S3CR3T@mail.example.com", "smtp://u:1/S3CR3T@mail.example.com", "smtp://u:S3CR3T@mail.example.com:0",
		"smtp://u:S3CR3T@mail.example.com:70000", "smtp://u:S3CR3T@mail.example.com/path", "smtp://u@mail.example.com",
		"smtp://:S3CR3T@mail.example.com", "smtp://u:S3CR3T%00@mail.example.com", "smtp://u:S3CR3T%0d%0a@mail.example.com",
		"smtp://u:S3CR3T@mail.example.com?tls=none", "smtp://u:S3CR3T@127.0.0.2?tls=none", "smtp://mail.example.com?tls=S3CR3T",
		"smtps://mail.example.com?tls=none", "smtp://mail.example.com?from=S3CR3T", "smtp://mail.example.com?from=a@b.example%0d%0aBcc:S3CR3T",
		"smtp://mail.example.com?from=A%20%3Ca@b.example%3E", "smtp://mail.example.com?helo=S3CR3T%0d%0aQUIT", "smtp://mail.example.com?helo=",
		"smtp://mail.example.com?tls=none&tls=none", "smtp://mail.example.com?TLS=none", "smtp://mail.example.com?S3CR3T=1", "smtp://mail.example.com?a;b",
		"smtp://u:S3CR3T@mail.example.com\r\n",
	} {
		d, err := outbox.NewSMTP(url, nil)
		if err == nil || d != nil {
			t.Errorf("%q was taken", url)
			continue
		}
		if strings.Contains(err.Error(), "S3CR3T") || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestPasswordIsNeverTold(t *testing.T) {
	const secret = "S3CR3T/p+ss" // base64 of user and password holds none of it
	const encoded = "AGFkYQBTM0NSM1QvcCtzcw=="
	s := newScene(t)
	server := (&mailServer{t: t, offers: []string{"AUTH PLAIN"}, script: func(line string) string {
		if strings.HasPrefix(line, "AUTH") {
			return "535 wrong: " + secret + " " + strings.TrimPrefix(line, "AUTH PLAIN ") + " S3CR3T%2Fp%2Bss UzNDUjNUL3Arc3M="
		}
		return ""
	}}).start("")
	d := must.Get(outbox.NewSMTP("smtp://ada:S3CR3T%2Fp%2Bss@"+server.address()+"?tls=none", nil))(t)
	m := s.invite("Acme", "bob@example.org")
	s.once(s.worker(d, nil), 1)
	if !server.heard("AUTH PLAIN " + encoded) {
		t.Fatal("the server did not hear the password, so it could not repeat it")
	}
	kept := s.read(m.ID)
	if kept == nil || !strings.Contains(kept.LastError, "535") {
		t.Fatalf("kept %+v", kept)
	}
	text := s.logs.String() + kept.LastError + fmt.Sprintf("%v %+v %#v %+v", d, d, d, *d) + deliver(t, d, "Acme", "bob@example.org").Error()
	for _, form := range []string{"S3CR3T", encoded, "UzNDUjNU"} {
		if strings.Contains(text, form) {
			t.Errorf("%q in %s", form, text)
		}
	}
}
