package console

import (
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// assignee is a person, a group or an agent that holds a role. Page is the address of its page.
type assignee struct{ Kind, ID, Name, Page string }

func personAssignee(p *page) (assignee, error) {
	user, err := p.member(p.r.PathValue("user"))
	return assignee{resources.AssigneeUser, user.ID, user.Shown(), linkOf("people", user.ID)}, err
}

func groupAssignee(p *page) (assignee, error) {
	g, err := p.group(p.r.PathValue("group"))
	return assignee{resources.AssigneeGroup, g.ID, g.Name, linkOf("groups", g.ID)}, err
}

// assignView is the data of the form that assigns a role.
type assignView struct {
	Assignee assignee
	Form     form
	Roles    []role
	// MoreRoles is true if the account has more roles than the form offers. The user types the others.
	MoreRoles  bool
	Projects   []project
	MayPreview bool
}

// showAssign shows the form that assigns a role. The query fills in its fields.
func showAssign(holderOf func(*page) (assignee, error)) func(*page) error {
	return func(p *page) error { return p.assignForm(http.StatusOK, holderOf, p.form()) }
}

func (p *page) assignForm(status int, holderOf func(*page) (assignee, error), f form) error {
	v := assignView{Form: f}
	var err error
	if v.Assignee, err = holderOf(p); err != nil {
		return err
	}
	may, err := p.may("", explainAction)
	if err != nil {
		return err
	}
	v.MayPreview = may[explainAction] && v.Assignee.Kind != resources.AssigneeAgent // a preview is of people's rights
	var roles rolePage
	err = p.api.get(p.r.Context(), p.account("roles"), given("pageSize", "100", "status", resources.StatusActive), &roles)
	if _, denied := isRefusal(err, http.StatusForbidden); err != nil && !denied {
		return err
	}
	v.Roles, v.MoreRoles = roles.Data, roles.Meta.Pages != 1
	var projects struct {
		Projects []project `json:"projects"`
	}
	err = p.api.get(p.r.Context(), p.account("projects"), given("page_size", "100"), &projects)
	if _, denied := isRefusal(err, http.StatusForbidden); err != nil && !denied {
		return err
	}
	v.Projects = projects.Projects
	return p.show(status, "assign", "Assign a role", peopleHere, v)
}

// assign assigns a role, or previews that.
func assign(holderOf func(*page) (assignee, error)) func(*page) error {
	return func(p *page) error {
		f := p.form()
		holder, err := holderOf(p)
		if err != nil {
			return err
		}
		roleID, project, resource, until := p.field("role"), p.field("project"), p.field("resource"), p.until("until")
		if p.field("do") == doPreview {
			change := previewChange{Kind: "assign", Role: roleID, ProjectID: project, ResourceID: resource, Until: until}
			f.Preview, err = p.preview(change.withAssignee(holder.Kind, holder.ID))
		} else {
			body := given("assigneeType", holder.Kind, "projectId", project, "resourceId", resource, "expiresAt", until)
			err = p.send(call{method: http.MethodPut, path: p.account("roles", roleID, "assignments", holder.ID), body: membersOf(body)})
			if err == nil {
				return p.done(holder.Page, "assigned")
			}
		}
		return p.again(f, err, func(status int, f form) error { return p.assignForm(status, holderOf, f) })
	}
}

// membersOf returns the values as members of a JSON body.
func membersOf(values map[string][]string) map[string]string {
	out := map[string]string{}
	for name, all := range values {
		out[name] = all[0]
	}
	return out
}

// revokeOf revokes a role of a person, a group or an agent.
func revokeOf(holderOf func(*page) (assignee, error)) func(*page) (*step, error) {
	return func(p *page) (*step, error) {
		holder, err := holderOf(p)
		if err != nil {
			return nil, err
		}
		roleID, project, resource := p.field("role"), p.field("project"), p.field("resource")
		all, err := p.names(mentioned{roles: []string{roleID}, projects: []string{project}})
		if err != nil {
			return nil, err
		}
		query := given("assigneeType", holder.Kind, "projectId", project, "resourceId", resource)
		s := &step{
			Title: "Revoke a role", Question: append([]string{"Revoke the role", all.Role(roleID), "of", holder.Name}, placeText(all.Project(project), resource)...), Button: "Revoke", Danger: true,
			Note: "It is in force at once, on every gateway.",
			Back: holder.Page, Here: peopleHere, then: holder.Page, done: "revoked",
			call: call{method: http.MethodDelete, path: p.account("roles", roleID, "assignments", holder.ID) + "?" + query.Encode()},
		}
		if holder.Kind != resources.AssigneeAgent {
			change := previewChange{Kind: "revoke", Role: roleID, ProjectID: project, ResourceID: resource}
			s.preview = []previewChange{change.withAssignee(holder.Kind, holder.ID)}
		}
		return s, nil
	}
}

// placeText describes, in parts, the place of an assignment.
func placeText(project, resource string) []string {
	switch {
	case project == "":
		return []string{"in the whole account"}
	case resource == "":
		return []string{"in", project}
	}
	return []string{"on", resource, "in", project}
}
