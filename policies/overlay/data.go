package overlay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources"
)

const baseMark = policies.BaseMark

// program begins the names of MCP servers that are the base's.
const program = "portcullis"

// actionList is actions/data.json.
type actionList struct {
	Strict bool                       `json:"strict"`
	Known  map[string]json.RawMessage `json:"known"`
}

// mergeData holds the names of the overlay's roles, rows and actions against those of the base.
func (x *merge) mergeData() {
	x.checkNames(grantsFile, ownPrefix, "role")
	x.checkNames(routesFile, "own.", "row")
	x.checkRows()
	x.mergeActions()
}

// checkNames refuses names that the base has, or could have after an upgrade.
func (x *merge) checkNames(file, prefix, kind string) {
	folder := strings.TrimSuffix(file, "/data.json")
	for name := range members(x.files[file]) {
		_, replaces := x.manifest.Replaces[folder+"/"+name]
		_, exists := x.parts[folder+"/"+name]
		switch {
		case replaces:
		case exists:
			x.problems.add(file, x.line(file, name), "%s is a %s of the base: begin your own name with %s, or replace it, as `portcullis policy replace %s/%[1]s` prepares", name, kind, prefix, folder)
		case !strings.HasPrefix(name, prefix):
			x.problems.add(file, x.line(file, name), "%s: the name of an own %s begins with %s, so that no upgrade of the base takes it", name, kind, prefix)
		}
	}
}

// checkServer refuses rows of an MCP server that the base has, or could have after an upgrade.
func (x *merge) checkServer(file string) {
	server, rest, _ := strings.Cut(strings.TrimPrefix(file, mcpFolder+"/"), "/")
	rows := path.Join(mcpFolder, server, "data.json")
	_, exists := x.base[rows]
	_, replaces := x.manifest.Replaces[file]
	if _, replaced := x.manifest.Replaces[rows]; replaced && x.base[file] == nil {
		replaces = true
	}
	switch {
	case rest != "data.json" && rest != "schema/data.json":
		x.problems.add(file, 0, "must be %s/<server>/data.json or %[1]s/<server>/schema/data.json", mcpFolder)
	case replaces:
	case exists:
		x.problems.add(file, 0, "%s is an MCP server of the base: give your own another name, or replace its rows, as `portcullis policy replace %s` prepares", server, rows)
	case strings.HasPrefix(server, program):
		x.problems.add(file, 0, "the name of an own MCP server does not begin with %s, so that no upgrade of the base takes it", program)
	}
}

// line returns the line of a member of one of the overlay's documents. The first call for a document finds the lines of all
// its members: a copied list of roles can have thousands of wrong names.
func (x *merge) line(file, name string) int {
	if x.lines[file] == nil {
		x.lines[file] = linesOf(x.files[file])
	}
	return x.lines[file][name]
}

// linesOf returns the lines of the members of an object, up to an error of syntax.
func linesOf(text []byte) map[string]int {
	lines, row, counted := map[string]int{}, 1, int64(0)
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() == '"' {
		name, _ := dec.ReadToken() // PeekKind has read it
		row += bytes.Count(text[counted:dec.InputOffset()], []byte{'\n'})
		counted = dec.InputOffset()
		if member := name.String(); lines[member] == 0 {
			lines[member] = row
		}
		err = dec.SkipValue()
	}
	return lines
}

// checkRows refuses an own row that takes calls from a row of the base.
func (x *merge) checkRows() {
	base := decoded[resources.Route](x.base[routesFile])
	rows := decoded[resources.Route](x.files[routesFile])
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if _, replaces := x.manifest.Replaces["routes/"+name]; replaces && x.hasCallsOf(name, rows[name]) {
			continue
		}
		for _, other := range slices.Sorted(maps.Keys(base)) {
			baseRow, row := base[other], rows[name]
			meets, _ := baseRow.Overlap(&row)
			if _, stays := row.Overlap(&baseRow); meets && !stays {
				x.problems.add(routesFile, x.line(routesFile, name),
					"%s takes calls from %s of the base: give it another path, or replace that row, as `portcullis policy replace routes/%[2]s` prepares", name, other)
			}
		}
	}
}

// hasCallsOf says whether a row is for the calls of the base's row of that name.
func (x *merge) hasCallsOf(name string, row resources.Route) bool {
	was := decoded[resources.Route](fmt.Appendf(nil, `{"was": %s}`, x.parts["routes/"+name].Text))["was"]
	return was.Method == row.Method && was.Host == row.Host && was.Path == row.Path && was.MCP == row.MCP
}

// mergeActions leaves of the base's list the actions that the overlay does not describe itself.
func (x *merge) mergeActions() {
	var list, base actionList
	if json.Unmarshal(x.files[actionsFile], &list) != nil || json.Unmarshal(x.base[actionsFile], &base) != nil {
		return // the proof refuses it
	}
	_, given := members(x.files[actionsFile])["strict"]
	if given && base.Strict && !list.Strict {
		x.problems.add(actionsFile, x.line(actionsFile, "strict"), "strict: the base denies actions that are not listed, and an overlay can't undo it: take strict out")
	}
	rest := map[string]any{}
	if !given {
		rest["strict"] = base.Strict
	}
	for id := range list.Known {
		delete(base.Known, id)
	}
	rest["known"] = base.Known
	x.base[actionsFile], _ = json.MarshalIndent(rest, "", "  ") // it was decoded
}

// difference returns the lines in which two texts differ, as a patch.
func difference(oldName string, a []byte, newName string, b []byte) string {
	return udiff.Unified(oldName, newName, string(a)+"\n", string(b)+"\n")
}
