package console

import "net/http"

// names are what roles, groups and projects are called, by their ids. An id without a name stands for itself.
type names struct{ roles, groups, projects map[string]string }

// named returns the name for an id.
func named(all map[string]string, id string) string {
	if name := all[id]; name != "" {
		return name
	}
	return id
}

// Role returns the name of a role.
func (n names) Role(id string) string { return named(n.roles, id) }

// Group returns the name of a group.
func (n names) Group(id string) string { return named(n.groups, id) }

// Project returns the name of a project.
func (n names) Project(id string) string { return named(n.projects, id) }

// names reads the names of the first roles, groups and projects that the user may list.
func (p *page) names() (names, error) {
	var answer struct {
		Data     []project `json:"data"`
		Groups   []project `json:"groups"`
		Projects []project `json:"projects"`
	}
	for _, list := range []struct{ path, size string }{{"roles", "pageSize"}, {"groups", "page_size"}, {"projects", "page_size"}} {
		err := p.api.get(p.r.Context(), p.account(list.path), given(list.size, "100"), &answer)
		if _, denied := isRefusal(err, http.StatusForbidden); err != nil && !denied {
			return names{}, err
		}
	}
	return names{byID(answer.Data), byID(answer.Groups), byID(answer.Projects)}, nil
}

func byID(all []project) map[string]string {
	out := map[string]string{}
	for _, one := range all {
		out[one.ID] = one.Name
	}
	return out
}
