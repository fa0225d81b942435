package matrix

import (
	"encoding/binary"
	"slices"
)

// class is a set of holdings that no rule can tell apart.
type class struct{ members []int }

// rank puts the holdings into classes, where all other parts are those of the point.
func (t *table) rank(at point) []class {
	key := t.contextOf(&at)
	if known, ok := t.classes[key]; ok {
		return known
	}
	var out []class
	found := map[string]int{}
	patterns, stands := t.lookedUp(&at)
	for h := range t.holds {
		if !t.holdable(&at, h, patterns, stands) {
			continue
		}
		at[holds] = h
		var vector []byte
		for _, s := range t.sides {
			s.now[1]++
			for n := range s.order {
				if s.direct[n] {
					vector = binary.AppendVarint(vector, int64(t.value(s, n, &at)))
				}
			}
		}
		i, known := found[string(vector)]
		if !known {
			i = len(out)
			found[string(vector)] = i
			out = append(out, class{})
		}
		out[i].members = append(out[i].members, h)
	}
	t.classes[key] = out
	return out
}

// contextOf names all on which the classes rest beside the holdings.
func (t *table) contextOf(at *point) string {
	var key []byte
	for _, s := range t.sides {
		for _, n := range s.context {
			for _, of := range [...]part{asked, who, where, grant} {
				key = binary.AppendVarint(key, int64(s.subs[n][of][at[of]]))
			}
		}
	}
	target := &t.where[at[where]].target
	key = append(key, target.ProjectID+" "+target.Resource+" "...)
	a := &t.asked[at[asked]]
	return string(key) + a.action[0].ID + " " + a.action[1].ID + " " + nameOfSet(t.grants[at[grant]].permissions) + t.holdsOf(at)
}

// holdsOf says whether the user at a point can hold anything.
func (t *table) holdsOf(at *point) string {
	if w := &t.who[at[who]]; w.subject != nil && w.subject.Member && w.subject.UserID != "" {
		return " holds"
	}
	return ""
}

// holdable says whether the user can hold that, and whether it is of interest for what is asked.
func (t *table) holdable(at *point, h int, patterns []string, stands map[string]string) bool {
	of := &t.holds[h]
	if len(of.held) == 0 {
		return true
	}
	if t.holdsOf(at) == "" {
		return false
	}
	if of.pattern != "" && !slices.Contains(patterns, of.pattern) {
		return false
	}
	return !slices.ContainsFunc(of.system, func(role string) bool { return stands[role] != role })
}
