package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// offered limits the people and projects that the fields of a question suggest. Users can type others.
const offered = "100"

// choices holds the suggestions of the fields of a question.
type choices struct {
	People   []person
	Projects []project
	Actions  []offeredAction
	// Meant are the people with an e-mail address, a name or an id that begins with the typed text. The user has to pick
	// one, since people choose their own names, and a name may equal another person's id.
	Meant []person
	// MoreProjects is true if the account has further projects or the user may not list projects.
	MoreProjects bool
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

// offeredAction is an action that the policy in force lists.
type offeredAction struct {
	Action      string `json:"action"`
	Scope       string `json:"scope"`
	Description string `json:"description"`
}

// choices reads the suggestions that the user may list.
func (p *page) choices() (choices, error) {
	var out choices
	var users struct {
		Users []person `json:"users"`
	}
	var projects struct {
		Projects []project `json:"projects"`
		Next     string    `json:"next_page_token"`
	}
	var actions struct {
		Actions []offeredAction `json:"actions"`
	}
	size := url.Values{"page_size": {offered}}
	for _, list := range []struct {
		path  string
		query url.Values
		out   any
	}{{p.account("users"), size, &users}, {p.account("projects"), size, &projects}, {"/api/v1/actions", nil, &actions}} {
		err := p.api.get(p.r.Context(), list.path, list.query, list.out)
		if _, denied := isRefusal(err, http.StatusForbidden); err != nil && !denied {
			return out, err
		}
		if err != nil && list.out == &projects {
			out.MoreProjects = true
		}
	}
	out.People, out.Projects, out.Actions = users.Users, projects.Projects, actions.Actions
	out.MoreProjects = out.MoreProjects || projects.Next != ""
	return out, nil
}

// choicesFor adds the user with the typed id, or the people whose name or address begins with it.
func (p *page) choicesFor(typed string) (choices, error) {
	out, err := p.choices()
	if typed == p.me.ID && out.Person(typed).Email == "" {
		out.People = append(out.People, person{ID: p.me.ID, Name: p.me.Name, Email: p.me.Email, Status: resources.StatusActive})
	}
	if err != nil || typed == "" || out.People == nil || out.Person(typed).Email != "" {
		return out, err
	}
	var users struct {
		Users []person `json:"users"`
	}
	err = p.api.get(p.r.Context(), p.account("users"), url.Values{"q": {typed}, "page_size": {"5"}}, &users)
	if _, refused := isRefusal(err, http.StatusBadRequest, http.StatusForbidden); err != nil && !refused {
		return out, err
	}
	for _, one := range users.Users {
		if one.ID == typed {
			out.People, out.Meant = append(out.People, one), nil
			return out, nil
		}
		out.Meant = append(out.Meant, one)
	}
	return out, nil
}

// Person returns the user with an id. It has only the id if the user is not suggested.
func (c choices) Person(id string) person {
	for _, one := range c.People {
		if one.ID == id {
			return one
		}
	}
	return person{ID: id}
}

// Shown returns the first of name, e-mail address and id that is not empty.
func (p person) Shown() string { return cmp.Or(p.Name, p.Email, p.ID) }

// Place returns the name of a project, or its id if it is not suggested. "" is the account.
func (c choices) Place(id string) string {
	if id == "" {
		return "the whole account"
	}
	for _, one := range c.Projects {
		if one.ID == id && one.Name != "" {
			return one.Name
		}
	}
	return id
}

// Lists reports whether a project is suggested.
func (c choices) Lists(id string) bool {
	return id == "" || slices.ContainsFunc(c.Projects, func(one project) bool { return one.ID == id })
}

// askForm holds the fields of a question and the API's problems with them.
type askForm struct {
	question
	Choices choices
	Problem *apiError
}

// fieldOf returns the form's field for a field of the API, or "".
func fieldOf(name string) string {
	switch name {
	case "X-User-ID", "subject.id", "subject":
		return "user"
	case "X-Action", "action.name", "action":
		return "action"
	case "path", "resource.id", "resource.properties.project_id":
		return "place"
	}
	return ""
}

// Wrong returns the API's problem with a field of the form: user, action or place.
func (f askForm) Wrong(field string) string {
	if f.Problem == nil {
		return ""
	}
	var out []string
	for _, detail := range f.Problem.Details {
		if name, text, ok := strings.Cut(detail, ": "); ok && fieldOf(name) == field {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// Elsewhere returns the API's problems that belong to no field of the form.
func (f askForm) Elsewhere() (out []string) {
	if f.Problem == nil {
		return nil
	}
	for _, detail := range f.Problem.Details {
		if name, _, ok := strings.Cut(detail, ": "); !ok || fieldOf(name) == "" {
			out = append(out, detail)
		}
	}
	return out
}
