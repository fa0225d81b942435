package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Asked is the content of a row's questions, beside the route and the action.
type Asked struct {
	Principal resources.Principal
	// Targets have different answers in the two trees, one for each kind that rules can distinguish.
	Targets []resources.Target
	// Grant is the permissions to grant; nil outside the entry point grantable.
	Grant *resources.Grant
}

// rowKey identifies a row. Findings with the same key share one. grants is the index of a grant, -1 outside grantable.
type rowKey struct {
	request, grants    int
	caller, credential string
	role, place        string
	old, next          Answer
	reachable          bool
}

// rows turns findings into rows. If access changes, it names each holding of a class. It names a pair only if neither
// role alone shows the same change.
func (t *table) rows(findings map[finding]*shown, out *Difference) {
	rows, turned := map[rowKey]*shown{}, map[rowKey]bool{}
	bare := func(k rowKey) rowKey {
		k.old, k.next = Answer{Allow: k.old.Allow}, Answer{Allow: k.next.Allow}
		return k
	}
	for _, pairs := range []bool{false, true} {
		for f, values := range findings {
			if t.ctx.Err() != nil {
				return
			}
			anyHolding := len(t.holdings[f.members.members[0]].assignments) == 0 || f.old.Allow == f.next.Allow
			for _, h := range f.members.members {
				holding := &t.holdings[h]
				k := f.rowKey
				k.reachable = k.reachable && (anyHolding || !holding.impossible)
				if anyHolding {
					if !pairs {
						merge(rows, k, values)
						turned[bare(k)] = true
					}
					break
				}
				if (holding.pair != nil) != pairs || pairs && t.alone(bare(k), holding, turned) {
					continue
				}
				k.place = holding.place
				for _, name := range t.names(f, holding) {
					k.role = name
					merge(rows, k, values)[holdingPart][h] = true
					turned[bare(k)] = true
				}
			}
		}
	}
	most := 0
	for k := range rows {
		most += len(t.requests[k.request].aliases)
	}
	out.Rows = make([]Row, 0, most)
	for k, values := range rows {
		t.write(k, values, out)
	}
	slices.SortFunc(out.Rows, order)
	slices.SortFunc(out.Unreachable, order)
}

// alone says whether one role of a pair, or no role, shows the same change.
func (t *table) alone(k rowKey, held *holding, turned map[rowKey]bool) bool {
	for _, one := range append(held.pair, [2]string{}) {
		if k.role, k.place = one[0], one[1]; turned[k] {
			return true
		}
	}
	return false
}

// merge adds the values of a finding to a row, and returns the row.
func merge(rows map[rowKey]*shown, k rowKey, values *shown) *shown {
	row := rows[k]
	if row == nil {
		row = &shown{}
		for p := range row {
			row[p] = map[int]bool{}
		}
		rows[k] = row
	}
	for p := range values {
		maps.Copy(row[p], values[p])
	}
	return row
}

// contents returns what the questions of a row ask, by the first of the callers.
func (t *table) contents(k rowKey, values *shown) (out Asked) {
	out.Principal = t.persons[slices.Sorted(maps.Keys(values[personPart]))[0]].principal
	for _, i := range slices.Sorted(maps.Keys(values[targetPart])) {
		out.Targets = append(out.Targets, t.targets[i].target)
	}
	if k.grants >= 0 {
		out.Grant = &resources.Grant{Permissions: t.grants[k.grants].permissions, Until: t.grants[k.grants].until}
	}
	return out
}

// write adds a row for each route and action merged into the request.
func (t *table) write(k rowKey, values *shown, out *Difference) {
	shared, contents, actions := t.states(values), t.contents(k, values), t.requests[k.request].action
	for _, as := range t.requests[k.request].aliases {
		row := Row{
			Entry: strings.TrimPrefix(t.rule, "data.authz."), Route: as.route, Action: as.name(), Caller: k.caller, Credential: k.credential,
			Role: k.role, Place: k.place, Old: k.old.renamed(actions[0].ID, as.action[0]), New: k.next.renamed(actions[1].ID, as.action[1]), States: shared, Asked: contents,
		}
		if k.reachable {
			out.Rows = append(out.Rows, row)
		} else {
			out.Unreachable = append(out.Unreachable, row)
		}
	}
}

// name returns the action, as "old -> new" if it differs between the trees.
func (a alias) name() string {
	if a.action[0] == "" || a.action[0] == a.action[1] {
		return a.action[1]
	}
	if a.action[1] == "" {
		return a.action[0]
	}
	return a.action[0] + " -> " + a.action[1]
}

// renamed returns the answer with another action's name in its reason.
func (a Answer) renamed(old, name string) Answer {
	if old != "" {
		a.Reason = strings.ReplaceAll(a.Reason, old, name)
	}
	a.Reason = strings.ReplaceAll(a.Reason, "{action}", name)
	return a
}

// names returns the roles that a holding represents.
func (t *table) names(f finding, held *holding) []string {
	if len(held.system) != 1 || len(held.assignments) != 1 {
		return []string{held.role}
	}
	pt := point{requestPart: f.request, grantPart: max(f.grants, 0)}
	_, roleOf := t.lookups(&pt)
	var out []string
	for id, other := range roleOf {
		if other == held.system[0] {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// order compares two rows by the columns of a report, and then by everything in them.
func order(a, b Row) int {
	columns := cmp.Or(
		cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Caller, b.Caller),
		cmp.Compare(a.Credential, b.Credential), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Place, b.Place),
		cmp.Compare(a.Old.Reason, b.Old.Reason), cmp.Compare(a.New.Reason, b.New.Reason),
	)
	if columns != 0 {
		return columns
	}
	return bytes.Compare(a.whole(), b.whole())
}

// whole returns everything in a row as text.
func (r Row) whole() []byte {
	text, _ := json.Marshal([]any{r, r.Asked}) // texts, numbers and flags
	return text
}
