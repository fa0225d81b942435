package compare_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/policytest"
)

type rows = map[string]map[string]any

// change is one of a data document.
type change struct {
	kind, name string
	make       func(rows)
}

func ofFile(tree policytest.Tree, file string, changes func(rows) []change) (out []mutant) {
	read := func() (table rows) {
		if err := json.Unmarshal(tree[file].Data, &table); err != nil {
			panic(err)
		}
		return table
	}
	for _, c := range changes(read()) {
		table := read()
		c.make(table)
		text, err := json.MarshalIndent(table, "", "  ")
		if err != nil {
			panic(err)
		}
		out = append(out, mutant{c.kind, file + ": " + c.name, tree.With(file, string(text))})
	}
	return out
}

// ofGrants are changes of each role, and of each pattern of each.
func ofGrants(tree policytest.Tree) []mutant {
	return ofFile(tree, "grants/data.json", func(all rows) (out []change) {
		held := func(r rows, id string) map[string]any { return r[id]["permissions"].(map[string]any) }
		for _, id := range slices.Sorted(maps.Keys(all)) {
			for _, pattern := range slices.Sorted(maps.Keys(held(all, id))) {
				parts := strings.Split(pattern, ":")
				replaced := func(kind, other string) change {
					return change{kind, id + " " + pattern + " -> " + other, func(r rows) { delete(held(r, id), pattern); held(r, id)[other] = true }}
				}
				if parts[2] == "*" {
					out = append(out, replaced("pattern narrowed", parts[0]+":*:read"))
				} else {
					out = append(out, replaced("pattern widened", parts[0]+":"+parts[1]+":*"))
				}
				if parts[1] == "*" {
					out = append(out, replaced("pattern narrowed", parts[0]+":role:"+parts[2]))
				} else {
					out = append(out, replaced("pattern widened", parts[0]+":*:"+parts[2]))
				}
				if len(held(all, id)) > 1 {
					out = append(out, change{"grant removed", id + " " + pattern, func(r rows) { delete(held(r, id), pattern) }})
				}
			}
			for _, pattern := range []string{"account:user:delete", "project:security_group:read", "resource:*:*", "account:unheard:of"} {
				if _, granted := held(all, id)[pattern]; !granted {
					out = append(out, change{"grant added", id + " " + pattern, func(r rows) { held(r, id)[pattern] = true }})
				}
			}
			scope := map[any]string{"ACCOUNT": "PROJECT", "PROJECT": "ACCOUNT"}[all[id]["scope"]]
			out = append(out, change{"role's scope", id + " " + scope, func(r rows) { r[id]["scope"] = scope }})
			if id != "account_admin" {
				out = append(out, change{"role removed", id, func(r rows) { delete(r, id) }})
			}
		}
		return append(out, change{"role added", "auditor", func(r rows) {
			r["auditor"] = map[string]any{
				"name": "Auditor", "scope": "ACCOUNT", "description": "Reads changes.", "permissions": map[string]any{"account:change:read": true},
			}
		}})
	})
}

// ofRoutes are changes of some rows of the catalogue, one of each combination of access words and kind of action.
func ofRoutes(tree policytest.Tree) []mutant {
	return ofFile(tree, "routes/data.json", func(all rows) (out []change) {
		seen := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			action, _ := all[name]["action"].(string)
			words, _ := json.Marshal(all[name]["access"])
			kind := strings.Split(action, ":")[0] + string(words)
			if seen[kind] {
				continue
			}
			seen[kind] = true
			out = append(out, ofRow(name, action, all[name])...)
		}
		return out
	})
}

func ofRow(name, action string, row map[string]any) (out []change) {
	words, _ := row["access"].([]any)
	for i, word := range words {
		if len(words) > 1 || action != "" {
			out = append(out, change{"word removed", name + " " + word.(string), func(r rows) {
				if remaining := slices.Delete(slices.Clone(words), i, i+1); len(remaining) > 0 {
					r[name]["access"] = remaining
				} else {
					delete(r[name], "access")
				}
			}})
		}
	}
	for _, word := range []string{"member", "self", "service:authz:explain"} {
		if !slices.Contains(words, any(word)) && !slices.Contains(words, any("public")) {
			out = append(out, change{"word added", name + " " + word, func(r rows) { r[name]["access"] = append(slices.Clone(words), word) }})
		}
	}
	effect := map[any]string{"read": "write", "write": "read"}[row["effect"]]
	out = append(out,
		change{"effect turned", name + " " + effect, func(r rows) { r[name]["effect"] = effect }},
		change{"row removed", name, func(r rows) { delete(r, name) }},
		change{"path moved", name, func(r rows) { r[name]["path"] = "/moved" + r[name]["path"].(string) }},
	)
	if parts := strings.Split(action, ":"); len(parts) == 3 {
		verb := map[bool]string{true: "update", false: "read"}[parts[2] == "read"]
		out = append(out, change{"action changed", name + " " + verb, func(r rows) { r[name]["action"] = parts[0] + ":" + parts[1] + ":" + verb }})
	}
	return out
}
