package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// form holds the values of a form's fields and the API's problems with them.
type form struct {
	Values  url.Values
	Problem *apiError
	Preview *preview
}

// form reads the fields of the request.
func (p *page) form() form {
	_ = p.r.FormValue("") // parses the form
	return form{Values: p.r.Form}
}

// Value returns the value of a field.
func (f form) Value(name string) string { return f.Values.Get(name) }

// Has reports whether a field has a value among others.
func (f form) Has(name, value string) bool { return slices.Contains(f.Values[name], value) }

// Wrong returns the API's problem with a field that has one of these names in the API, or "".
func (f form) Wrong(names ...string) string {
	if f.Problem == nil {
		return ""
	}
	for _, detail := range f.Problem.Details {
		field, text, _ := strings.Cut(detail, ": ")
		field, _, _ = strings.Cut(field, "[") // a problem with an item belongs to the list's field
		if slices.Contains(names, field) {
			return text
		}
	}
	return ""
}

// refusalOf returns the error response with which a form is shown again. It returns nil for other errors and for an
// expired token.
func refusalOf(err error) *apiError {
	refused, ok := isRefusal(err, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusTooManyRequests, http.StatusServiceUnavailable)
	if !ok {
		return nil
	}
	return refused
}

// until parses a time (UTC) in the form that browsers send. It returns other text unchanged, and the API refuses it.
func (p *page) until(name string) string {
	text := p.field(name)
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if moment, err := time.Parse(layout, text); err == nil {
			return moment.Format("2006-01-02T15:04:05.000Z") // a resources.Time has no text for 1970
		}
	}
	return text
}

// fieldTime formats a time (UTC) as browsers want it in a field, "" for none.
func fieldTime(t resources.Time) string {
	if t == 0 {
		return ""
	}
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05")
}

// again shows the form of a call once more: after a refusal with the problem, without an error with its preview.
func (p *page) again(f form, err error, show func(status int, f form) error) error {
	if f.Problem = refusalOf(err); f.Problem != nil {
		return show(f.Problem.Status, f)
	}
	if err != nil {
		return err
	}
	return show(http.StatusOK, f)
}

// refused notes why a list can't be read, unless the form has a problem of its own. The error is any other one.
func (f *form) refused(err error, status int) (int, error) {
	refused := refusalOf(err)
	switch {
	case refused == nil:
		return status, err
	case f.Problem == nil:
		f.Problem, status = refused, refused.Status
	}
	return status, nil
}

// call is an API call that makes a change.
type call struct {
	method, path string
	header       http.Header
	body         any
}

// send makes a call.
func (p *page) send(c call) error {
	return p.api.call(p.r.Context(), c.method, c.path, c.header, c.body, nil)
}

// withForm returns the handler of a page with an empty form.
func withForm(show func(*page, int, form) error) func(*page) error {
	return func(p *page) error { return show(p, http.StatusOK, form{}) }
}

// inAccount returns the header that names the account.
func (p *page) inAccount() http.Header { return http.Header{"X-Account-Id": {p.session.AccountID}} }

// step is a change that the user confirms on a separate page.
type step struct {
	Title string
	// Question is the question of the page in parts, since each name is marked up separately.
	Question []string
	// Note describes the side effects of the change.
	Note string
	// Button is the label of the button, Back the page to which the user can return.
	Button, Back string
	// Danger is true if the change removes something.
	Danger bool
	// MayPreview is true if the page offers a preview.
	MayPreview bool
	// Path is the form's target: this page with its query.
	Path string
	Form form
	// Here is the address of the menu entry.
	Here string

	call call
	// preview holds changes with the same effect as the call. It is empty for a step without a preview.
	preview []previewChange
	// then is the page after the change, done the outcome that it confirms.
	then, done string
}

// confirm adds the handlers that show and make a step.
func confirm(steps map[string]func(*page) error, pattern string, plan func(*page) (*step, error)) {
	steps["GET "+pattern] = func(p *page) error {
		s, err := p.plan(plan)
		if err != nil {
			return err
		}
		return p.show(http.StatusOK, "confirm", s.Title, s.Here, s)
	}
	steps["POST "+pattern] = func(p *page) error {
		s, err := p.plan(plan)
		if err != nil {
			return err
		}
		if p.field("do") == doPreview {
			s.Form.Preview, err = p.preview(s.preview...)
		} else if err = p.send(s.call); err == nil {
			return p.done(s.then, s.done)
		}
		if s.Form.Problem = refusalOf(err); s.Form.Problem != nil {
			return p.show(s.Form.Problem.Status, "confirm", s.Title, s.Here, s)
		}
		if err != nil {
			return err
		}
		return p.show(http.StatusOK, "confirm", s.Title, s.Here, s)
	}
}

// plan prepares a step and fills in the fields that all steps have.
func (p *page) plan(plan func(*page) (*step, error)) (*step, error) {
	s, err := plan(p)
	if err != nil {
		return nil, err
	}
	s.Form, s.Path = p.form(), p.r.URL.RequestURI()
	if len(s.preview) > 0 {
		may, err := p.may("", explainAction)
		if err != nil {
			return nil, err
		}
		s.MayPreview = may[explainAction]
	}
	return s, nil
}

// linkOf joins the segments of a path of the console.
func linkOf(segments ...string) string {
	var out strings.Builder
	for _, segment := range segments {
		out.WriteString("/" + url.PathEscape(segment))
	}
	return out.String()
}
