package outbox

import (
	"embed"
	"errors"
	"fmt"
	html "html/template"
	"strings"
	text "text/template"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/portcullis-authz/portcullis/resources"
)

//go:embed templates
var templates embed.FS

// defaultSender is the mailbox before the @ where no sender was set.
const defaultSender = "portcullis"

// writer makes letters of messages.
type writer struct {
	from string
	text *text.Template
	html *html.Template
}

// words are what a template can say.
type words struct{ To, AccountName, AccountID string }

func newWriter(from string) (*writer, error) {
	if !resources.ValidEmail(from) {
		return nil, errors.New("the sender " + resources.EmailRule)
	}
	plain, err := text.ParseFS(templates, "templates/*.txt")
	if err != nil {
		return nil, err
	}
	rich, err := html.ParseFS(templates, "templates/*.html")
	if err != nil {
		return nil, err
	}
	return &writer{from: from, text: plain, html: rich}, nil
}

// write makes the letter. A kind that is not known fails, but not for good: another
// replica may run a newer version that knows it.
func (w *writer) write(m resources.Message) (*mail.Msg, error) {
	if m.Kind != resources.MessageInvitation {
		return nil, fmt.Errorf("messages of the kind %q can't be written by this version", m.Kind)
	}
	if !resources.ValidEmail(m.To) {
		return nil, Permanent(errors.New("the receiver " + resources.EmailRule))
	}
	if !resources.ValidID(m.ID) || strings.Contains(m.ID, "@") {
		return nil, Permanent(errors.New("the message's id can't be part of a Message-ID"))
	}
	say := words{To: m.To, AccountName: cleanLine(m.AccountName, maxName), AccountID: cleanLine(m.AccountID, maxName)}
	if say.AccountName == "" {
		say.AccountName = say.AccountID
	}
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(letter.From(w.from), letter.To(m.To)); err != nil {
		return nil, Permanent(err)
	}
	letter.Subject("You are invited to " + unencoded(say.AccountName))
	letter.SetDateWithValue(time.UnixMilli(int64(m.CreatedAt)).UTC())
	letter.SetMessageIDWithValue(m.ID + w.from[strings.LastIndexByte(w.from, '@'):])
	letter.SetGenHeader("Auto-Submitted", "auto-generated")
	return letter, w.body(letter, m.Kind, say)
}

func (w *writer) body(letter *mail.Msg, kind string, say words) error {
	var plain, rich strings.Builder
	if err := w.text.ExecuteTemplate(&plain, kind+".txt", say); err != nil {
		return err
	}
	if err := w.html.ExecuteTemplate(&rich, kind+".html", say); err != nil {
		return err
	}
	letter.SetBodyString(mail.TypeTextPlain, plain.String())
	letter.AddAlternativeString(mail.TypeTextHTML, rich.String())
	return nil
}

// unencoded breaks what a reader would take for an encoded word (RFC 2047) in a text
// that has none: the library passes ASCII through, so a name could otherwise bring in
// decoded line breaks.
func unencoded(s string) string { return strings.ReplaceAll(s, "=?", "= ?") }
