package people

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// asking is what everybody is asked about: an action, a route, or a grant.
type asking struct {
	entry, route, action string
	grants               []string
	rows                 [2]*resources.Route // of both trees; nil where a tree has none
	actions              [2]resources.Action
	// token, key and service say by whom: the user, an API key of theirs, a service that asks about them.
	token, key, service bool
	// stranger says that people are asked about an account of which they are no member.
	stranger bool
	// accounts, users, projects, paths and until are what the target and the grant may be, as the rows name it.
	accounts, users, projects, paths, until map[string]bool
}

// askings are made of the rows in which access turns, and of all actions and routes where that is not all.
type askings struct {
	sets [2]*engine.Set
	by   map[string]*asking
	left map[string]bool // what was not looked at
}

// newAskings reads the rows. Those whose caller is no user and no service that asks about one concern no people.
func newAskings(sets [2]*engine.Set, rows []compare.Row, gaps []compare.Gap) *askings {
	all := &askings{sets: sets, by: map[string]*asking{}, left: map[string]bool{}}
	for i := range rows {
		all.row(&rows[i])
	}
	if len(gaps) > 0 {
		all.everything()
	}
	for _, g := range gaps {
		all.left[g.At+" reads "+g.Reads+": "+g.LeftOut+", but for those that people have"] = true
	}
	return all
}

// sorted returns the askings in an order that is always the same.
func (all *askings) sorted() []*asking {
	return slices.SortedFunc(maps.Values(all.by), func(a, b *asking) int {
		return cmp.Or(strings.Compare(a.entry, b.entry), strings.Compare(a.route, b.route), strings.Compare(a.action, b.action), slices.Compare(a.grants, b.grants))
	})
}

// row notes what real users have to be asked for a row of the table.
func (all *askings) row(r *compare.Row) {
	service := strings.HasPrefix(r.Caller, "service")
	if r.Caller != "self" && (!service || r.Entry != "decision") {
		return
	}
	a := all.at(r.Entry, r.Route, r.Action, r.States["grants"])
	if a == nil {
		return
	}
	switch {
	case service:
		a.service = true
	case r.Credential == resources.CredentialToken:
		a.token = true
	default:
		a.key = true
	}
	a.add(r.States)
	for _, user := range r.States["user"] {
		a.stranger = a.stranger || strings.HasSuffix(user, ", no member")
	}
	for _, id := range r.States["project_id"] {
		all.left["the project "+id+", which a rule names, but for those who hold a role there"] = true
	}
}

// add adds what the target may be.
func (a *asking) add(states map[string][]string) {
	for name, to := range map[string]map[string]bool{
		"path_account": a.accounts, "path_user": a.users, "project": a.projects, "path": a.paths, "until": a.until,
	} {
		for _, value := range states[name] {
			to[value] = true
		}
	}
}

// at returns the asking of that name; nil where neither tree has it.
func (all *askings) at(entry, route, action string, grants []string) *asking {
	key := strings.Join([]string{entry, route, action, strings.Join(grants, ",")}, "\n")
	if entry == "access" { // an action may have two names, one in each tree
		key = entry + "\n" + route
	}
	if known := all.by[key]; known != nil {
		return known
	}
	a := &asking{
		entry: entry, route: route, action: action,
		accounts: map[string]bool{}, users: map[string]bool{}, projects: map[string]bool{}, paths: map[string]bool{}, until: map[string]bool{},
	}
	switch entry {
	case "decision":
		parsed, err := resources.ParseAction(action)
		if err != nil {
			return nil
		}
		a.actions = [2]resources.Action{parsed, parsed}
	case "access":
		if !a.find(all.sets, route) {
			return nil
		}
	default:
		of := strings.Join(grants, "")
		if strings.HasSuffix(of, "…") {
			all.left["grants of more than three permissions"] = true
			return nil
		}
		if of != "nothing" {
			a.grants = strings.Split(of, ", ")
		}
	}
	all.by[key] = a
	return a
}

// find finds the rows of a route. A name of the form `old -> new` is of calls that another row takes now.
func (a *asking) find(sets [2]*engine.Set, route string) bool {
	old, fresh, moved := strings.Cut(route, " -> ")
	if !moved {
		fresh = old
	}
	for side, name := range []string{old, fresh} {
		a.rows[side] = named(sets[side], name)
	}
	for side := range a.rows { // a row may have another name in the other tree
		if other := a.rows[1-side]; a.rows[side] == nil && other != nil {
			a.rows[side] = placed(sets[side], other)
		}
	}
	for side, row := range a.rows {
		if row != nil && row.Action != "" {
			a.actions[side], _ = resources.ParseAction(row.Action) // a tree whose actions can't be read does not compile
		}
	}
	return a.rows[0] != nil || a.rows[1] != nil
}

func named(set *engine.Set, name string) *resources.Route {
	for _, row := range set.Routes() {
		if row.Name == name {
			return &row
		}
	}
	return nil
}

func placed(set *engine.Set, at *resources.Route) *resources.Route {
	for _, row := range set.Routes() {
		if row.Method == at.Method && row.Path == at.Path && strings.EqualFold(row.Host, at.Host) {
			return &row
		}
	}
	return nil
}

// everything adds all listed actions and all routes: where the comparison is not exhaustive, any of them may turn.
func (all *askings) everything() {
	for _, set := range all.sets {
		for _, listed := range set.Actions() {
			a := all.at("decision", "", listed.ID, nil)
			a.token, a.key, a.service = true, true, true
			a.add(map[string][]string{"path_account": {"the account"}, "path_user": {"none"}, "project": {"none", "active"}, "path": {"none", "a resource"}})
		}
		for _, row := range set.Routes() {
			if slices.Contains(row.Access, "public") {
				continue
			}
			a := all.at("access", row.Name, row.Action, nil)
			a.token, a.key = true, true
			a.add(statesOf(row.Path))
		}
	}
}

// statesOf returns what a path can name.
func statesOf(path string) map[string][]string {
	out := map[string][]string{"path_account": {"none"}, "path_user": {"none"}, "project": {"none"}, "path": {"none"}}
	if strings.Contains(path, "{account") {
		out["path_account"] = []string{"the account"}
	}
	if strings.Contains(path, "{userId}") || strings.Contains(path, "{user_id}") {
		out["path_user"] = []string{"the user", "another"}
	}
	if strings.Contains(path, "{projectId") {
		out["project"] = []string{"active"}
	}
	if strings.Contains(path, "+}") {
		out["path"] = []string{"none", "a resource"}
	}
	return out
}
