package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// roleActions are the actions behind the buttons of roles.
var roleActions = []string{
	"account:role:create", "account:role:update", "account:role:delete", "account:role_assignment:delete", "account:change:read", explainAction,
}

// role is a role in the API's form.
type role struct {
	ID string `json:"id"`
	roleBody
	IsCustom  bool           `json:"isCustom"`
	CreatedBy string         `json:"createdBy"`
	CreatedAt resources.Time `json:"createdAt"`
	UpdatedAt resources.Time `json:"updatedAt"`
}

// Active reports whether the role is active.
func (r role) Active() bool { return r.Status == resources.StatusActive }

// rolePage is a page of the API's list of roles.
type rolePage struct {
	Data []role   `json:"data"`
	Meta pageMeta `json:"meta"`
}

// rolesView is the data of the list of roles.
type rolesView struct {
	Roles         []role
	Meta          pageMeta
	Scope, Status string
	Problem       *apiError
	May           map[string]bool
}

// PageLink returns the address of another page of the list.
func (v rolesView) PageLink(number int) string {
	return "/roles?" + given("scope", v.Scope, "status", v.Status, "page", strconv.Itoa(number)).Encode()
}

func showRoles(p *page) error {
	v := rolesView{Scope: p.field("scope"), Status: p.field("status")}
	var err error
	if v.May, err = p.may("", "account:role:create"); err != nil {
		return err
	}
	var answer rolePage
	status := http.StatusOK
	err = p.api.get(p.r.Context(), p.account("roles"), p.numbered("scope", v.Scope, "status", v.Status), &answer)
	if v.Problem = refusalOf(err); v.Problem != nil {
		status = v.Problem.Status
	} else if err != nil {
		return err
	}
	v.Roles, v.Meta = answer.Data, answer.Meta
	return p.show(status, "roles", "Roles", peopleHere, v)
}

// actions reads the actions of the policy in force.
func (p *page) actions() ([]offeredAction, error) {
	var answer struct {
		Actions []offeredAction `json:"actions"`
	}
	err := p.api.get(p.r.Context(), "/api/v1/actions", nil, &answer)
	return answer.Actions, err
}

// expanded is a pattern with the actions that it matches.
type expanded struct {
	Pattern string
	Actions []offeredAction
}

// expand matches patterns against actions, segment by segment.
func expand(patterns []string, actions []offeredAction) (out []expanded) {
	for _, pattern := range patterns {
		one := expanded{Pattern: pattern}
		for _, action := range actions {
			if matches(pattern, action.Action) {
				one.Actions = append(one.Actions, action)
			}
		}
		out = append(out, one)
	}
	return out
}

func matches(pattern, action string) bool {
	wants, segments := strings.Split(pattern, ":"), strings.Split(action, ":")
	if len(wants) != len(segments) {
		return false
	}
	for i, want := range wants {
		if want != "*" && want != segments[i] {
			return false
		}
	}
	return true
}

// roleView is the data of the page of a role.
type roleView struct {
	Role     role
	Patterns []expanded
	Holders  []assignment
	Meta     pageMeta
	Names    names
	May      map[string]bool
}

// PageLink returns the address of another page of assignees.
func (v roleView) PageLink(number int) string {
	return linkOf("roles", v.Role.ID) + "?page=" + strconv.Itoa(number)
}

func (p *page) wholeRole(id string) (out role, err error) {
	return out, p.api.get(p.r.Context(), p.account("roles", id), nil, &out)
}

func showRole(p *page) error {
	var v roleView
	id := p.r.PathValue("role")
	var err error
	if v.Role, err = p.wholeRole(id); err != nil {
		return err
	}
	if v.May, err = p.may("", roleActions...); err != nil {
		return err
	}
	actions, err := p.actions()
	if err != nil {
		return err
	}
	v.Patterns = expand(v.Role.Permissions, actions)
	var holders struct {
		Data []assignment `json:"data"`
		Meta pageMeta     `json:"meta"`
	}
	if err := p.api.get(p.r.Context(), p.account("roles", id, "assignments"), p.numbered(), &holders); err != nil {
		return err
	}
	v.Holders, v.Meta = holders.Data, holders.Meta
	m := mentioned{projects: []string{v.Role.ProjectID}, users: []string{v.Role.CreatedBy}}
	m.addHolders(v.Holders)
	if v.Names, err = p.names(m); err != nil {
		return err
	}
	return p.show(http.StatusOK, "role", "Role", peopleHere, v)
}

// deleteRole deletes a custom role.
func deleteRole(p *page) (*step, error) {
	r, err := p.wholeRole(p.r.PathValue("role"))
	if err != nil {
		return nil, err
	}
	return &step{
		Title: "Delete a role", Question: []string{"Delete the role", r.Name}, Button: "Delete", Danger: true,
		Note: "Revoke all its assignments first.",
		Back: linkOf("roles", r.ID), Here: peopleHere, then: "/roles", done: "deleted",
		call:    call{method: http.MethodDelete, path: p.account("roles", r.ID)},
		preview: []previewChange{{Kind: "role_delete", Role: r.ID}},
	}, nil
}
