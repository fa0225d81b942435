package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// page is one request of a signed-in user.
type page struct {
	c       *Console
	w       http.ResponseWriter
	r       *http.Request
	session *resources.ConsoleSession
	secret  string
	api     *client
	me      profile
}

// profile is the signed-in user.
type profile struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// Shown returns the user's name or, without a name, the id.
func (p profile) Shown() string { return cmp.Or(p.Name, p.ID) }

// view is the data of the layout.
type view struct {
	// Title is the page's title, Here the address of its menu entry.
	Title, Here string
	// Theme is light, dark, or "" for the system's setting.
	Theme    string
	Me       *profile
	Account  string
	Operator bool
	// Path is the address to which the theme form returns.
	Path string
	// Done is the sentence for the change that led to this page, or "".
	Done string
	Data any
}

// enter reads the user's profile from the API. The gateway therefore judges the user at each page and refuses a
// suspended one.
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

// account returns an API path in the user's account.
func (p *page) account(segments ...string) string {
	out := "/api/v1/accounts/" + url.PathEscape(p.session.AccountID)
	for _, segment := range segments {
		out += "/" + url.PathEscape(segment)
	}
	return out
}

// field returns a field of the form or the query, trimmed.
func (p *page) field(name string) string { return strings.TrimSpace(p.r.FormValue(name)) }

// show renders a page. menuPath is the address of its menu entry.
func (p *page) show(status int, template, title, menuPath string, data any) error {
	p.c.templates.render(p.w, status, template, view{
		Title: title, Here: menuPath, Theme: themeOf(p.r), Me: &p.me, Account: p.session.AccountID, Operator: p.c.isOperator(p.session.UserID),
		Path: p.r.URL.RequestURI(), Done: doneText(p.r.URL.Query().Get("done")), Data: data,
	})
	return nil
}

// done redirects the browser to a page that confirms the change.
func (p *page) done(target, outcome string) error {
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	http.Redirect(p.w, p.r, target+separator+"done="+outcome, http.StatusSeeOther)
	return nil
}

// doneText returns the sentence of an outcome. A page shows no other text from its address.
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
		"ended":    "The delegation is over.",
		"approved": "Approved. Unless the agent waits for this, have it call again.",
		"declined": "Denied.",
	}[outcome]
}

// fail renders an error. An error response of the API keeps its status and message.
func (p *page) fail(err error) {
	if p.refusedToken(err) {
		return
	}
	said := p.refusalFor(err)
	_ = p.show(said.Status, "error", http.StatusText(said.Status), "", said) // it always renders
}

// refusedToken ends the session and redirects to the sign-in page if the API rejects the token. It reports whether it did.
func (p *page) refusedToken(err error) bool {
	_, refused := isRefusal(err, http.StatusUnauthorized)
	if refused {
		p.ended()
		p.c.signInFirst(p.w, p.r)
	}
	return refused
}

// refusalFor returns the data of the page about an error, and logs faults.
func (p *page) refusalFor(err error) refusal {
	said := refusal{RequestID: p.r.Header.Get("X-Request-ID")}
	refused, isAPI := errors.AsType[*apiError](err)
	switch {
	case errors.Is(err, errNoPage):
		said.Status, said.Message, said.Remedy = http.StatusNotFound, "This page does not exist.", "Choose a page from the menu."
		return said
	case isAPI:
		said.Status, said.Message, said.Details = refused.Status, refused.Message, refused.Details
		return said
	case errors.Is(err, errNoAnswer):
		said.Status, said.Message, said.Remedy = http.StatusServiceUnavailable, "The gateway does not answer.", "Try again in a moment."
		if p.r.Method == http.MethodPost {
			said.Remedy = "The change may have been made. Check before you send it again."
		}
	default:
		said.Status, said.Message = http.StatusInternalServerError, "The console could not show this page."
	}
	p.c.cfg.Log.Error("a console page failed", "path", p.r.URL.Path, "request_id", said.RequestID, "error", err.Error())
	return said
}
