package overlay

import (
	"encoding/json"
	"maps"
	"path"
	"strings"

	"github.com/portcullis-authz/portcullis/policies"
)

// baseFolder is where an exported tree has the rules and tests of the base.
const baseFolder = "base/"

// Export returns a merged tree as plain files, on which OPA's own commands work: the rules of the base are in a folder of
// their own, and what both have of one document is one document.
func Export(tree *policies.Source) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range tree.Files {
		place, isBase := strings.CutPrefix(name, policies.BaseMark)
		switch {
		case !isBase:
			out[name] = text
		case strings.HasSuffix(place, ".rego"):
			out[baseFolder+place] = text
		default:
			out[place] = text
		}
	}
	for name, text := range tree.Files {
		base := tree.Files[policies.BaseMark+name]
		if base == nil || path.Base(name) != "data.json" {
			continue
		}
		joined := members(base)
		for member, value := range members(text) {
			joined[member] = join(joined[member], value)
		}
		out[name], _ = json.MarshalIndent(joined, "", "  ") // it was decoded
		out[name] = append(out[name], '\n')
	}
	return out
}

// join returns the members of both of two objects; of anything else the second.
func join(a, b json.RawMessage) json.RawMessage {
	first, second := members(a), members(b)
	if first == nil || second == nil {
		return b
	}
	maps.Copy(first, second)
	text, _ := json.Marshal(first) // it was decoded
	return text
}
