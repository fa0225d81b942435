package people

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Report says which real users gain or lose access by a change.
type Report struct {
	// Users and Accounts count those who were read, FactSets their distinct sets of facts. Questions counts what was asked
	// about these, each of both trees.
	Users     int `json:"users"`
	Accounts  int `json:"accounts"`
	FactSets  int `json:"fact_sets"`
	Questions int `json:"questions"`
	// Facts is the revision of the facts: the store's epoch before they were read and after.
	Facts Facts `json:"facts"`
	// Gain and Lose are the questions with other answers. Those of most users come first.
	Gain []Change `json:"gain"`
	Lose []Change `json:"lose"`
	// NotLookedAt is left out for a bound, or for a rule that can't be compared.
	NotLookedAt []Omission `json:"not_looked_at"`
}

// Facts is the revision of all facts of a store: where both are equal, nothing has changed between.
type Facts struct {
	From int64 `json:"from_epoch"`
	To   int64 `json:"to_epoch"`
}

// Change is an answer that differs for some users.
type Change struct {
	Entry  string   `json:"entry"`
	Route  string   `json:"route,omitempty"`
	Action string   `json:"action,omitempty"`
	Grants []string `json:"grants,omitempty"`
	// By is by what: token, key with its scopes, or a service that asks about the user.
	By []string `json:"by"`
	// Place is the kind of the place. Path is what is named below it, "" if the answer differs for the place itself. About is the
	// user in the path: the user, another, an id, or "" for none.
	Place string  `json:"place"`
	Path  string  `json:"path,omitempty"`
	About string  `json:"about,omitempty"`
	Users int     `json:"users"`
	Named []Named `json:"named"`
}

// Named is one of the users. Places are those of the kind at which the user holds a role.
type Named struct {
	User    string   `json:"user"`
	Account string   `json:"account,omitempty"`
	Places  []string `json:"places,omitempty"`
}

// Omission is something that was not looked at. Users is 0 where it does not concern single users.
type Omission struct {
	What  string `json:"what"`
	Users int    `json:"users,omitempty"`
}

// The kinds of what two trees answer. Any other text is why one of them gives no answer.
const (
	same = ""
	gain = "gain"
	lose = "lose"
)

// change is a different or a missing answer.
type change struct {
	Change
	kind string
}

// key names a change. Where an answer is missing, the reason does.
func (c *change) key() string {
	if c.kind != gain && c.kind != lose {
		return c.kind
	}
	return strings.Join([]string{
		c.kind, c.Entry, c.Route, c.Action, c.Place, c.Path, c.About, strings.Join(c.Grants, ","), strings.Join(c.By, ","),
	}, "\n")
}

// count adds the users of a set to the changes at their stands.
func (set *factSet) count(changes [][]*change, names int) {
	stands := map[*change]map[int]bool{}
	for _, number := range set.stands {
		for _, c := range changes[number] {
			if stands[c] == nil {
				stands[c] = map[int]bool{}
			}
			stands[c][number] = true
		}
	}
	for c, numbers := range stands {
		c.Users += set.users
		for _, u := range set.named[:min(len(set.named), names-len(c.Named))] {
			n := Named{User: u.User, Account: u.Account}
			for i, number := range u.stands {
				if numbers[number] && len(n.Places) < names {
					n.Places = append(n.Places, u.Places[i])
				}
			}
			c.Named = append(c.Named, n)
		}
	}
}

// add adds the changes, those of most users first.
func (r *Report) add(changes map[string]*change) {
	all := slices.SortedFunc(maps.Values(changes), func(a, b *change) int {
		return cmp.Or(cmp.Compare(b.Users, a.Users), strings.Compare(a.key(), b.key()))
	})
	for _, c := range all {
		switch {
		case c.Users == 0: // theirs are sets that are not kept
		case c.kind == gain:
			r.Gain = append(r.Gain, c.Change)
		case c.kind == lose:
			r.Lose = append(r.Lose, c.Change)
		default:
			r.NotLookedAt = append(r.NotLookedAt, Omission{c.kind, c.Users})
		}
	}
}
