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

// kindOf parses what a mask left of an input. A part of another type, as a mask or a caller of an app may make it, stays empty
// and hides no other part.
func kindOf(path string, input []byte) kind {
	asked := object(input)
	k := kind{Path: path, Action: text(asked, "action", "id"), Place: "account"}
	held := object(asked["subject"])["here"]
	collection, _, _ := strings.Cut(text(asked, "target", "resource"), "/")
	switch {
	case strings.HasPrefix(path, resources.PathApps): // beside these, a caller may send anything
		k.Action, k.Place = text(asked, "action", "name"), cmp.Or(text(asked, "resource", "type"), k.Place)
		held = object(asked["facts"])["assignments"]
	case collection != "":
		k.Place = collection
	case text(asked, "target", "project") != "":
		k.Place = "project"
	}
	if path == resources.PathAccess { // elsewhere it is the route of the door
		k.Route = text(asked, "route", "name")
	}
	var all []struct{ Role string }
	_ = json.Unmarshal(held, &all)
	var roles []string
	for _, h := range all {
		roles = append(roles, h.Role)
	}
	slices.Sort(roles)
	k.Role = strings.Join(slices.Compact(roles), " ")
	return k
}

// object returns the members of an object by their exact names, none of any other value.
func object(raw []byte) (members map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &members)
	return members
}

// text returns a text in a part of an input, "" for any other value.
func text(input map[string]json.RawMessage, part, name string) (text string) {
	_ = json.Unmarshal(object(input[part])[name], &text)
	return text
}
