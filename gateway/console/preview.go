package console

import (
	"net/http"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// explainAction is the action that a preview needs.
	explainAction = "account:authorization:explain"
	// doPreview is the value of the button that previews a form.
	doPreview = "preview"
	// mostPreviewed is the API's limit of changes in a preview.
	mostPreviewed = 20
	// shownRows limits the gains on a page, and the losses.
	shownRows = 200
)

// previewChange is a change in the API's form.
type previewChange struct {
	Kind        string   `json:"kind"`
	Role        string   `json:"role,omitempty"`
	UserID      string   `json:"user_id,omitempty"`
	GroupID     string   `json:"group_id,omitempty"`
	ProjectID   string   `json:"project_id,omitempty"`
	ResourceID  string   `json:"resource_id,omitempty"`
	Until       string   `json:"until,omitempty"`
	Status      string   `json:"status,omitempty"`
	Name        string   `json:"name,omitempty"`
	Scope       string   `json:"scope,omitempty"`
	Permissions []string `json:"permissions,omitempty"`
	Description string   `json:"description,omitempty"`
	RoleProject string   `json:"projectId,omitempty"`
}

// preview holds the rights that people would gain or lose by a change.
type preview struct {
	Gains    []previewRow `json:"gains"`
	Loses    []previewRow `json:"loses"`
	People   int          `json:"people"`
	Complete bool         `json:"complete"`
	Revision int64        `json:"account_revision"`

	// Names holds the names of the people and projects in the rows.
	Names names `json:"-"`
}

// previewRow is an action that a user gains or loses in a place.
type previewRow struct {
	User   string `json:"user"`
	Action string `json:"action"`
	Place  struct {
		ProjectID  string `json:"project_id"`
		ResourceID string `json:"resource_id"`
	} `json:"place"`
}

// previewSide is the gains or the losses on a page.
type previewSide struct {
	Title, Mark, Sign string
	Total             int
	Groups            []previewGroup
}

// previewGroup is the actions that one user gains or loses in one place.
type previewGroup struct {
	User, Project, Resource string
	Actions                 []string
}

// Hidden returns the number of rows that the page leaves out.
func (s previewSide) Hidden() int { return max(0, s.Total-shownRows) }

// Sides returns the losses and the gains.
func (v *preview) Sides() []previewSide {
	return []previewSide{
		{"Loses", "deny", "−", len(v.Loses), grouped(v.Loses)},
		{"Gains", "allow", "+", len(v.Gains), grouped(v.Gains)},
	}
}

// grouped merges the rows of one user and place. The API sorts rows by user.
func grouped(rows []previewRow) (out []previewGroup) {
	index := map[previewGroupKey]int{}
	for _, row := range rows[:min(len(rows), shownRows)] {
		key := previewGroupKey{row.User, row.Place.ProjectID, row.Place.ResourceID}
		i, ok := index[key]
		if !ok {
			i, index[key] = len(out), len(out)
			out = append(out, previewGroup{User: row.User, Project: row.Place.ProjectID, Resource: row.Place.ResourceID})
		}
		out[i].Actions = append(out[i].Actions, row.Action)
	}
	return out
}

type previewGroupKey struct{ user, project, resource string }

// preview asks the API which rights changes would give or take. It makes no change.
func (p *page) preview(changes ...previewChange) (*preview, error) {
	if len(changes) == 0 {
		return nil, &apiError{Status: http.StatusBadRequest, Message: "This change has no preview."}
	}
	var out preview
	body := map[string][]previewChange{"changes": changes}
	err := p.api.call(p.r.Context(), http.MethodPost, p.account("preview"), nil, body, &out)
	if refused := refusalOf(err); refused != nil {
		for i, detail := range refused.Details { // the form has one change
			refused.Details[i] = strings.TrimPrefix(detail, "changes[0].")
		}
	}
	if err != nil {
		return nil, err
	}
	var m mentioned
	for _, side := range out.Sides() {
		for _, one := range side.Groups {
			m.users, m.projects = append(m.users, one.User), append(m.projects, one.Project)
		}
	}
	out.Names, err = p.names(m)
	return &out, err
}

// withAssignee adds the assignee of a role.
func (c previewChange) withAssignee(kind, id string) previewChange {
	if kind == resources.AssigneeGroup {
		c.GroupID = id
	} else {
		c.UserID = id
	}
	return c
}
