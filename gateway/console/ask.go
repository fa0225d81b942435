package console

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// askPages are those of questions.
func askPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /ask": ask, "GET /apply": confirmFix, "POST /apply": applyFix}
}

// question is what a person asks: may this user do this action here. The place is the account, a project, or a resource in one of them.
type question struct{ User, Action, Project, Resource string }

func (p *page) question() question {
	return question{User: p.field("user"), Action: p.field("action"), Project: p.field("project"), Resource: strings.Trim(p.field("resource"), "/")}
}

// Link returns the address of a page about the question.
func (q question) Link(page string) string {
	values := url.Values{}
	for name, value := range map[string]string{"user": q.User, "action": q.Action, "project": q.Project, "resource": q.Resource} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return page + "?" + values.Encode()
}

// path returns what stands after `explain/`. A blank or odd part stays as it is for the API to refuse.
func (q question) path(account string) string {
	out := "accounts/" + url.PathEscape(account)
	if q.Project != "" {
		out += "/projects/" + url.PathEscape(q.Project)
	}
	if q.Resource == "" {
		return out
	}
	parts := strings.Split(q.Resource, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return out + "/" + strings.Join(parts, "/")
}

// explain asks the API why a question is decided as it is.
func (p *page) explain(q question) (*resources.Explanation, error) {
	header := http.Header{"X-User-Id": {q.User}, "X-Account-Id": {p.session.AccountID}, "X-Action": {q.Action}}
	var out resources.Explanation
	if err := p.api.call(p.r.Context(), http.MethodPost, "/api/v1/explain/"+q.path(p.session.AccountID), header, nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// askView is the page of a question with its answer.
type askView struct {
	question
	Answer   *resources.Explanation
	Problem  *apiError
	Choices  choices
	Fixes    []fixView
	MayApply bool
}

// choices are what the fields of a question offer.
type choices struct {
	People   []person
	Projects []project
	Actions  []string
}

type person struct {
	ID     string `json:"id"`
	Email  string `json:"email"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

type project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// offered is how many people and projects the fields offer; others are typed.
const offered = "50"

// choices reads what the fields of a question offer. Who may not list people or projects types them.
func (p *page) choices() (choices, error) {
	var out choices
	var users struct {
		Users []person `json:"users"`
	}
	var projects struct {
		Projects []project `json:"projects"`
	}
	size := url.Values{"page_size": {offered}}
	for _, list := range []struct {
		path string
		out  any
	}{{p.account("users"), &users}, {p.account("projects"), &projects}} {
		err := p.api.get(p.r.Context(), list.path, size, list.out)
		if _, denied := isRefusal(err, http.StatusForbidden); err != nil && !denied {
			return out, err
		}
	}
	out.People, out.Projects = users.Users, projects.Projects
	return out, nil
}

// ask shows the form, and the verdict of a question.
func ask(p *page) error {
	v := askView{question: p.question()}
	if v.User == "" {
		v.User = p.session.UserID
	}
	var err error
	if v.Choices, err = p.choices(); err != nil {
		return err
	}
	if v.Action == "" {
		return p.show(http.StatusOK, "ask", "Ask", "/ask", v)
	}
	v.Answer, err = p.explain(v.question)
	if refused, ok := isRefusal(err, http.StatusBadRequest, http.StatusForbidden); ok {
		v.Problem = refused
		return p.show(refused.Status, "ask", "Ask", "/ask", v)
	}
	if err != nil {
		return err
	}
	for i, fix := range v.Answer.Fixes {
		v.Fixes = append(v.Fixes, fixView{Number: i + 1, Fix: fix, Steps: stepsOf(v.question, fix)})
	}
	return p.show(http.StatusOK, "ask", "Ask", "/ask", v)
}
