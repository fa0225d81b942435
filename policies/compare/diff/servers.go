package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// serverFields returns the fields of a tree's MCP servers by the names of their rows.
func serverFields(set *engine.Set) rowFields {
	rows := rowFields{}
	for _, name := range set.MCPServers() {
		s, row := set.MCPServer(name), "mcp/"+name
		rows.add(row, map[string]string{
			"upstream": s.Upstream, "title": s.Title, "agents": s.Agents, "autonomous": truth(s.Autonomous), "consent": s.Consent,
			"pin": s.Pin, "denial": s.Denial, "server_requests": strings.Join(slices.Sorted(slices.Values(s.ServerRequests)), " "), "credential": s.Credential,
		})
		for tool, t := range s.Tools {
			rows.add(row+"/tools/"+tool, map[string]string{
				"action": t.Action, "effect": t.Effect, "definition": t.Definition, "approval": t.Approval, "schema": sum(t.InputSchema),
			})
		}
		for prompt, p := range s.Prompts {
			rows.add(row+"/prompts/"+prompt, map[string]string{"action": p.Action, "effect": p.Effect})
		}
		for _, r := range s.Resources {
			rows.add(row+"/resources/"+r.URI, map[string]string{"action": r.Action})
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
