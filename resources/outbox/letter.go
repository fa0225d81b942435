package outbox

import (
	"cmp"
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

// defaultSender is the local part of the default sender's address.
const defaultSender = "portcullis"

// writer is a writer of the letters of messages.
type writer struct {
	source string
	text   *text.Template
	html   *html.Template
}

// templateData holds the values of the templates.
type templateData struct{ To, AccountName, AccountID string }

// newWriter makes a writer of letters with that sender.
func newWriter(source string) (*writer, error) {
	if !resources.ValidEmail(source) {
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
	return &writer{source: source, text: plain, html: rich}, nil
}

// write writes the letter of a message. The error for an unknown kind is not permanent, since another
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
	data := templateData{To: m.To, AccountName: cleanLine(m.AccountName, maxName), AccountID: cleanLine(m.AccountID, maxName)}
	data.AccountName = cmp.Or(data.AccountName, data.AccountID)
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(letter.From(w.source), letter.To(m.To)); err != nil {
		return nil, Permanent(err)
	}
	letter.Subject("You are invited to " + unencoded(data.AccountName))
	letter.SetDateWithValue(time.UnixMilli(int64(m.CreatedAt)).UTC())
	letter.SetMessageIDWithValue(m.ID + w.source[strings.LastIndexByte(w.source, '@'):])
	letter.SetGenHeader("Auto-Submitted", "auto-generated")
	return letter, w.body(letter, m.Kind, data)
}

// body sets the body of the letter, as plain text and as HTML.
func (w *writer) body(letter *mail.Msg, kind string, data templateData) error {
	var plain, rich strings.Builder
	if err := w.text.ExecuteTemplate(&plain, kind+".txt", data); err != nil {
		return err
	}
	if err := w.html.ExecuteTemplate(&rich, kind+".html", data); err != nil {
		return err
	}
	letter.SetBodyString(mail.TypeTextPlain, plain.String())
	letter.AddAlternativeString(mail.TypeTextHTML, rich.String())
	return nil
}

// unencoded breaks each "=?" in a text, with which an encoded word begins (RFC 2047). The mail library
// sends ASCII as it is, so a name with an encoded word could add line breaks.
func unencoded(s string) string { return strings.ReplaceAll(s, "=?", "= ?") }
