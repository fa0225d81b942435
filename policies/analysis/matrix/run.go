package matrix

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// finding is a difference before the holdings of its class are told apart.
type finding struct {
	asked, grants      int
	caller, credential string
	old, fresh         Answer
	reachable          bool
	members            *class
}

// compare goes through the product.
func (c *comparison) compare(ctx context.Context, entry string) (out Difference, err error) {
	for _, r := range c.rules {
		if r.groups[entry] == nil {
			return out, errNoEntry
		}
	}
	t := c.newTable(ctx, entry)
	found, changed := map[finding]map[State]bool{}, t.newChanges()
	var at point
	for at[asked] = range t.asked {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		t.alike = changed.same[at[asked]]
		for at[who] = range t.who {
			runtime.Gosched() // there may be live traffic beside it
			for at[where] = range t.where {
				for at[grant] = range t.grants {
					fits, reachable := t.fits(&at)
					if !fits {
						continue
					}
					out.Questions += changed.count(&at)
					if changed.at(&at) {
						t.at(at, reachable, found)
					}
				}
			}
		}
	}
	out.Evaluations = t.evals
	t.rows(found, &out)
	out.Gaps = c.together(entry)
	if entry == engine.EntryGrantable {
		out.Gaps = append(out.Gaps, c.rules[0].severed(c.rules[1])...)
		out.Gaps = append(out.Gaps, c.rules[1].severed(c.rules[0])...)
	}
	return out, nil
}

// at compares the answers at a point, for each class of holdings.
func (t *table) at(at point, reachable bool, found map[finding]map[State]bool) {
	classes := t.rank(at)
	for i := range classes {
		at[holds] = classes[i].members[0]
		var answers [2]int
		for n, s := range t.sides {
			s.now[1]++
			answers[n] = t.value(s, len(s.order)-1, &at)
		}
		old, fresh := t.told(0, answers[0], &at), t.told(1, answers[1], &at)
		if old == fresh {
			continue
		}
		w := &t.who[at[who]]
		of := finding{
			asked: at[asked], grants: -1, caller: w.caller, credential: w.credential, old: old, fresh: fresh, reachable: reachable, members: &classes[i],
		}
		if t.entry == engine.EntryGrantable {
			of.grants = at[grant]
		}
		if found[of] == nil {
			found[of] = map[State]bool{}
		}
		for _, states := range [][]State{w.states, t.where[at[where]].states, t.grants[at[grant]].states} {
			for _, state := range states {
				found[of][state] = true
			}
		}
	}
}

// told is the answer of a tree at a point. A row that a tree does not have lets nobody in.
func (t *table) told(side int, id int, at *point) Answer {
	a := &t.asked[at[asked]]
	if t.entry == engine.EntryAccess && a.row(side) == nil {
		return Answer{Code: "no_route", Reason: "the tree has no such route"}
	}
	if t.entry == engine.EntryDecision {
		if d, denied := t.sides[side].rules.set.Unlisted(a.action[side]); denied {
			return Answer{Code: d.Code, Reason: d.Reason}
		}
	}
	return t.answer(id)
}

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
func (t *table) rows(found map[finding]map[State]bool, out *Difference) {
	rows, turned := map[rowKey]map[State]bool{}, map[rowKey]bool{}
	bare := func(k rowKey) rowKey {
		k.old, k.fresh = Answer{Allow: k.old.Allow}, Answer{Allow: k.fresh.Allow}
		return k
	}
	for _, pairs := range []bool{false, true} {
		for of, states := range found {
			whatever := len(t.holds[of.members.members[0]].held) == 0 || of.old.Allow == of.fresh.Allow
			for _, h := range of.members.members {
				held := &t.holds[h]
				k := rowKey{of.asked, of.grants, of.caller, of.credential, "", "", of.old, of.fresh, of.reachable && (whatever || !held.impossible)}
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
			Entry: strings.TrimPrefix(t.entry, "data.authz."), Route: as.route, Action: as.name(), Caller: k.caller, Credential: k.credential,
			Role: k.role, Place: k.place, Old: k.old.renamed(of[0].ID, as.action[0]), New: k.fresh.renamed(of[1].ID, as.action[1]), States: shared,
		}
		if k.reachable {
			out.Rows = append(out.Rows, row)
		} else {
			out.Unreachable = append(out.Unreachable, row)
		}
	}
}

// name is that of the action in both trees.
func (a alias) name() string {
	if a.action[0] == "" || a.action[0] == a.action[1] {
		return a.action[1]
	}
	if a.action[1] == "" {
		return a.action[0]
	}
	return a.action[0] + " -> " + a.action[1]
}

// renamed is the answer to the question about another action.
func (a Answer) renamed(from, to string) Answer {
	if from != "" {
		a.Reason = strings.ReplaceAll(a.Reason, from, to)
	}
	return a
}

// names are the role of the holding and those for which it stands.
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
