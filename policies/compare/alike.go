package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// alike leaves one of the askings that no rule can tell apart but by a name that it only repeats: of actions of one
// scope that the same roles grant by the same patterns, and of rows with such actions, the same access and
// effect and the same parts of a path.
func (c *comparison) alike(all []asking) (out []asking) {
	at := map[string]int{}
	for _, a := range all {
		of := alias{a.name, [2]string{a.action[0].ID, a.action[1].ID}}
		key := c.kindOf(a.action[0]) + " / " + c.kindOf(a.action[1])
		for _, row := range []*resources.Route{a.old, a.fresh} {
			key += " / " + c.kindOfRow(row)
		}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, a)
		}
		out[i].as = append(out[i].as, of)
	}
	return out
}

// kindOf returns all that rules can read of an action or a pattern, but its name.
func (c *comparison) kindOf(a resources.Action) string {
	if a.ID == "" || c.named(a) {
		return a.ID
	}
	text := a.Scope
	if a.Resource == "*" {
		text += " *"
	}
	if a.Verb == "*" || slices.Contains(c.consts.texts(nil, "action.verb", "grant.permissions"), a.Verb) {
		text += " " + a.Verb
	}
	patterns := a.Patterns()
	for side := range c.sets {
		if c.sets[side].Strict() {
			text += fmt.Sprint(" listed ", slices.ContainsFunc(c.sets[side].Actions(), func(l resources.ListedAction) bool { return l.ID == a.ID }))
		}
		for _, role := range c.sets[side].Roles() {
			text += " "
			for i, pattern := range patterns {
				if _, held := slices.BinarySearch(role.Permissions, pattern); held {
					text += fmt.Sprint(i)
				}
			}
		}
	}
	return text
}

// named says whether rules may tell the action from others by its name.
func (c *comparison) named(a resources.Action) bool {
	for _, g := range c.gaps {
		if strings.HasPrefix(g.Reads, "action") {
			return true
		}
	}
	if !c.opaque {
		return true
	}
	patterns := a.Patterns()
	ids := c.consts.texts(nil, "action.id", "action.patterns", "grant.permissions", "subject.here.permissions", "subject.roles", "grants")
	for _, id := range ids {
		if slices.Contains(patterns[:], id) {
			return true
		}
	}
	return slices.Contains(c.consts.texts(nil, "action.resource"), a.Resource)
}

// kindOfRow returns all that rules can read of a row, but its name and its action's.
func (c *comparison) kindOfRow(row *resources.Route) string {
	if row == nil {
		return "none"
	}
	name := ""
	if c.consts["route.name"] != nil {
		name = row.Name
	}
	access := slices.Sorted(slices.Values(row.Access))
	var takes []string
	for _, of := range []string{"{account", "{projectId", "{userId}", "{user_id}", "+}"} {
		takes = append(takes, fmt.Sprint(strings.Contains(row.Path, of)))
	}
	return strings.Join([]string{name, row.Effect, strings.Join(access, ","), strings.Join(takes, ","), fmt.Sprint(row.Upstream == "authorize")}, " ")
}
