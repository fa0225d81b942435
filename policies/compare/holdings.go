package compare

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// spot is a place in an account to hold a role at.
type spot struct{ name, project, resource string }

// spots returns one place of each kind that rules can distinguish, and the places named by rules.
func (c constants) spots() []spot {
	out := []spot{
		{"account", "", ""},
		{"project", AnyProject, ""},
		{"resource", AnyProject, AnyResource},
		{"other project", otherProject, ""},
		{"resource beside", AnyProject, otherResource},
		{"resource of no project", "", AnyResource},
	}
	for _, project := range c.projects() {
		if project != AnyProject {
			out = append(out, spot{"project", project, ""}, spot{"resource", project, AnyResource})
		}
		for _, path := range c.pathRests() {
			if path.Resource != "" && path.Resource != AnyResource {
				out = append(out, spot{"resource", project, path.Resource})
			}
		}
	}
	return out
}

// standing is what the store has of an assignment beside its role and place.
type standing struct {
	role, assignment, scope string
	ends                    resources.Time
}

// standings returns all standings, first the one that counts.
func standings(ends []resources.Time) (out []standing) {
	scopes := []string{"", resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource}
	for _, scope := range scopes { // "" stands for the scope of the place
		for _, status := range statuses("subject.here.status") {
			for _, role := range statuses("subject.here.role_status") {
				for _, ends := range ends {
					out = append(out, standing{role, status, scope, ends})
				}
			}
		}
	}
	return out
}

// holdings returns what a user can hold: nothing, one role in each standing at each place, and pairs that count. roles
// has the scope of each system role. Representatives and the custom role with all permissions are also held in
// standings that do not count, if the place covers the target. combined adds pairs with one assignment that does not
// count. More than mostHoldings are nil.
func (c constants) holdings(roles map[string]string, representatives, patterns []string, ends []resources.Time, combined bool) []holding {
	out := []holding{{states: []State{{"assignment", "none"}}}}
	all := standings(ends)
	var good, idle []holding
	named := c.texts(nil, "subject.here.role")
	for _, place := range c.spots() {
		if len(out) > mostHoldings {
			return nil
		}
		for _, r := range c.roles(roles, patterns) {
			for _, s := range all {
				faults := s.faults()
				counts := faults == 0
				if !place.coversTarget() && (!counts || r.pattern != "") || !counts && !r.everyStanding(representatives) {
					continue
				}
				h := r.heldAt(place, s)
				out = append(out, h)
				if counts && s.ends == 0 && r.pairable(place, representatives) {
					good = append(good, h)
				}
				if combined && faults == 1 && s.ends < theTime && place.coversTarget() && (slices.Contains(named, r.id) || r.allCustom()) {
					idle = append(idle, h)
				}
			}
		}
	}
	if len(out)+len(good)*(len(good)/2+len(idle)) > mostHoldings {
		return nil
	}
	return append(out, pairs(good, idle)...)
}

// pairable says whether the comparison holds the role in pairs at a place.
func (r roleCase) pairable(place spot, representatives []string) bool {
	return r.pattern == "" && place.coversTarget() && r.fitsLevel(place) && (!r.system || slices.Contains(representatives, r.id))
}

// allCustom says whether the role is the custom role with all permissions.
func (r roleCase) allCustom() bool {
	return r.custom && r.id == anyRole && r.pattern == "" && len(r.permissions) > 0
}

// pairs returns all pairs of good holdings, and each good holding with each idle one.
func pairs(good, idle []holding) (out []holding) {
	for i, a := range good {
		for _, b := range good[i+1:] {
			out = append(out, a.and(b))
		}
		for _, b := range idle {
			out = append(out, a.and(b))
		}
	}
	return out
}

// and returns both holdings as one.
func (h holding) and(other holding) holding {
	return holding{
		assignments: slices.Concat(h.assignments, other.assignments), role: h.role + " and " + other.role, place: h.place + " and " + other.place,
		pair:   [][2]string{{h.role, h.place}, {other.role, other.place}},
		system: slices.Concat(h.system, other.system), states: slices.Concat(h.states, other.states), impossible: h.impossible || other.impossible,
	}
}

// faults returns how many things keep the shipped rules from counting the assignment.
func (s standing) faults() (n int) {
	for _, fault := range []bool{s.role != resources.StatusActive, s.assignment != resources.StatusActive, s.scope != "", s.ends == ended} {
		if fault {
			n++
		}
	}
	return n
}

// roleCase is a role to hold.
type roleCase struct {
	id, scope, pattern string
	custom, system     bool
	permissions        []string
}

// roles returns the system roles, an unknown role, and custom roles: with all permissions, with none, with the id of a
// system role, and with one pattern each.
func (c constants) roles(system map[string]string, patterns []string) (out []roleCase) {
	ids := slices.Sorted(maps.Keys(system))
	for _, id := range ids {
		out = append(out, roleCase{id: id, scope: system[id], system: true})
	}
	out = append(out, roleCase{id: anyRole}, roleCase{id: anyRole, custom: true}, roleCase{id: anyRole, custom: true, permissions: []string{"*:*:*"}})
	if len(ids) > 0 {
		out = append(out, roleCase{id: ids[0], custom: true, permissions: []string{"*:*:*"}}, roleCase{id: ids[0], custom: true})
	}
	for _, id := range c.texts(nil, "subject.here.role") {
		out = append(out, roleCase{id: id, custom: true, permissions: []string{"*:*:*"}}, roleCase{id: id, custom: true})
		if _, isSystem := system[id]; !isSystem {
			out = append(out, roleCase{id: id})
		}
	}
	for _, pattern := range patterns {
		out = append(out, roleCase{id: anyRole, custom: true, pattern: pattern, permissions: []string{pattern}})
	}
	return out
}

// everyStanding says whether the comparison also holds the role in standings that do not count.
func (r roleCase) everyStanding(representatives []string) bool {
	return r.system && slices.Contains(representatives, r.id) || r.allCustom()
}

// fitsLevel says whether the role can be held at the level of the place.
func (r roleCase) fitsLevel(place spot) bool { return r.scope == "" || r.scope == place.level() }

// coversTarget says whether the place covers the target, if the target is in the project and is the resource.
func (s spot) coversTarget() bool {
	return s.project != otherProject && s.resource != otherResource && s.level() != ""
}

// level returns the scope of roles held at the place, "" if the place is invalid.
func (s spot) level() string {
	switch {
	case s.project == "" && s.resource == "":
		return resources.RoleScopeAccount
	case s.project == "":
		return ""
	case s.resource == "":
		return resources.RoleScopeProject
	}
	return resources.RoleScopeResource
}

// heldAt returns the holding of the role at a place.
func (r roleCase) heldAt(place spot, s standing) holding {
	scope := s.scope
	if scope == "" {
		if scope = place.level(); scope == "" {
			scope = resources.RoleScopeResource
		}
	}
	h := holding{
		assignments: []resources.HeldRole{{
			RoleID: r.id, RoleScope: scope, RoleStatus: s.role, Custom: r.custom, Permissions: r.permissions,
			ProjectID: place.project, ResourceID: place.resource, Status: s.assignment, ExpiresAt: s.ends,
		}},
		role: r.name(), place: place.name, pattern: r.pattern, impossible: place.level() == "",
	}
	if r.system {
		h.system = []string{r.id}
	}
	ends := "never"
	if s.ends != 0 {
		if ends = "later"; s.ends <= theTime {
			ends = "ended"
		}
	}
	h.states = []State{{"assignment", s.assignment}, {"role", s.role}, {"role_scope", scope}, {"ends", ends}}
	return h
}

// name returns the name of the role in a report.
func (r roleCase) name() string {
	switch {
	case !r.custom && r.id == anyRole:
		return "a role that is unknown"
	case !r.custom:
		return r.id
	case r.id != anyRole:
		return "a custom role named " + r.id + r.withPermissions()
	}
	return "a custom role" + r.withPermissions()
}

func (r roleCase) withPermissions() string {
	if len(r.permissions) == 0 {
		return " without permissions"
	}
	return " with " + strings.Join(r.permissions, ", ")
}

// grantCases returns the values of the grant part: each set of permissions with each end and each current time.
func (c constants) grantCases(sets [][]string) (out []grantCase) {
	for _, now := range c.times([]resources.Time{theTime}, "now") {
		for _, set := range sets {
			for _, until := range append(c.times([]resources.Time{0, Later - 1, Later, afterwards}, "grant.until"), -1) {
				g := grantCase{permissions: set, until: until, now: now, impossible: until < 0}
				word := "after the assignment ends"
				switch until {
				case -1:
					word = "in the past"
				case 0:
					word = "never"
				case Later - 1, Later:
					word = "before the assignment ends"
				}
				g.states = []State{{"grants", nameOfSet(set)}, {"until", word}}
				out = append(out, g)
			}
		}
	}
	return out
}

// nameOfSet returns at most three permissions of a set for a report.
func nameOfSet(set []string) string {
	if len(set) == 0 {
		return "nothing"
	}
	if len(set) > 3 {
		return strings.Join(set[:3], ", ") + ", …"
	}
	return strings.Join(set, ", ")
}

// profile returns what rules can read of a system role when they look up the patterns. named adds its id.
func profile(role *resources.Role, patterns []string, named bool) string {
	if role == nil {
		return "-"
	}
	text := role.Scope
	for _, pattern := range patterns {
		if _, held := slices.BinarySearch(role.Permissions, pattern); held {
			text += " " + pattern
		}
	}
	if named {
		text += " " + role.ID
	}
	return text
}

// patternsAmong returns the constants that are patterns of permissions.
func (c constants) patternsAmong() (out []string) {
	for _, values := range c {
		for _, v := range values {
			if text, ok := v.(ast.String); ok {
				if _, err := resources.ParsePattern(string(text)); err == nil && !slices.Contains(out, string(text)) {
					out = append(out, string(text))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}
