package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// servers returns the fields of MCP servers and of their rows that differ, in order of the rows' names.
func servers(old, next *engine.Set) (out []Field) {
	before, after := serverFields(old), serverFields(next)
	rows := maps.Clone(before)
	maps.Copy(rows, after)
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		names := maps.Clone(before[row])
		if names == nil {
			names = map[string]string{}
		}
		maps.Copy(names, after[row])
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if before[row][name] != after[row][name] {
				out = append(out, Field{Route: row, Field: name, Old: before[row][name], New: after[row][name]})
			}
		}
	}
	return out
}

// serverFields returns the fields of a tree's MCP servers by the names of their rows. What is empty may be missing.
func serverFields(set *engine.Set) map[string]map[string]string {
	rows := map[string]map[string]string{}
	for _, name := range set.MCPServers() {
		s, row := set.MCPServer(name), "mcp/"+name
		rows[row] = map[string]string{
			"upstream": s.Upstream, "title": s.Title, "agents": s.Agents, "autonomous": truth(s.Autonomous), "consent": s.Consent,
			"pin": s.Pin, "denial": s.Denial, "server_requests": strings.Join(slices.Sorted(slices.Values(s.ServerRequests)), " "), "credential": s.Credential,
		}
		for tool, t := range s.Tools {
			rows[row+"/tools/"+tool] = map[string]string{
				"action": t.Action, "effect": t.Effect, "definition": t.Definition, "approval": t.Approval, "schema": sum(t.InputSchema),
			}
		}
		for prompt, p := range s.Prompts {
			rows[row+"/prompts/"+prompt] = map[string]string{"action": p.Action, "effect": p.Effect}
		}
		for _, r := range s.Resources {
			rows[row+"/resources/"+r.URI] = map[string]string{"action": r.Action}
		}
	}
	return rows
}

// argumentRules returns the changed rules over arguments as fields of their servers.
func argumentRules(rules []compare.ArgumentRule) (out []Field) {
	for _, r := range rules {
		out = append(out, Field{Route: "mcp/" + r.Server, Field: "rule " + strconv.Quote(r.Message), Old: r.Old, New: r.New})
	}
	return out
}

// truth returns "true", and "" for false.
func truth(flag bool) string {
	if flag {
		return "true"
	}
	return ""
}

// sum returns the hash of a schema, which is too long for a line; "" of none. White space and order do not change it.
func sum(schema []byte) string {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil { // there is none: a tree's schemas are JSON
		return ""
	}
	text, _ := json.Marshal(value) // it was decoded
	hash := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(hash[:])
}
