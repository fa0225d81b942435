package outbox_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/test/must"
)

// parsed is a letter as a mail program reads it.
type parsed struct {
	header     mail.Header
	subject    string
	text, html string
}

func parse(t *testing.T, raw string) parsed {
	t.Helper()
	msg, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	out := parsed{header: msg.Header}
	if out.subject, err = new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %q, %v", kind, err)
	}
	for parts := multipart.NewReader(msg.Body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if enc := part.Header.Get("Content-Transfer-Encoding"); enc != "quoted-printable" {
			t.Fatalf("encoding %q", enc)
		}
		body := must.Get(io.ReadAll(quotedprintable.NewReader(part)))(t)
		switch part.Header.Get("Content-Type") {
		case "text/plain; charset=UTF-8":
			out.text = string(body)
		case "text/html; charset=UTF-8":
			out.html = string(body)
		default:
			t.Fatalf("part %q", part.Header.Get("Content-Type"))
		}
	}
}

// deliver sends one invitation through the server at the URL.
func deliver(t *testing.T, d outbox.Deliverer, name, email string) error {
	t.Helper()
	return d.Deliver(t.Context(), message(name, email))
}

func message(name, email string) resources.Message {
	return resources.Message{
		ID: "01m", Kind: resources.MessageInvitation, State: resources.MessagePending, To: email,
		AccountID: "acct-1-v1", AccountName: name, CreatedAt: resources.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
	}
}

func TestInvitationArrivesOverSTARTTLSWithAuth(t *testing.T) {
	cert, pool := selfSigned(t)
	server := (&mailServer{t: t, certificate: cert, offers: []string{"STARTTLS", "AUTH PLAIN LOGIN", "SMTPUTF8", "8BITMIME"}}).start("")
	d := must.Get(outbox.NewSMTP("smtp://ada:p%40ss@"+server.address()+"?from=invite@example.com&helo=gate.example.com", pool))(t)
	must.Do(t, deliver(t, d, "Über & Söhne <GmbH>", "bob@example.org"))
	got := server.got()
	if len(got) != 1 {
		t.Fatalf("%d letters", len(got))
	}
	l := got[0]
	if !l.secure || l.user != "ada" || l.pass != "p@ss" || strings.Contains(l.source, "SMTPUTF8") ||
		!strings.HasPrefix(l.source, "invite@example.com") || len(l.recipients) != 1 || l.recipients[0] != "bob@example.org" {
		t.Errorf("envelope %+v", l)
	}
	if !server.heard("EHLO gate.example.com") || !server.heard("QUIT") {
		t.Error("no greeting by the name that was set, or no good-bye")
	}
	p := parse(t, l.data)
	if p.subject != "You are invited to Über & Söhne <GmbH>" {
		t.Errorf("subject %q", p.subject)
	}
	for name, want := range map[string]string{
		"From": "<invite@example.com>", "To": "<bob@example.org>", "Message-Id": "<01m@example.com>",
		"Auto-Submitted": "auto-generated", "Date": "Sun, 01 Mar 2026 12:00:00 +0000", "Mime-Version": "1.0", "User-Agent": "", "X-Mailer": "",
	} {
		if got := strings.Join(p.header[name], "|"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(p.text, "Über & Söhne <GmbH> (acct-1-v1)") || !strings.Contains(p.text, "bob@example.org") {
		t.Errorf("text:\n%s", p.text)
	}
	if !strings.Contains(p.html, "Über &amp; Söhne &lt;GmbH&gt;") || strings.Contains(p.html, "<GmbH>") {
		t.Errorf("html:\n%s", p.html)
	}
}

func TestInvitationArrivesOverTLS(t *testing.T) {
	cert, pool := selfSigned(t)
	server := (&mailServer{t: t, certificate: cert, implicit: true, offers: []string{"AUTH PLAIN"}}).start("")
	d := must.Get(outbox.NewSMTP("smtps://ada:pass@"+server.address(), pool))(t)
	must.Do(t, deliver(t, d, "Acme", "bob@example.org"))
	if got := server.got(); len(got) != 1 || !got[0].secure || got[0].pass != "pass" || got[0].source != "portcullis@localhost" {
		t.Errorf("got %+v", got)
	}
}

func TestNothingIsSentWithoutTrustworthyTLS(t *testing.T) {
	cert, pool := selfSigned(t)
	t.Run("no STARTTLS", func(t *testing.T) {
		server := (&mailServer{t: t, offers: []string{"AUTH PLAIN"}}).start("")
		d, _ := outbox.NewSMTP("smtp://ada:pass@"+server.address(), pool)
		if err := deliver(t, d, "Acme", "bob@example.org"); err == nil || outbox.IsPermanent(err) || !strings.Contains(err.Error(), "?tls=none") {
			t.Errorf("error %v", err)
		}
		if server.heard("AUTH") || server.heard("MAIL") {
			t.Error("it went on in the clear")
		}
		server.drain()
	})
	for name, implicit := range map[string]bool{"unknown certificate STARTTLS": false, "unknown certificate TLS": true} {
		t.Run(name, func(t *testing.T) {
			server := (&mailServer{t: t, certificate: cert, implicit: implicit, offers: []string{"STARTTLS", "AUTH PLAIN"}}).start("")
			d, _ := outbox.NewSMTP(map[bool]string{false: "smtp", true: "smtps"}[implicit]+"://ada:pass@"+server.address(), nil)
			if err := deliver(t, d, "Acme", "bob@example.org"); err == nil || outbox.IsPermanent(err) || strings.Contains(err.Error(), "tls=none") {
				t.Errorf("error %v", err)
			}
			if server.heard("AUTH") || len(server.got()) > 0 {
				t.Error("it trusted anybody")
			}
		})
	}
}

func TestLetterThatWasTakenIsDeliveredHoweverTheConversationEnds(t *testing.T) {
	for _, end := range []string{"hang up", "421 closing", "550 odd"} {
		server := (&mailServer{t: t, script: func(line string) string {
			if line == "QUIT" {
				return end
			}
			return ""
		}}).start("")
		if err := deliver(t, newScene(t).smtp(server), "Acme", "bob@example.org"); err != nil {
			t.Errorf("%s: %v", end, err)
		}
	}
}

func TestOnlyARefusedRecipientIsPermanent(t *testing.T) {
	for _, c := range []struct {
		place, say string
		permanent  bool
	}{
		{"RCPT", "550 5.1.1 no such user", true},
		{"RCPT", "553 bad name", true},
		{"RCPT", "450 later", false},
		{"RCPT", "452 too many", false},
		{"RCPT", "530 log in first", false},
		{"RCPT", "503 bad sequence", false},
		{"MAIL", "550 who are you", false},
		{"MAIL", "451 later", false},
		{"DATA", "554 no", false},
		{".", "554 looks like spam", false},
		{".", "451 later", false},
		{"EHLO", "550 no", false},
		{"greeting", "554 go away", false},
		{"greeting", "hang up", false},
		{"RCPT", "hang up", false},
		{".", "4", false},
	} {
		t.Run(c.place+" "+c.say, func(t *testing.T) {
			server := (&mailServer{t: t, script: func(line string) string {
				if strings.HasPrefix(line, c.place) || c.place == "EHLO" && strings.HasPrefix(line, "HELO") {
					return c.say
				}
				return ""
			}}).start("")
			err := deliver(t, newScene(t).smtp(server), "Acme", "bob@example.org")
			if err == nil || outbox.IsPermanent(err) != c.permanent {
				t.Errorf("error %v, permanent %t", err, outbox.IsPermanent(err))
			}
			if n := len(server.got()); n != 0 {
				t.Errorf("%d letters", n)
			}
		})
	}
}

func TestSilentServerIsLeftAtTheDeadline(t *testing.T) {
	for _, place := range []string{"greeting", "RCPT", "."} {
		never := make(chan struct{})
		server := (&mailServer{t: t, script: func(line string) string {
			if strings.HasPrefix(line, place) {
				<-never
			}
			return ""
		}}).start("")
		t.Cleanup(func() { close(never) }) // before the server's own end
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := newScene(t).smtp(server).Deliver(ctx, message("Acme", "bob@example.org"))
		if err == nil || !strings.Contains(err.Error(), "in time") || outbox.IsPermanent(err) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestTalkativeServerIsLeft(t *testing.T) {
	server := (&mailServer{t: t, script: func(line string) string {
		if strings.HasPrefix(line, "EHLO") {
			return "250-mail.test\r\n" + strings.Repeat("250-X\r\n", 300_000) + "250 HELP"
		}
		return ""
	}}).start("")
	if err := deliver(t, newScene(t).smtp(server), "Acme", "bob@example.org"); err == nil {
		t.Error("it listened to all of it")
	}
}
