package console

import (
	"net/http"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
)

// personActions are the actions behind the buttons of a person's page.
var personActions = []string{
	"account:role_assignment:update", "account:role_assignment:delete", "account:user:update", "account:user:invite", "account:user:delete",
	"account:api_key:read", "account:agent:read", "account:delegation:delete", "account:change:read", explainAction,
}

// personView is the data of the page of a person.
type personView struct {
	Person member
	// Self is true if the person is the reader.
	Self  bool
	Roles []heldRole
	Meta  pageMeta
	Names names
	// Delegations are what the person lets agents do. MoreDelegations is true if there are more than the page shows.
	Delegations     []resources.Delegation
	MoreDelegations bool
	// Problem says why the roles are not shown, or why a form was refused.
	Problem *apiError
	May     map[string]bool
}

// heldRole is a direct assignment of a person or one through a group.
type heldRole struct {
	RoleID     string         `json:"roleId"`
	ProjectID  string         `json:"projectId"`
	ResourceID string         `json:"resourceId"`
	GroupID    string         `json:"groupId"`
	Status     string         `json:"status"`
	ExpiresAt  resources.Time `json:"expiresAt"`
	CreatedAt  resources.Time `json:"createdAt"`
}

// pageMeta is the position of a numbered page in its list.
type pageMeta struct {
	Total int `json:"total"`
	Page  int `json:"page"`
	Pages int `json:"totalPages"`
}

// Before and Next return the numbers of the pages around this one, 0 for none.
func (m pageMeta) Before() int { return max(0, m.Page-1) }

// Next returns the number of the page after this one, 0 for none.
func (m pageMeta) Next() int {
	if m.Page >= m.Pages {
		return 0
	}
	return m.Page + 1
}

// numbered returns the query of a numbered list.
func (p *page) numbered(pairs ...string) map[string][]string {
	out := given(append(pairs, "pageSize", pageSize)...)
	if number := p.r.URL.Query().Get("page"); number != "" {
		out.Set("page", number)
	}
	return out
}

// showPerson shows a person and their roles.
func showPerson(p *page) error { return p.person(http.StatusOK, nil) }

// person shows the page of a person. problem is the error response to a form, or nil.
func (p *page) person(status int, problem *apiError) error {
	id := p.r.PathValue("user")
	v := personView{Self: id == p.session.UserID, Problem: problem}
	var err error
	if v.Person, err = p.member(id); err != nil {
		return err
	}
	if v.May, err = p.may("", personActions...); err != nil {
		return err
	}
	var answer struct {
		Data []heldRole `json:"data"`
		Meta pageMeta   `json:"meta"`
	}
	err = p.api.get(p.r.Context(), p.account("roles", "users", id), p.numbered(), &answer)
	refused, ok := isRefusal(err, http.StatusForbidden, http.StatusBadRequest)
	if err != nil && !ok {
		return err
	}
	if ok && v.Problem == nil {
		v.Problem, status = refused, refused.Status
	}
	v.Roles, v.Meta = answer.Data, answer.Meta
	if v.Delegations, v.MoreDelegations, err = p.delegationsOf(id); err != nil {
		return err
	}
	var m mentioned
	for _, one := range v.Delegations {
		m.agents, m.projects = append(m.agents, one.AgentID), append(m.projects, one.ProjectID)
	}
	for _, one := range v.Roles {
		m.addHeld(one)
	}
	if v.Names, err = p.names(m); err != nil {
		return err
	}
	return p.show(status, "person", "Person", peopleHere, v)
}

// RevokeLink returns the address of the page that revokes one of the person's roles.
func (v personView) RevokeLink(h heldRole) string {
	return linkOf("people", v.Person.ID, "revoke") + "?" + given("role", h.RoleID, "project", h.ProjectID, "resource", h.ResourceID).Encode()
}

// PageLink returns the address of another page of the person's roles.
func (v personView) PageLink(number int) string {
	return linkOf("people", v.Person.ID) + "?page=" + strconv.Itoa(number)
}

// inviteAgain resends the invitation of a member who has not accepted it.
func inviteAgain(p *page) error {
	id := p.r.PathValue("user")
	err := p.send(call{method: http.MethodPost, path: p.account("users", id, "invitation")})
	if refused := refusalOf(err); refused != nil {
		return p.person(refused.Status, refused)
	}
	if err != nil {
		return err
	}
	return p.done(linkOf("people", id), "invited")
}

// statusStep suspends or reactivates a person.
func statusStep(p *page) (*step, error) {
	id, status := p.r.PathValue("user"), p.field("status")
	user, err := p.member(id)
	if err != nil {
		return nil, err
	}
	s := &step{
		Title: "Change the status", Question: []string{"Set the status of", user.Shown(), "to", status}, Button: "Change the status",
		Back: linkOf("people", id), Here: peopleHere, then: linkOf("people", id), done: "saved",
		call:    call{http.MethodPut, linkOf("api", "v1", "users", id), p.inAccount(), map[string]string{"status": status}},
		preview: []previewChange{{Kind: "user_status", UserID: id, Status: status}},
	}
	switch status {
	case resources.StatusSuspended:
		s.Title, s.Question, s.Button, s.Danger = "Suspend", []string{"Suspend", user.Shown()}, "Suspend", true
		s.Note = "The gateway refuses their requests and API keys from now on. They keep their roles for a later activation."
	case resources.StatusActive:
		s.Title, s.Question, s.Button = "Activate", []string{"Activate", user.Shown()}, "Activate"
		s.Note = "Their roles and API keys work again."
	}
	return s, nil
}

// removePerson removes a person from the account.
func removePerson(p *page) (*step, error) {
	id := p.r.PathValue("user")
	user, err := p.member(id)
	if err != nil {
		return nil, err
	}
	return &step{
		Title: "Remove", Question: []string{"Remove", user.Shown(), "from the account"}, Button: "Remove", Danger: true,
		Note: "They lose their roles, group memberships and API keys in this account. A new invitation does not restore these.",
		Back: linkOf("people", id), Here: peopleHere, then: "/people", done: "removed",
		call: call{method: http.MethodDelete, path: p.account("users", id)},
		// The API previews no removal. A suspension takes away the same rights.
		preview: []previewChange{{Kind: "user_status", UserID: id, Status: resources.StatusSuspended}},
	}, nil
}
