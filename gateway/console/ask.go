package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/portcullis-authz/portcullis/resources"
)

// askPages returns the handlers of the Ask page, by pattern.
func askPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /ask": ask, "GET /apply": confirmFix, "POST /apply": applyFix}
}

// question asks whether a user may do an action in a place: the account, a project, or a resource in either.
type question struct{ User, Action, Project, Resource string }

func (p *page) question() question {
	return question{User: p.field("user"), Action: p.field("action"), Project: p.field("project"), Resource: strings.Trim(p.field("resource"), "/")}
}

// Link returns the address of a page about the question, with further fields as pairs of name and value.
func (q question) Link(page string, more ...string) string {
	values := given(append([]string{"user", q.User, "action", q.Action, "project", q.Project, "resource", q.Resource}, more...)...)
	if len(values) == 0 {
		return page
	}
	return page + "?" + values.Encode()
}

// As returns the question about another user.
func (q question) As(user string) question {
	q.User = user
	return q
}

// path returns the place in the form that follows `authorize/`. The API refuses a malformed part.
func (q question) path(account string) string {
	out := "accounts/" + account
	if q.Project != "" {
		out += "/projects/" + q.Project
	}
	if q.Resource != "" {
		out += "/" + q.Resource
	}
	return out
}

// explain returns the API's explanation of a verdict.
func (p *page) explain(q question) (*resources.Explanation, error) {
	target := "/api/v1/explain/" + q.path(p.session.AccountID)
	if e := q.unsendable(target); e != nil {
		return nil, e
	}
	header := http.Header{"X-User-Id": {q.User}, "X-Account-Id": {p.session.AccountID}, "X-Action": {q.Action}}
	var out resources.Explanation
	if err := p.api.call(p.r.Context(), http.MethodPost, target, header, nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// unsendable returns an error, in the API's form, for a user or an action that a header can't hold. It also returns one for
// a target that would be sent as another one.
func (q question) unsendable(target string) error {
	e := &apiError{Status: http.StatusBadRequest, Message: "The request is not valid."}
	for _, one := range []struct{ name, value string }{{"X-User-ID", q.User}, {"X-Action", q.Action}} {
		if strings.ContainsFunc(one.value, unicode.IsControl) {
			e.Details = append(e.Details, one.name+": must not hold a control character")
		}
	}
	if u, err := url.Parse(target); err != nil || u.RequestURI() != target {
		e.Details = append(e.Details, "path: must have no #, and must be percent-encoded where a URL can't hold it")
	}
	if len(e.Details) == 0 {
		return nil
	}
	return e
}

// askView is the data of the Ask page.
type askView struct {
	askForm
	Answer   *resources.Explanation
	Fixes    []fixView
	Examples []example
	// Names holds the names of the roles and groups in the verdict's grants.
	Names names
	// Other is true for a question about another user.
	Other bool
}

// ask shows the form and, for a question, the verdict.
func ask(p *page) error {
	v := askView{askForm: askForm{question: p.question()}}
	asked := v.Action != "" || v.User != ""
	v.User = cmp.Or(v.User, p.session.UserID)
	v.Other = v.User != p.session.UserID
	var err error
	if v.Choices, err = p.choicesFor(v.User); err != nil {
		return err
	}
	if !asked || v.Action == "" {
		v.Examples = v.Choices.examples(p.session.UserID)
		return p.show(http.StatusOK, "ask", "Ask", "/ask", v)
	}
	v.Answer, err = p.explain(v.question)
	if refused := refusalOf(err); refused != nil {
		v.Problem = refused
		return p.show(refused.Status, "ask", "Ask", "/ask", v)
	}
	if err != nil {
		return err
	}
	if v.Fixes, _, err = p.fixes(v.question, v.Answer.Fixes); err != nil {
		return err
	}
	var m mentioned
	for _, one := range v.Answer.Grants {
		m.roles, m.groups = append(m.roles, one.RoleID), append(m.groups, one.GroupID)
	}
	if v.Names, err = p.names(m); err != nil {
		return err
	}
	return p.show(http.StatusOK, "ask", "Ask", "/ask", v)
}

// Hidden reports whether the API refuses to explain a verdict about another user.
func (v askView) Hidden() bool {
	return v.Other && v.Problem != nil && v.Problem.Status == http.StatusForbidden
}

// Steps returns the verdict's steps.
func (v askView) Steps() []trailStep { return trailOf(v.Answer) }

// Cannot returns the reasons if the user may apply none of the fixes. It returns nothing if they may apply one.
func (v askView) Cannot() []string { return refusedAll(v.Fixes) }

// example is a question that the page suggests.
type example struct {
	question
	Says string
}

// examples returns questions about the user and about another person, in a project and in the account.
func (c choices) examples(me string) (out []example) {
	other := me
	for _, one := range c.People {
		if one.ID != me {
			other = one.ID
			break
		}
	}
	add := func(user, action, project string) {
		if action == "" {
			return
		}
		name := "I"
		if user != me {
			name = c.Person(user).Shown()
		}
		says := "May " + name + " do " + action + " in " + c.Place(project) + "?"
		out = append(out, example{question{User: user, Action: action, Project: project}, says})
	}
	if len(c.Projects) > 0 {
		add(me, c.first("project:", ":create"), c.Projects[0].ID)
		add(other, c.first("project:", ":delete"), c.Projects[0].ID)
	}
	add(other, c.first("account:role_assignment", ""), "")
	return out
}

// first returns the first offered action with a prefix and a suffix, or "".
func (c choices) first(prefix, suffix string) string {
	for _, one := range c.Actions {
		if strings.HasPrefix(one.Action, prefix) && strings.HasSuffix(one.Action, suffix) {
			return one.Action
		}
	}
	return ""
}
