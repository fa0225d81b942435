package compare

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// class is a set of holdings with the same value of every group that reads them.
type class struct{ members []int }

// classify divides the holdings into classes, with all other parts as at the point. It returns nil if the context has
// ended.
func (t *table) classify(pt point) []class {
	t.reset()
	key := pointKey(&t.classKeys, &pt)
	if cached, ok := t.classes[key]; ok {
		return cached
	}
	var out []class
	byNumber := map[int]int{}
	patterns, roleOf := t.lookups(&pt)
	for h := range t.holdings {
		if t.ctx.Err() != nil {
			return nil
		}
		if !t.holdable(&pt, h, patterns, roleOf) {
			continue
		}
		pt[holdingPart] = h
		number := t.holdingNumber(pt)
		i, cached := byNumber[number]
		if !cached {
			i = len(out)
			byNumber[number] = i
			out = append(out, class{})
		}
		out[i].members = append(out[i].members, h)
	}
	t.classes[key] = out
	return out
}

// holdingNumber numbers the values of the groups that read a holding, at a point.
func (t *table) holdingNumber(pt point) int {
	vector := []byte("held ")
	t.epoch[1]++
	for _, n := range t.nodes {
		if n.heldRows != 0 {
			vector = binary.AppendVarint(vector, int64(t.value(n, &pt)))
		}
	}
	return t.id(string(vector), nil)
}

// projectReads numbers, by part and value, what the nodes read together with a further text.
func (t *table) projectReads(nodes []*node, context func(p part, i int) string) (out [parts][]int) {
	for p, size := range t.sizes() {
		for i := range size {
			var key []byte
			for _, n := range nodes {
				key = binary.AppendVarint(key, int64(n.reads[p][i]))
			}
			out[p] = append(out[p], t.id("some "+string(key)+" "+context(part(p), i), nil))
		}
	}
	return out
}

// classContext returns what determines the classes of holdings beside what groups read: which holdings the table asks
// about, the place of the target, and the times.
func (t *table) classContext(part part, i int) string {
	switch part {
	case requestPart:
		return t.requests[i].action[0].ID + " " + t.requests[i].action[1].ID
	case personPart:
		return fmt.Sprint(t.persons[i].canHold())
	case targetPart:
		return t.targets[i].target.ProjectID + "\n" + t.targets[i].target.Resource
	case grantPart:
		return fmt.Sprint(t.grants[i].now, t.grants[i].until, t.grants[i].permissions)
	}
	return ""
}

// pointKey returns the numbers of the values at a point.
func pointKey(numbers *[parts][]int, pt *point) (out [parts]int) {
	for _, p := range [...]part{requestPart, personPart, targetPart, grantPart} {
		out[p] = numbers[p][pt[p]]
	}
	return out
}

// canHold says whether a person can have assignments.
func (p *person) canHold() bool {
	return p.subject != nil && p.subject.Member && p.subject.UserID != ""
}

// holdable says whether the user can have the holding, and whether the table asks about it at the point.
func (t *table) holdable(pt *point, h int, patterns []string, roleOf map[string]string) bool {
	holding := &t.holdings[h]
	if len(holding.assignments) == 0 {
		return true
	}
	if !t.persons[pt[personPart]].canHold() {
		return false
	}
	if holding.pattern != "" && !slices.Contains(patterns, holding.pattern) {
		return false
	}
	return !slices.ContainsFunc(holding.system, func(role string) bool { return roleOf[role] != role })
}
