package replay

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// kind groups flips.
type kind struct {
	// Allowed is the new verdict.
	Allowed bool `json:"allow"`
	// Path is what was asked, as the decision log names it.
	Path string `json:"path"`
	// Route names the row of a call, Action what is done.
	Route  string `json:"route,omitempty"`
	Action string `json:"action,omitempty"`
	// Place is account, project, or the collection of a resource. For an app it is the type of the resource.
	Place string `json:"place"`
	// Role names the roles that the subject holds there or above.
	Role string `json:"role,omitempty"`
}

func (k *kind) order(other *kind) int {
	return cmp.Or(
		cmp.Compare(k.Path, other.Path), cmp.Compare(k.Route, other.Route), cmp.Compare(k.Action, other.Action),
		cmp.Compare(k.Place, other.Place), cmp.Compare(k.Role, other.Role),
	)
}

// Asked names what was asked.
func (k *kind) Asked() string {
	return strings.Join(slices.DeleteFunc([]string{k.Path, k.Route, k.Action}, func(s string) bool { return s == "" }), " ")
}

// kindOf parses what a mask left of an input.
func kindOf(path string, input []byte) kind {
	type held struct{ Role string }
	var parsed struct {
		Action   struct{ ID, Name string }
		Route    struct{ Name string }
		Resource struct{ Type string }
		Target   struct{ Project, Resource string }
		Subject  struct{ Here []held }
		Facts    struct{ Assignments []held }
	}
	_ = json.Unmarshal(input, &parsed) // members of another type, as an app may be sent, stay empty
	k := kind{Path: path, Action: cmp.Or(parsed.Action.ID, parsed.Action.Name)}
	if path == resources.PathAccess { // elsewhere it is the route of the door
		k.Route = parsed.Route.Name
	}
	collection, _, _ := strings.Cut(parsed.Target.Resource, "/")
	switch k.Place = cmp.Or(parsed.Resource.Type, collection); {
	case k.Place != "":
	case parsed.Target.Project != "":
		k.Place = "project"
	default:
		k.Place = "account"
	}
	var roles []string
	for _, h := range append(parsed.Subject.Here, parsed.Facts.Assignments...) {
		roles = append(roles, h.Role)
	}
	slices.Sort(roles)
	k.Role = strings.Join(slices.Compact(roles), " ")
	return k
}
