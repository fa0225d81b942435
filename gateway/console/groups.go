package console

import (
	"fmt"
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// groupActions are the actions behind the buttons of groups.
var groupActions = []string{
	"account:group:create", "account:group:update", "account:group:delete", "account:role_assignment:update", "account:role_assignment:delete", "account:change:read",
}

// groupsView is the data of the list of groups.
type groupsView struct {
	Groups []resources.Group
	Next   string
	Total  int
	Form   form
	May    map[string]bool
}

// groups shows the groups and the form for a new one.
func (p *page) groups(status int, f form) error {
	v := groupsView{Form: f}
	var err error
	if v.May, err = p.may("", groupActions...); err != nil {
		return err
	}
	var answer struct {
		Groups []resources.Group `json:"groups"`
		Total  int               `json:"total_count"`
		Next   string            `json:"next_page_token"`
	}
	query := given("page_size", pageSize, "page_token", p.r.URL.Query().Get("page_token"))
	if status, err = v.Form.refused(p.api.get(p.r.Context(), p.account("groups"), query, &answer), status); err != nil {
		return err
	}
	v.Groups, v.Next, v.Total = answer.Groups, answer.Next, answer.Total
	return p.show(status, "groups", "Groups", peopleHere, v)
}

func makeGroup(p *page) error {
	f := p.form()
	body := membersOf(given("name", p.field("name"), "description", p.field("description")))
	if err := p.send(call{method: http.MethodPost, path: p.account("groups"), body: body}); err != nil {
		return p.again(f, err, p.groups)
	}
	return p.done("/groups", "added")
}

func (p *page) group(id string) (resources.Group, error) {
	var answer struct {
		Group resources.Group `json:"group"`
	}
	err := p.api.get(p.r.Context(), p.account("groups", id), nil, &answer)
	return answer.Group, err
}

// groupView is the data of the page of a group.
type groupView struct {
	Group   resources.Group
	Members []resources.GroupMember
	Next    string
	Total   int
	Roles   []assignment
	// MoreRoles is true if the group has more roles than the page shows.
	MoreRoles bool
	Names     names
	May       map[string]bool
}

// assignment is a role assignment of a person, a group or an agent.
type assignment struct {
	heldRole
	AssigneeID   string `json:"assigneeId"`
	AssigneeType string `json:"assigneeType"`
}

// IsGroup reports whether the assignee is a group.
func (a assignment) IsGroup() bool { return a.AssigneeType == resources.AssigneeGroup }

// IsAgent reports whether the assignee is an agent.
func (a assignment) IsAgent() bool { return a.AssigneeType == resources.AssigneeAgent }

// RevokeLink returns the address of the page that revokes the role.
func (a assignment) RevokeLink() string {
	kind := "people"
	switch {
	case a.IsGroup():
		kind = "groups"
	case a.IsAgent():
		kind = "agents"
	}
	return linkOf(kind, a.AssigneeID, "revoke") + "?" + given("role", a.RoleID, "project", a.ProjectID, "resource", a.ResourceID).Encode()
}

// showGroup shows a group with its members and roles.
func showGroup(p *page) error {
	var v groupView
	id := p.r.PathValue("group")
	var err error
	if v.Group, err = p.group(id); err != nil {
		return err
	}
	if v.May, err = p.may("", groupActions...); err != nil {
		return err
	}
	var members struct {
		Members []resources.GroupMember `json:"members"`
		Total   int                     `json:"total_count"`
		Next    string                  `json:"next_page_token"`
	}
	query := given("page_size", pageSize, "page_token", p.r.URL.Query().Get("page_token"))
	if err := p.api.get(p.r.Context(), p.account("groups", id, "members"), query, &members); err != nil {
		return err
	}
	v.Members, v.Total, v.Next = members.Members, members.Total, members.Next
	if v.Roles, v.MoreRoles, err = p.rolesOf(id); err != nil {
		return err
	}
	var m mentioned
	for _, one := range v.Members {
		m.users = append(m.users, one.UserID)
	}
	m.addHolders(v.Roles)
	if v.Names, err = p.names(m); err != nil {
		return err
	}
	return p.show(http.StatusOK, "group", "Group", peopleHere, v)
}

// deleteGroup deletes a group.
func deleteGroup(p *page) (*step, error) {
	g, err := p.group(p.r.PathValue("group"))
	if err != nil {
		return nil, err
	}
	s := &step{
		Title: "Delete a group", Question: []string{"Delete the group", g.Name}, Button: "Delete", Danger: true,
		Note: "Its members lose the access that only this group's roles give.",
		Back: linkOf("groups", g.ID), Here: peopleHere, then: "/groups", done: "deleted",
		call: call{method: http.MethodDelete, path: p.account("groups", g.ID)},
	}
	held, more, err := p.rolesOf(g.ID)
	switch {
	case err != nil:
		return nil, err
	case more || len(held) > mostPreviewed:
		s.Note += fmt.Sprintf(" It has more than %d roles, too many for a preview: revoke some to see what they gave.", mostPreviewed)
		return s, nil
	}
	for _, one := range held {
		change := previewChange{Kind: "revoke", Role: one.RoleID, GroupID: g.ID, ProjectID: one.ProjectID, ResourceID: one.ResourceID}
		s.preview = append(s.preview, change)
	}
	return s, nil
}

// rolesOf returns the roles of a group or an agent, or nothing if the user may not read them. more is true if there are
// others.
func (p *page) rolesOf(assignee string) (held []assignment, more bool, err error) {
	var answer listedAssignments
	_, err = p.read(p.account("assignments"), given("assignee", assignee, "page_size", "100"), &answer)
	return answer.Assignments, answer.Next != "", err
}

// removeMember takes a person out of a group.
func removeMember(p *page) (*step, error) {
	g, err := p.group(p.r.PathValue("group"))
	if err != nil {
		return nil, err
	}
	user := p.r.PathValue("user")
	one, err := p.member(user)
	if err != nil {
		return nil, err
	}
	return &step{
		Title: "Remove from a group", Question: []string{"Remove", one.Shown(), "from the group", g.Name}, Button: "Remove", Danger: true,
		Note: "The person keeps roles from elsewhere.",
		Back: linkOf("groups", g.ID), Here: peopleHere, then: linkOf("groups", g.ID), done: "removed",
		call:    call{method: http.MethodDelete, path: p.account("groups", g.ID, "members", user)},
		preview: []previewChange{{Kind: "group_remove", GroupID: g.ID, UserID: user}},
	}, nil
}

// addMemberView is the data of the form that adds a person to a group.
type addMemberView struct {
	Group      resources.Group
	People     []person
	Form       form
	MayPreview bool
}

func showAddMember(p *page) error { return p.addMemberForm(http.StatusOK, p.form()) }

func (p *page) addMemberForm(status int, f form) error {
	v := addMemberView{Form: f}
	var err error
	if v.Group, err = p.group(p.r.PathValue("group")); err != nil {
		return err
	}
	may, err := p.may("", explainAction)
	if err != nil {
		return err
	}
	offers, err := p.choices()
	if err != nil {
		return err
	}
	v.MayPreview, v.People = may[explainAction], offers.People
	return p.show(status, "member", "Add to a group", peopleHere, v)
}

// addMember adds a person to a group, or previews that.
func addMember(p *page) error {
	id, user, f := p.r.PathValue("group"), p.field("user"), p.form()
	var err error
	if p.field("do") == doPreview {
		f.Preview, err = p.preview(previewChange{Kind: "group_add", GroupID: id, UserID: user})
	} else if err = p.send(call{method: http.MethodPut, path: p.account("groups", id, "members", user)}); err == nil {
		return p.done(linkOf("groups", id), "added")
	}
	return p.again(f, err, p.addMemberForm)
}
