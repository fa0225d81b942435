package people

import (
	"cmp"
	"slices"
	"strings"
)

// Report says whom of the real users a change lets in or shuts out.
type Report struct {
	// Users and Accounts count those who were read, FactSets their distinct sets of facts; each was judged by Questions,
	// twice.
	Users     int `json:"users"`
	Accounts  int `json:"accounts"`
	FactSets  int `json:"fact_sets"`
	Questions int `json:"questions"`
	// Facts is the revision of the facts: the store's epoch before they were read and after.
	Facts Facts `json:"facts"`
	// Gain and Lose are the questions whose answer turns, those that concern most users first.
	Gain []Change `json:"gain"`
	Lose []Change `json:"lose"`
	// NotLookedAt is what a bound, or a rule that no table holds, has left out.
	NotLookedAt []Left `json:"not_looked_at"`
}

// Facts is the revision of all facts of a store: where both are equal, nothing has changed between.
type Facts struct {
	From int64 `json:"from_epoch"`
	To   int64 `json:"to_epoch"`
}

// Change is an answer that turns for some users.
type Change struct {
	Entry  string   `json:"entry"`
	Route  string   `json:"route,omitempty"`
	Action string   `json:"action,omitempty"`
	Grants []string `json:"grants,omitempty"`
	// By is by what: token, key with its scopes, or a service that asks about the user.
	By []string `json:"by"`
	// Place is the kind of the place, Path what is named below it, where the place itself shows no difference. About is the
	// user whom the call names, where it names one.
	Place string  `json:"place"`
	Path  string  `json:"path,omitempty"`
	About string  `json:"about,omitempty"`
	Users int     `json:"users"`
	Named []Named `json:"named"`
}

// Named is one of them. Places are those at which the user holds a role, where they are of the kind.
type Named struct {
	User    string   `json:"user"`
	Account string   `json:"account,omitempty"`
	Places  []string `json:"places,omitempty"`
}

// Left is something that was not looked at. Users is 0 where it is not a matter of single users.
type Left struct {
	What  string `json:"what"`
	Users int    `json:"users,omitempty"`
}

// changes collects the changes of one direction.
type changes struct {
	by    map[string]*Change
	names int
}

// turned are the questions of one set whose answers turn in one direction, by the change without its callers.
type turned map[string]*turn

// turn is one of them: by whom, and at which places of the set.
type turn struct {
	change Change
	by     map[string]bool
	at     map[int]bool
}

func (t turned) add(c Change, by string, at int) {
	key := strings.Join([]string{c.Entry, c.Route, c.Action, strings.Join(c.Grants, ","), c.Place, c.Path, c.About}, "\n")
	of := t[key]
	if of == nil {
		of = &turn{change: c, by: map[string]bool{}, at: map[int]bool{}}
		t[key] = of
	}
	of.by[by] = true
	if at >= 0 {
		of.at[at] = true
	}
}

// take adds what turns for a set.
func (c *changes) take(set *factSet, all turned) {
	for key, t := range all {
		for by := range t.by {
			t.change.By = append(t.change.By, by)
		}
		slices.Sort(t.change.By)
		key += "\n" + strings.Join(t.change.By, ",")
		of := c.by[key]
		if of == nil {
			of = &t.change
			of.Named = []Named{}
			c.by[key] = of
		}
		of.Users += set.users
		for _, user := range set.named[:min(len(set.named), c.names-len(of.Named))] {
			n := Named{User: user.user, Account: user.account}
			for i, place := range user.places {
				if t.at[i] && len(n.Places) < c.names {
					n.Places = append(n.Places, place)
				}
			}
			of.Named = append(of.Named, n)
		}
	}
}

// sorted returns the changes, those that concern most users first.
func (c *changes) sorted() []Change {
	out := []Change{}
	for _, of := range c.by {
		out = append(out, *of)
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(b.Users, a.Users), strings.Compare(a.Entry, b.Entry), strings.Compare(a.Route, b.Route), strings.Compare(a.Action, b.Action),
			strings.Compare(a.Place, b.Place), strings.Compare(a.Path, b.Path), strings.Compare(a.About, b.About), slices.Compare(a.Grants, b.Grants), slices.Compare(a.By, b.By),
		)
	})
	return out
}
