package console

import (
	"net/http"
	"strings"
)

// roleFormView is the data of the form that creates or edits a role.
type roleFormView struct {
	// ID is the id of the role, or "" for a new one.
	ID         string
	Form       form
	Projects   []project
	Actions    []offeredAction
	Patterns   []expanded
	MayPreview bool
}

// Back returns the page to which the user can return.
func (v roleFormView) Back() string {
	if v.ID == "" {
		return "/roles"
	}
	return linkOf("roles", v.ID)
}

// Path returns the form's target.
func (v roleFormView) Path() string {
	if v.ID == "" {
		return "/roles/new"
	}
	return linkOf("roles", v.ID, "edit")
}

// showRoleForm shows the form with the role's values or, for a new role, those of the query.
func showRoleForm(p *page) error {
	f := p.form()
	if id := p.r.PathValue("role"); id != "" {
		r, err := p.wholeRole(id)
		if err != nil {
			return err
		}
		f.Values = given("name", r.Name, "scope", r.Scope, "description", r.Description, "project", r.ProjectID, "status", r.Status,
			"permissions", strings.Join(r.Permissions, "\n"))
	}
	return p.roleForm(http.StatusOK, f)
}

func (p *page) roleForm(status int, f form) error {
	v := roleFormView{ID: p.r.PathValue("role"), Form: f}
	may, err := p.may("", explainAction)
	if err != nil {
		return err
	}
	v.MayPreview = may[explainAction]
	if v.Actions, err = p.actions(); err != nil {
		return err
	}
	v.Patterns = expand(patternsOf(f.Value("permissions")), v.Actions)
	offers, err := p.choices()
	if err != nil {
		return err
	}
	v.Projects = offers.Projects
	title := "Edit a role"
	if v.ID == "" {
		title = "A new role"
	}
	return p.show(status, "roleform", title, peopleHere, v)
}

// patternsOf splits patterns at blanks, commas and line ends.
func patternsOf(text string) []string {
	return append([]string{}, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) })...)
}

// saveRole creates or replaces a role, or previews that.
func saveRole(p *page) error {
	id, f := p.r.PathValue("role"), p.form()
	body := roleBody{
		Name: p.field("name"), Scope: p.field("scope"), Permissions: patternsOf(p.field("permissions")),
		Description: p.field("description"), ProjectID: p.field("project"), Status: p.field("status"),
	}
	var err error
	if p.field("do") == doPreview {
		f.Preview, err = p.preview(previewChange{
			Kind: "role_put", Role: id, Name: body.Name, Scope: body.Scope, Permissions: body.Permissions,
			Description: body.Description, RoleProject: body.ProjectID, Status: body.Status,
		})
	} else if id == "" {
		var made role
		if err = p.api.call(p.r.Context(), http.MethodPost, p.account("roles"), nil, body, &made); err == nil {
			return p.done(linkOf("roles", made.ID), "saved")
		}
	} else if err = p.send(call{method: http.MethodPut, path: p.account("roles", id), body: body}); err == nil {
		return p.done(linkOf("roles", id), "saved")
	}
	return p.again(f, err, p.roleForm)
}
