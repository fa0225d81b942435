package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// form is a form with the values of its fields, and what the API says about them.
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

// Wrong returns what the API says about a field that it knows by one of these names, "" for nothing.
func (f form) Wrong(names ...string) string {
	if f.Problem == nil {
		return ""
	}
	for _, detail := range f.Problem.Details {
		field, text, _ := strings.Cut(detail, ": ")
		field, _, _ = strings.Cut(field, "[") // an item of a list is the list's
		if slices.Contains(names, field) {
			return text
		}
	}
	return ""
}

// refusalOf returns the API's refusal of a form's call, with which the form is shown again. It is nil for another error
// and for a token that is over.
func refusalOf(err error) *apiError {
	refused, ok := isRefusal(err, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusTooManyRequests, http.StatusServiceUnavailable)
	if !ok {
		return nil
	}
	return refused
}

// until reads a moment in UTC as a browser's field writes it. Other text is for the API to refuse.
func (p *page) until(name string) string {
	text := p.field(name)
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if moment, err := time.Parse(layout, text); err == nil {
			return resources.At(moment).String()
		}
	}
	return text
}

// call is a call of the API that changes something.
type call struct {
	method, path string
	header       http.Header
	body         any
}

// send makes a call.
func (p *page) send(c call) error {
	return p.api.call(p.r.Context(), c.method, c.path, c.header, c.body, nil)
}

// inAccount is the header of the calls that name the account there.
func (p *page) inAccount() http.Header { return http.Header{"X-Account-Id": {p.session.AccountID}} }

// step is a change that a page of its own confirms.
type step struct {
	Title string
	// Question is what the page asks, in parts: the names of people and things are parts of their own.
	Question []string
	// Note says what else the change does.
	Note string
	// Button is the text of the button, and Back the page for a change of mind.
	Button, Back string
	// Danger is that the change takes something away.
	Danger bool
	// MayPreview is that the page offers a preview.
	MayPreview bool
	// Path is where the form goes: this page with its query.
	Path string
	Form form
	// Here is the entry in the menu.
	Here string

	call call
	// preview are changes that take and give what the call does, nothing for a step without a preview.
	preview []previewChange
	// then is the page after the change, done what it says there.
	then, done string
}

// confirm adds the page of a step and the form that makes it.
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

// plan fills in what all steps have.
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

// linkOf returns the address of a page of the console from the segments of its path.
func linkOf(segments ...string) string {
	var out strings.Builder
	for _, segment := range segments {
		out.WriteString("/" + url.PathEscape(segment))
	}
	return out.String()
}
