package compare

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// targets returns the values of the target part: each account and user of a path, with each project and resource.
func (c constants) targets() (out []target) {
	for _, account := range c.pathAccounts() {
		for _, user := range c.pathUsers() {
			for _, t := range c.targetsInAccount() {
				t.target.AccountID, t.target.UserID = account, user
				t.states = append([]State{{"path_account", nameOfAccount(account)}, {"path_user", NameOfUser(user)}}, t.states...)
				out = append(out, t)
			}
		}
	}
	return out
}

// pathAccounts returns the accounts that a path can name, "" for none.
func (c constants) pathAccounts() []string {
	return append([]string{"", AnyAccount, OtherAccount}, c.texts(nil, "target.account", "account.id")...)
}

// pathUsers returns the users that a path can name, "" for none.
func (c constants) pathUsers() []string {
	return append([]string{"", AnyUser, AnyUUID, OtherUser}, c.texts(nil, "target.user", "principal.id", "subject.id")...)
}

// pathRests returns the resources and collections that a path can name below an account or a project.
func (c constants) pathRests() []resources.Target {
	out := []resources.Target{{}, {Resource: AnyResource, Rest: AnyResource}, {Resource: AnyResource, Rest: AnyResource + pathBelow}, {Rest: aCollection}}
	for _, text := range c.texts(nil, "target.resource", "target.rest", "target.kind") {
		for _, rest := range []string{text, text + "/any-v0", text + "/any-v0" + pathBelow} {
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
		out = append(out, target{target: rest, states: []State{{"project", "none"}, {"path", NameOfPath(rest)}}})
		for _, project := range c.projects() {
			for _, state := range projectStates() {
				t := rest
				t.ProjectID = project
				place := target{target: t, projectState: state, states: []State{{"project", state}, {"path", NameOfPath(rest)}}}
				if project != AnyProject {
					place.states = append(place.states, State{"project_id", project})
				}
				out = append(out, place)
			}
		}
	}
	return out
}

// projects returns the projects that a path can name.
func (c constants) projects() []string { return c.texts([]string{AnyProject}, "target.project") }

// projectStates returns the states of a project.
func projectStates() []string {
	return []string{resources.ProjectActive, resources.ProjectDeleting, resources.ProjectAbsent}
}

func nameOfAccount(id string) string {
	switch id {
	case "":
		return "none"
	case AnyAccount:
		return "the account"
	case OtherAccount:
		return "another"
	}
	return id
}

// NameOfUser names the user of a target, in the words of States.
func NameOfUser(id string) string {
	switch id {
	case "":
		return "none"
	case AnyUser:
		return "the user"
	case AnyUUID:
		return "the user's UUID"
	case OtherUser:
		return "another"
	}
	return id
}

// NameOfPath names the path of a target below its project, in the words of States.
func NameOfPath(t resources.Target) string {
	switch {
	case t.Rest == "":
		return "none"
	case t.Resource == "":
		return "a collection"
	case t.Rest == AnyResource:
		return "a resource"
	case t.Resource == AnyResource:
		return "below a resource"
	}
	return t.Rest
}

// fits says whether a call of the route can have the target. A path without an account is about the caller's own.
func (place *target) fits(route *resources.Route, action resources.Action) bool {
	names, t := namesOf(route), place.target
	if action.Scope == resources.ScopeAccount && t.ProjectID != "" {
		return false
	}
	return (t.AccountID == "" || names.account || names.free) && (t.AccountID != "" || !names.account) &&
		(t.ProjectID == "" || names.project || names.free) && (t.ProjectID != "" || !names.project || action.Scope == resources.ScopeAccount) &&
		(t.UserID == "" || names.user)
}

// pathNames says what each call of a route names. With free, a call may name an account and a project as well.
type pathNames struct{ account, project, user, free bool }

func namesOf(r *resources.Route) pathNames {
	has := func(text string) bool { return strings.Contains(r.Path, text) }
	return pathNames{
		account: has("accounts/{") || r.Place.Account != "",
		project: has("projects/{") || r.Place.Project != "",
		user:    has("{userId}") || has("{user_id}") || r.Upstream == "authorize", // the front door names the user in its question
		free:    has("+}") || has("}/{"),                                          // values of two parameters may be projects/{id}
	}
}
