package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// peopleHere is the address of the menu entry of people, groups, roles and agents.
const peopleHere = "/people"

const (
	// pageSize is the number of rows on a page of a list.
	pageSize = "50"
	// searchedPages limits the search for one person among those whose e-mail address or name begins with the id.
	searchedPages = 5
)

// peoplePages returns the handlers of people, groups, roles and agents, by pattern.
func peoplePages() map[string]func(*page) error {
	all := map[string]func(*page) error{
		"GET /people":                      withForm((*page).people),
		"POST /people":                     invite,
		"GET /people/{user}":               showPerson,
		"POST /people/{user}/invitation":   inviteAgain,
		"GET /people/{user}/assign":        showAssign(personAssignee),
		"POST /people/{user}/assign":       assign(personAssignee),
		"GET /people/{user}/keys":          withForm((*page).keys),
		"POST /people/{user}/keys":         makeKey,
		"GET /groups":                      withForm((*page).groups),
		"POST /groups":                     makeGroup,
		"GET /groups/{group}":              showGroup,
		"GET /groups/{group}/assign":       showAssign(groupAssignee),
		"POST /groups/{group}/assign":      assign(groupAssignee),
		"GET /groups/{group}/members/new":  showAddMember,
		"POST /groups/{group}/members/new": addMember,
		"GET /agents":                      withForm((*page).agents),
		"POST /agents":                     makeAgent,
		"GET /agents/{agent}":              showAgent,
		"GET /agents/{agent}/assign":       showAssign(agentAssignee),
		"POST /agents/{agent}/assign":      assign(agentAssignee),
		"GET /agents/{agent}/delegation":   showDelegation,
		"POST /agents/{agent}/delegation":  delegate,
		"GET /roles":                       showRoles,
		"GET /roles/new":                   showRoleForm,
		"POST /roles/new":                  saveRole,
		"GET /roles/{role}":                showRole,
		"GET /roles/{role}/edit":           showRoleForm,
		"POST /roles/{role}/edit":          saveRole,
	}
	confirm(all, "/people/{user}/revoke", revokeOf(personAssignee))
	confirm(all, "/people/{user}/status", statusStep)
	confirm(all, "/people/{user}/remove", removePerson)
	confirm(all, "/people/{user}/keys/{key}/revoke", revokeKey)
	confirm(all, "/people/{user}/delegations/{agent}/end", endDelegation)
	confirm(all, "/agents/{agent}/revoke", revokeOf(agentAssignee))
	confirm(all, "/agents/{agent}/status", agentStatus)
	confirm(all, "/agents/{agent}/delete", deleteAgent)
	confirm(all, "/groups/{group}/revoke", revokeOf(groupAssignee))
	confirm(all, "/groups/{group}/delete", deleteGroup)
	confirm(all, "/groups/{group}/members/{user}/remove", removeMember)
	confirm(all, "/roles/{role}/delete", deleteRole)
	return all
}

// peopleView is the data of the list of members.
type peopleView struct {
	People []member
	// Query is the searched text, Next the token of the next page, and Total the number of members.
	Query, Next string
	Total       int
	Form        form
	May         map[string]bool
}

// member is a member of the account in the API's form.
type member struct {
	person
	CreatedAt resources.Time `json:"created_at"`
}

// Shown returns the member's name or, without a name, the id.
func (m member) Shown() string { return cmp.Or(m.Name, m.ID) }

// memberPage is a page of the API's list of members.
type memberPage struct {
	Users []member `json:"users"`
	Total int      `json:"total"`
	Next  string   `json:"next_page_token"`
}

// given returns a query from pairs of names and values, without empty values.
func given(pairs ...string) url.Values {
	out := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out.Set(pairs[i], pairs[i+1])
		}
	}
	return out
}

// people shows the members or, with a search, those that match, and the form for an invitation.
func (p *page) people(status int, invitation form) error {
	v := peopleView{Query: p.r.URL.Query().Get("q"), Form: invitation}
	var err error
	if v.May, err = p.may("", "account:user:invite"); err != nil {
		return err
	}
	var answer memberPage
	query := given("page_size", pageSize, "q", v.Query, "page_token", p.r.URL.Query().Get("page_token"))
	if status, err = v.Form.refused(p.api.get(p.r.Context(), p.account("users"), query, &answer), status); err != nil {
		return err
	}
	v.People, v.Next, v.Total = answer.Users, answer.Next, answer.Total
	return p.show(status, "people", "People", peopleHere, v)
}

// invite invites an address.
func invite(p *page) error {
	f := p.form()
	if err := p.send(call{method: http.MethodPost, path: p.account("users", "invite"), body: map[string]string{"email": p.field("email")}}); err != nil {
		return p.again(f, err, p.people)
	}
	return p.done("/people", "invited")
}

// member reads a member. It returns only the id if the user may not list members.
func (p *page) member(id string) (member, error) {
	if id == p.session.UserID {
		var answer struct {
			User member `json:"user"`
		}
		return answer.User, p.api.get(p.r.Context(), p.account("users", id, "profile"), nil, &answer)
	}
	unknown := member{person: person{ID: id}}
	for next, pages := "", 0; pages < searchedPages; pages++ {
		var answer memberPage
		err := p.api.get(p.r.Context(), p.account("users"), given("page_size", "100", "q", id, "page_token", next), &answer)
		if _, refused := isRefusal(err, http.StatusBadRequest, http.StatusForbidden); refused {
			return unknown, nil
		}
		if err != nil {
			return unknown, err
		}
		if i := slices.IndexFunc(answer.Users, func(m member) bool { return m.ID == id }); i >= 0 {
			return answer.Users[i], nil
		}
		if next = answer.Next; next == "" {
			break
		}
	}
	return unknown, nil
}
