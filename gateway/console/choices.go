package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// offered is how many people and projects the fields of a question offer; others are typed.
const offered = "100"

// choices are what the fields of a question offer.
type choices struct {
	People   []person
	Projects []project
	Actions  []offeredAction
	// Meant are the people with an e-mail address, a name or an id that begins with the typed text. The page asks before
	// it takes one: people choose their names, and one may be the id of another person.
	Meant []person
	// MoreProjects is true if the account has further projects, and for a user without the right to list them.
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

// choices reads what the fields of a question offer. A user types what they may not list.
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

// choicesFor adds the user with the typed id, or the people with a name or an address like it.
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

// Person returns the user with an id: the id alone for one who is not among the offered ones.
func (c choices) Person(id string) person {
	for _, one := range c.People {
		if one.ID == id {
			return one
		}
	}
	return person{ID: id}
}

// Shown returns the person's name, else their e-mail address, else their id.
func (p person) Shown() string { return cmp.Or(p.Name, p.Email, p.ID) }

// Place returns the name of a project, its id if it is not offered, and words for the account.
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

// Lists reports whether a project is offered.
func (c choices) Lists(id string) bool {
	for _, one := range c.Projects {
		if one.ID == id {
			return true
		}
	}
	return id == ""
}

// askForm is what the fields of a question hold, and what the API said about them.
type askForm struct {
	question
	Choices choices
	Problem *apiError
}

// fieldOf returns the form's field for one that the API names, "" for no field.
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

// Wrong returns what the API said about a field of the form: user, action or place.
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

// Elsewhere returns what the API said beside its message that no field shows.
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
