package console

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// platformHere is the address of the menu entry of projects.
const platformHere = "/platform"

// platformPages returns the handlers of projects, security groups and clusters, by pattern.
func platformPages() map[string]func(*page) error {
	all := map[string]func(*page) error{
		"GET /platform":           withForm((*page).projects),
		"POST /platform":          makeProject,
		"GET /platform/{project}": showSecurityGroups,
		"GET /platform/{project}/security-groups/{id}": showSecurityGroup,
		"GET /platform/{project}/{kind}":               showClusters,
		"GET /platform/{project}/rename":               showRename,
		"POST /platform/{project}/rename":              rename,
	}
	confirm(all, "/platform/{project}/delete", deleteProject)
	confirm(all, "/platform/{project}/security-groups/{id}/delete", deleteSecurityGroup)
	confirm(all, "/platform/{project}/{kind}/{id}/delete", deleteCluster)
	return all
}

// projectBody is a project in the API's form.
type projectBody struct {
	project
	CreatedAt resources.Time `json:"created_at"`
}

// projectsView is the data of the list of projects.
type projectsView struct {
	Projects []projectBody
	Next     string
	Total    int
	Form     form
	May      map[string]bool
}

// projects shows the projects and the form for a new one.
func (p *page) projects(status int, f form) error {
	v := projectsView{Form: f}
	var err error
	if v.May, err = p.may("", "account:project:create", "account:project:update", "account:project:delete"); err != nil {
		return err
	}
	answer, err := p.projectPage(given("page_size", pageSize, "page_token", p.r.URL.Query().Get("page_token")))
	if status, err = v.Form.refused(err, status); err != nil {
		return err
	}
	v.Projects, v.Next, v.Total = answer.Projects, answer.Next, answer.Total
	return p.show(status, "platform", "Platform", platformHere, v)
}

// projectPage is a page of the API's list of projects.
type projectPage struct {
	Projects []projectBody `json:"projects"`
	Total    int           `json:"total_count"`
	Next     string        `json:"next_page_token"`
}

func (p *page) projectPage(query url.Values) (out projectPage, err error) {
	return out, p.api.get(p.r.Context(), p.account("projects"), query, &out)
}

func makeProject(p *page) error {
	f := p.form()
	if err := p.send(call{method: http.MethodPost, path: p.account("projects"), body: map[string]string{"name": p.field("name")}}); err != nil {
		return p.again(f, err, p.projects)
	}
	return p.done("/platform", "added")
}

// renameView is the data of the form that renames a project.
type renameView struct {
	Project project
	Form    form
}

func showRename(p *page) error {
	one, err := p.projectNamed()
	if err != nil {
		return err
	}
	return p.show(http.StatusOK, "rename", "Rename a project", platformHere, renameView{one, form{Values: given("name", one.Name)}})
}

func rename(p *page) error {
	f, id := p.form(), p.r.PathValue("project")
	err := p.send(call{method: http.MethodPatch, path: p.account("projects", id), body: map[string]string{"name": p.field("name")}})
	if f.Problem = refusalOf(err); f.Problem != nil {
		one, err := p.projectNamed()
		if err != nil {
			return err
		}
		return p.show(f.Problem.Status, "rename", "Rename a project", platformHere, renameView{one, f})
	}
	if err != nil {
		return err
	}
	return p.done("/platform", "saved")
}

// deleteProject deletes a project.
func deleteProject(p *page) (*step, error) {
	one, err := p.projectNamed()
	if err != nil {
		return nil, err
	}
	return &step{
		Title: "Delete a project", Question: []string{"Delete the project", one.Name}, Button: "Delete", Danger: true,
		Note: "This revokes all roles in the project. Delete its security groups and clusters first.",
		Back: linkOf("platform", one.ID), Here: platformHere, then: "/platform", done: "deleted",
		call: call{method: http.MethodDelete, path: p.account("projects", one.ID)},
	}, nil
}

// shownState is a status with its label and mark.
type shownState struct{ Class, Sign, Word string }

// stateOf returns the label and mark of a status of any resource.
func stateOf(status string) shownState {
	word := strings.ToLower(strings.TrimPrefix(status, "CLUSTER_STATUS_"))
	switch word {
	case "active", "running":
		return shownState{"allow", "✓", word}
	case "suspended", "error", "deleted":
		return shownState{"deny", "✕", word}
	}
	return shownState{"warn", "…", word}
}
