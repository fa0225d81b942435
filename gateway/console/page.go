package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// page is one request of a user who is signed in.
type page struct {
	c       *Console
	w       http.ResponseWriter
	r       *http.Request
	session *resources.ConsoleSession
	secret  string
	api     *client
	me      profile
}

// profile is the user who is signed in.
type profile struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// Shown returns the user's name, or their id.
func (p profile) Shown() string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

// view is what every template sees.
type view struct {
	// Title is the page's, Here the address of its entry in the menu.
	Title, Here string
	// Theme is light, dark, or "" for the system's.
	Theme    string
	Me       *profile
	Account  string
	Operator bool
	// Path is where the form of colours returns to.
	Path string
	// Done is what the request before this one has done.
	Done string
	Data any
}

// enter asks the API who is signed in, so the gateway judges a user at each page. A suspended user sees none.
func (p *page) enter() error {
	var answer struct {
		User profile `json:"user"`
	}
	if err := p.api.get(p.r.Context(), p.account("users", p.session.UserID, "profile"), nil, &answer); err != nil {
		return err
	}
	p.me = answer.User
	return nil
}

// account returns a path of the API in the user's account.
func (p *page) account(segments ...string) string {
	out := "/api/v1/accounts/" + url.PathEscape(p.session.AccountID)
	for _, segment := range segments {
		out += "/" + url.PathEscape(segment)
	}
	return out
}

// field returns a field of the form or the query, without blanks around it.
func (p *page) field(name string) string { return strings.TrimSpace(p.r.FormValue(name)) }

// show renders a page. menuPath is the address of its entry in the menu.
func (p *page) show(status int, template, title, menuPath string, data any) error {
	p.c.templates.render(p.w, status, template, view{
		Title: title, Here: menuPath, Theme: themeOf(p.r), Me: &p.me, Account: p.session.AccountID, Operator: p.c.isOperator(p.session.UserID),
		Path: p.r.URL.RequestURI(), Done: doneText(p.r.URL.Query().Get("done")), Data: data,
	})
	return nil
}

// done sends the browser to a page that says what was done.
func (p *page) done(target, outcome string) error {
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	http.Redirect(p.w, p.r, target+separator+"done="+outcome, http.StatusSeeOther)
	return nil
}

// doneText is the sentence for what was done; a page shows no other text of its address.
func doneText(outcome string) string {
	return map[string]string{
		"applied":  "Applied.",
		"assigned": "The role is assigned.",
		"revoked":  "The role is revoked.",
		"saved":    "Saved.",
		"deleted":  "Deleted.",
		"added":    "Added.",
		"removed":  "Removed.",
		"invited":  "The invitation is on its way.",
		"undone":   "The change is undone.",
	}[outcome]
}

// fail answers an error: with the API's status and words, or as one of the console.
func (p *page) fail(err error) {
	said := refusal{RequestID: p.r.Header.Get("X-Request-ID")}
	refused, isAPI := errors.AsType[*apiError](err)
	switch {
	case errors.Is(err, errNoPage):
		said.Status, said.Message, said.Remedy = http.StatusNotFound, "There is no such page.", "The menu has all of them."
	case isAPI && refused.Status == http.StatusUnauthorized:
		p.ended()
		p.c.signInFirst(p.w, p.r)
		return
	case isAPI:
		said.Status, said.Message, said.Details = refused.Status, refused.Message, refused.Details
	default:
		said.Status, said.Message = http.StatusInternalServerError, "The console could not show this page."
		p.c.cfg.Log.Error("a page of the console failed", "path", p.r.URL.Path, "request_id", said.RequestID, "error", err.Error())
	}
	_ = p.show(said.Status, "error", http.StatusText(said.Status), "", said) // it always renders
}
