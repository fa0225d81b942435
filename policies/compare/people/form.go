package people

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Names that stand for any: no record has them.
const (
	anyAccount, otherAccount = "acct-any-v0", "acct-other-v0"
	anyUser, otherUser       = "user-any-v0", "user-other-v0"
	anyUUID                  = "uuid-any-v0"
	otherProject             = "proj-other-v0"
	otherThing               = "things/any-v0"
	ended                    = resources.Time(1)
	hour                     = resources.Time(time.Hour / time.Millisecond)
)

// forms puts people together whom no rule can tell apart.
type forms struct {
	names names
	now   resources.Time
}

// formed is a person with ids replaced, and the places at which they hold roles: those of the form, and the person's own
// in the same order.
type formed struct {
	Person
	places []spot
	real   []string
}

// spot is a project, or a resource in it.
type spot struct{ project, state, resource string }

// of replaces the ids that no rule names. Projects are named in the order of what is held in them, so that two people
// who hold the same in projects of their own have one form.
func (f *forms) of(p Person) formed {
	out := formed{Person: p}
	out.User, out.Account = f.names.keep(p.User, anyUser), ""
	if p.Account != "" {
		out.Account = f.names.keep(p.Account, anyAccount)
	}
	held := f.roles(p.Held)
	at := map[string][]Held{}
	for i := range held {
		at[held[i].Project] = append(at[held[i].Project], held[i])
	}
	type one struct {
		id, sign  string
		resources map[string]string // the names of the form by the ids
		held      []Held
	}
	var projects []one
	for id, here := range at {
		in := one{id: id, held: here}
		if in.sign, in.resources = f.resources(here); f.names.has(id) {
			in.sign = id + in.sign
		}
		projects = append(projects, in)
	}
	slices.SortFunc(projects, func(a, b one) int { return cmp.Or(strings.Compare(a.sign, b.sign), strings.Compare(a.id, b.id)) })
	out.Held = nil
	for i, in := range projects {
		name := in.id
		if in.id != "" {
			name = f.names.keep(in.id, fmt.Sprintf("proj-any%d-v0", i))
		}
		out.add(name, in.id, in.held, in.resources)
	}
	return out
}

// add adds what is held in a project.
func (of *formed) add(name, id string, held []Held, resources map[string]string) {
	if id != "" && held[0].Resource != "" {
		of.places, of.real = append(of.places, spot{name, held[0].State, ""}), append(of.real, id)
	}
	for i, h := range held {
		if id != "" && (i == 0 || h.Resource != held[i-1].Resource) {
			own := id
			if h.Resource != "" {
				own += "/" + h.Resource
			}
			of.places, of.real = append(of.places, spot{name, h.State, resources[h.Resource]}), append(of.real, own)
		}
		h.Project, h.Resource = name, resources[h.Resource]
		of.Held = append(of.Held, h)
	}
}

// resources orders what is held in a project by resources, and names these. It returns what tells the project from others.
func (f *forms) resources(held []Held) (sign string, named map[string]string) {
	at := map[string][]string{}
	for _, h := range held {
		resource := h.Resource
		h.Project, h.Resource = "", ""
		at[resource] = append(at[resource], text(h))
	}
	signs := map[string]string{}
	for resource, all := range at {
		slices.Sort(all)
		collection, _, _ := strings.Cut(resource, "/")
		if f.names.has(resource) {
			collection = resource
		}
		signs[resource] = collection + " " + strings.Join(all, " ")
	}
	order := slices.SortedFunc(maps.Keys(signs), func(a, b string) int {
		if a == "" || b == "" {
			return strings.Compare(a, b) // the project itself comes first
		}
		return cmp.Or(strings.Compare(signs[a], signs[b]), strings.Compare(a, b))
	})
	named, place := map[string]string{"": ""}, map[string]int{}
	for i, resource := range order {
		place[resource] = i
		if collection, _, of := strings.Cut(resource, "/"); of {
			named[resource] = f.names.keep(resource, fmt.Sprintf("%s/any%d-v0", collection, i))
		}
		sign += signs[resource] + "\n"
	}
	slices.SortFunc(held, func(a, b Held) int {
		return cmp.Or(cmp.Compare(place[a.Resource], place[b.Resource]), strings.Compare(text(a), text(b)))
	})
	return sign, named
}

// roles replaces the ids of custom roles and the ends of assignments, as far as no rule tells them apart.
func (f *forms) roles(held []Held) []Held {
	out := slices.Clone(held)
	slices.SortFunc(out, func(a, b Held) int { return strings.Compare(a.Role, b.Role) })
	names, made := map[string]string{}, map[string]int{}
	for i := range out {
		h := &out[i]
		if h.Custom {
			h.Permissions = slices.Sorted(slices.Values(h.Permissions))
			if names[h.Role] == "" {
				content := fingerprint(h.RoleScope + "\n" + strings.Join(h.Permissions, "\n"))[:16]
				names[h.Role] = f.names.keepRole(h.Role, fmt.Sprintf("role-any-%s-%d", content, made[content]))
				made[content]++
			}
			h.Role = names[h.Role]
		}
		switch {
		case f.names.times || h.Expires == 0:
		case h.Expires <= f.now:
			h.Expires = ended
		default:
			h.Expires = f.now + hour
		}
	}
	return out
}

// text returns an assignment as one line.
func text(h Held) string {
	line, _ := json.Marshal(h) // strings, booleans and numbers always have a form
	return string(line)
}

// subject returns the form as the engine is told of a user.
func (p *Person) subject() *resources.Subject {
	s := &resources.Subject{
		AccountID: p.Account, AccountExists: p.AccountStatus != "", AccountStatus: p.AccountStatus,
		UserID: p.User, UserUUID: anyUUID, UserExists: true, UserStatus: p.Status, Member: p.Account != "",
	}
	for i := range p.Held {
		h := &p.Held[i]
		s.Assignments = append(s.Assignments, resources.HeldRole{
			RoleID: h.Role, RoleScope: h.RoleScope, RoleStatus: h.RoleStatus, Custom: h.Custom, Permissions: h.Permissions,
			ProjectID: h.Project, ResourceID: h.Resource, Status: h.Status, ExpiresAt: h.Expires,
		})
	}
	return s
}
