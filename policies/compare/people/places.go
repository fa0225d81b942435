package people

import (
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// place is where a question is asked about somebody.
type place struct {
	// kind, path and about are what a report says of it; at is the place of the set, -1 for none.
	kind, path, about string
	at                int
	target            resources.Target
	state             string
	until             resources.Time
	stranger          bool
}

// places returns the places at which an asking is asked about the set: in the account, at each place where the user
// holds a role, and in a project where the user holds none; with what a row says of the path, the user whom it names, and the end of a grant.
func (w *worker) places(a *asking) (out []place) {
	for _, base := range w.bases(a) {
		for _, in := range a.below(base) {
			out = append(out, w.around(a, in)...)
		}
	}
	return out
}

// below returns a place and the paths below it that a row names, the place itself first.
func (a *asking) below(base place) (out []place) {
	held := base.target.Resource
	if base.target.Rest = held; held != "" || a.paths["none"] {
		out = append(out, base)
	}
	for _, path := range slices.Sorted(maps.Keys(a.paths)) {
		in := base
		switch {
		case path == "none" || held != "" && path != "below a resource":
			continue
		case held != "":
			in.target.Rest = held + "/parts"
		default:
			in.target.Resource, in.target.Rest = rest(path)
		}
		in.path = path
		out = append(out, in)
	}
	return out
}

// bases returns the account and the projects and resources in it.
func (w *worker) bases(a *asking) (out []place) {
	if a.projects["none"] {
		out = append(out, place{kind: "account", at: -1})
	}
	if len(a.projects) > 1 || !a.projects["none"] {
		for i, of := range w.of.places {
			in := place{kind: "project", at: i, state: of.state, target: resources.Target{ProjectID: of.project, Resource: of.resource}}
			if of.resource != "" {
				in.kind = "resource"
			}
			out = append(out, in)
		}
		if w.of.Account != "" {
			out = append(out, place{
				kind: "other project", at: -1, state: resources.ProjectActive, target: resources.Target{ProjectID: otherProject},
			})
		}
	}
	for i := range out {
		if a.stranger && out[i].at < 0 {
			in := out[i]
			in.kind, in.stranger = "another account, "+in.kind, true
			out = append(out, in)
		}
	}
	return out
}

// rest returns what a path names that a row gives in words.
func rest(path string) (resource, below string) {
	switch path {
	case "none":
		return "", ""
	case "a collection":
		return "", "things"
	case "a resource":
		return otherThing, otherThing
	case "below a resource":
		return otherThing, otherThing + "/parts"
	}
	if parts := strings.SplitN(path, "/", 3); len(parts) > 1 {
		resource = parts[0] + "/" + parts[1]
	}
	return resource, path
}

// around returns a place with the account and the user that a path can name there, and the ends of a grant.
func (w *worker) around(a *asking, in place) (out []place) {
	if a.entry == "grantable" {
		return w.until(a, in)
	}
	own := w.of.Account
	if in.stranger {
		own = otherAccount
	}
	for _, account := range slices.Sorted(maps.Keys(a.accounts)) {
		switch account {
		case "none":
			in.target.AccountID = ""
		case "the account", own:
			if in.target.AccountID = own; own == "" {
				continue
			}
		default:
			continue
		}
		for _, user := range slices.Sorted(maps.Keys(a.users)) {
			in.target.UserID, in.about = w.user(user)
			out = append(out, in)
		}
	}
	return out
}

// until returns a place with the ends of a grant.
func (w *worker) until(a *asking, in place) (out []place) {
	in.target.Rest = ""
	for _, until := range slices.Sorted(maps.Keys(a.until)) {
		switch until {
		case "never":
			in.until = 0
		case "before the assignment ends":
			in.until = w.now + hour/2
		default:
			in.until = w.now + 2*hour
		}
		out = append(out, in)
	}
	return out
}

// user returns the id of the user whom a row names in these words, or by the id, and what a report says of them.
func (w *worker) user(named string) (id, about string) {
	switch named {
	case "none":
		return "", ""
	case "the user", w.of.User:
		return w.of.User, "themselves"
	case "the user's UUID":
		return anyUUID, "themselves"
	case "another":
		return otherUser, "another user"
	}
	return named, named
}
