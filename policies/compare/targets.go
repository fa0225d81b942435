package compare

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// targets returns the values of the target part: each account and user of a path, with each project and resource.
func (c constants) targets() (out []target) {
	accounts := append([]string{"", anyAccount, otherAccount}, c.texts(nil, "target.account", "account.id")...)
	users := append([]string{"", anyUser, anyUUID, otherUser}, c.texts(nil, "target.user", "principal.id", "subject.id", "principal.uuid")...)
	for _, account := range accounts {
		for _, user := range users {
			for _, t := range c.targetsInAccount() {
				t.target.AccountID, t.target.UserID = account, user
				t.states = append([]State{{"path_account", nameOfAccount(account)}, {"path_user", nameOfUser(user)}}, t.states...)
				out = append(out, t)
			}
		}
	}
	return out
}

// pathRests returns the resources and collections that a path can name below an account or a project.
func (c constants) pathRests() []resources.Target {
	out := []resources.Target{{}, {Resource: anyResource, Rest: anyResource}, {Resource: anyResource, Rest: anyResource + below}, {Rest: aCollection}}
	for _, text := range c.texts(nil, "target.resource", "target.rest", "target.kind") {
		for _, rest := range []string{text, text + "/any-v0", text + "/any-v0" + below} {
			t := resources.Target{Rest: rest}
			if parts := strings.SplitN(rest, "/", 3); len(parts) > 1 {
				t.Resource = parts[0] + "/" + parts[1]
			}
			out = append(out, t)
		}
	}
	return out
}

// targetsInAccount returns the projects, project states and resources that a path can name in an account.
func (c constants) targetsInAccount() (out []target) {
	for _, rest := range c.pathRests() {
		out = append(out, target{target: rest, states: []State{{"project", "none"}, {"path", nameOfRest(rest)}}})
		for _, project := range c.texts([]string{anyProject}, "target.project") {
			for _, state := range []string{resources.ProjectActive, resources.ProjectDeleting, resources.ProjectAbsent} {
				t := rest
				t.ProjectID = project
				place := target{target: t, projectState: state, states: []State{{"project", state}, {"path", nameOfRest(rest)}}}
				if project != anyProject {
					place.states = append(place.states, State{"project_id", project})
				}
				out = append(out, place)
			}
		}
	}
	return out
}

func nameOfAccount(id string) string {
	switch id {
	case "":
		return "none"
	case anyAccount:
		return "the account"
	case otherAccount:
		return "another"
	}
	return id
}

func nameOfUser(id string) string {
	switch id {
	case "":
		return "none"
	case anyUser:
		return "the user"
	case anyUUID:
		return "the user's UUID"
	case otherUser:
		return "another"
	}
	return id
}

func nameOfRest(t resources.Target) string {
	switch {
	case t.Rest == "":
		return "none"
	case t.Resource == "":
		return "a collection"
	case t.Rest == anyResource:
		return "a resource"
	case t.Resource == anyResource:
		return "below a resource"
	}
	return t.Rest
}

// fits says whether a call of the route can have the target. A path without an account is about the caller's own.
func (place *target) fits(row *resources.Route, action resources.Action) bool {
	if row == nil {
		return true
	}
	account, project := strings.Contains(row.Path, "accounts/{"), strings.Contains(row.Path, "projects/{")
	user, rest := strings.Contains(row.Path, "{userId}") || strings.Contains(row.Path, "{user_id}"), strings.Contains(row.Path, "+}")
	asks := row.Upstream == "authorize" // the front door names the user in its question
	t := place.target
	if action.Scope == resources.ScopeAccount && t.ProjectID != "" {
		return false
	}
	return (t.AccountID == "" || account || rest) && (t.AccountID != "" || !account) &&
		(t.ProjectID == "" || project || rest) && (t.ProjectID != "" || !project || action.Scope == resources.ScopeAccount) &&
		(t.UserID == "" || user || asks)
}
