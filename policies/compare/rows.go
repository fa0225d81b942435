package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// rowKey names a row before its states are known.
type rowKey struct {
	asked, grants      int
	caller, credential string
	role, place        string
	old, fresh         Answer
	reachable          bool
}

// rows tells the holdings of the findings apart, where access turns. A pair of roles is named where neither of the two
// shows the same by itself.
func (t *table) rows(found map[finding]*shown, out *Difference) {
	rows, turned := map[rowKey]map[State]bool{}, map[rowKey]bool{}
	bare := func(k rowKey) rowKey {
		k.old, k.fresh = Answer{Allow: k.old.Allow}, Answer{Allow: k.fresh.Allow}
		return k
	}
	stated := map[finding]map[State]bool{}
	for of, at := range found {
		stated[of] = t.states(at)
	}
	for _, pairs := range []bool{false, true} {
		for of, states := range stated {
			if t.ctx.Err() != nil {
				return
			}
			old, fresh, caller := t.answersBy[of.old], t.answersBy[of.fresh], t.who[of.caller]
			whatever := len(t.holds[of.members.members[0]].held) == 0 || old.Allow == fresh.Allow
			for _, h := range of.members.members {
				held := &t.holds[h]
				k := rowKey{of.asked, of.grants, caller.caller, caller.credential, "", "", old, fresh, of.reachable && (whatever || !held.impossible)}
				if whatever {
					if !pairs {
						merge(rows, k, states, nil)
						turned[bare(k)] = true
					}
					break
				}
				if (held.two != nil) != pairs || pairs && t.alone(bare(k), held, turned) {
					continue
				}
				k.place = held.place
				for _, name := range t.names(of, held) {
					k.role = name
					merge(rows, k, states, held.states)
					turned[bare(k)] = true
				}
			}
		}
	}
	for k, states := range rows {
		t.write(k, states, out)
	}
	slices.SortFunc(out.Rows, order)
	slices.SortFunc(out.Unreachable, order)
}

// alone says whether one role of a pair shows the same by itself, or no role does.
func (t *table) alone(k rowKey, held *holding, turned map[rowKey]bool) bool {
	for _, one := range append(held.two, [2]string{}) {
		if k.role, k.place = one[0], one[1]; turned[k] {
			return true
		}
	}
	return false
}

// merge adds states to a row.
func merge(rows map[rowKey]map[State]bool, k rowKey, states map[State]bool, held []State) {
	if rows[k] == nil {
		rows[k] = map[State]bool{}
	}
	maps.Copy(rows[k], states)
	for _, state := range held {
		rows[k][state] = true
	}
}

// write makes a row for each action and row of the catalogue for which the key stands.
func (t *table) write(k rowKey, states map[State]bool, out *Difference) {
	shared, of := listed(states), t.asked[k.asked].action
	for _, as := range t.asked[k.asked].as {
		row := Row{
			Entry: strings.TrimPrefix(t.rule, "data.authz."), Route: as.route, Action: as.name(), Caller: k.caller, Credential: k.credential,
			Role: k.role, Place: k.place, Old: k.old.renamed(of[0].ID, as.action[0]), New: k.fresh.renamed(of[1].ID, as.action[1]), States: shared,
		}
		if k.reachable {
			out.Rows = append(out.Rows, row)
		} else {
			out.Unreachable = append(out.Unreachable, row)
		}
	}
}

// name returns the name of the action in both trees.
func (a alias) name() string {
	if a.action[0] == "" || a.action[0] == a.action[1] {
		return a.action[1]
	}
	if a.action[1] == "" {
		return a.action[0]
	}
	return a.action[0] + " -> " + a.action[1]
}

// renamed returns the answer to the question about another action, which is named in its reason.
func (a Answer) renamed(from, to string) Answer {
	if from != "" {
		a.Reason = strings.ReplaceAll(a.Reason, from, to)
	}
	a.Reason = strings.ReplaceAll(a.Reason, "{action}", to)
	return a
}

// names returns the role of the holding and those for which it stands.
func (t *table) names(of finding, held *holding) []string {
	if len(held.system) != 1 || len(held.held) != 1 {
		return []string{held.role}
	}
	at := point{asked: of.asked, grant: max(of.grants, 0)}
	_, stands := t.lookedUp(&at)
	var out []string
	for id, other := range stands {
		if other == held.system[0] {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// listed returns the values of the states by their names, in order.
func listed(states map[State]bool) map[string][]string {
	out := map[string][]string{}
	for state := range states {
		out[state.Name] = append(out[state.Name], state.Value)
	}
	for name := range out {
		slices.Sort(out[name])
	}
	return out
}

func order(a, b Row) int {
	return cmp.Or(
		cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Caller, b.Caller),
		cmp.Compare(a.Credential, b.Credential), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Place, b.Place),
		cmp.Compare(a.Old.Reason, b.Old.Reason), cmp.Compare(a.New.Reason, b.New.Reason),
	)
}
