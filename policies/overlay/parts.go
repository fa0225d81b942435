package overlay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
)

// Part is something of a base that an overlay can replace as a whole. Its name is authz/<file>.rego for the rules of a file,
// mcp/<server>/data.json for the rows of an MCP server, grants/<role>, routes/<row>, or reason_texts/<code> for the text of a reason.
type Part struct {
	Name string
	// Revision names the text, in twelve hexadecimal digits.
	Revision string
	// Text is what the base has: the file, the JSON of the role or row, or the rule of the text.
	Text []byte
	// rule is the definition of a reason's text.
	rule *ast.Rule
}

const (
	grantsFile  = "grants/data.json"
	routesFile  = "routes/data.json"
	actionsFile = "actions/data.json"
	mcpFolder   = "mcp"
	textsFolder = "reason_texts"
)

// Parts returns all parts of a base by their names.
func Parts(base *policies.Source) map[string]Part {
	out := map[string]Part{}
	add := func(name string, text []byte, rule *ast.Rule) {
		sum := sha256.Sum256(text)
		out[name] = Part{Name: name, Revision: hex.EncodeToString(sum[:6]), Text: text, rule: rule}
	}
	for name, text := range base.Files {
		isRules := strings.HasPrefix(name, "authz/") && strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, testSuffix)
		if isRules || strings.HasPrefix(name, mcpFolder+"/") {
			add(name, text, nil)
		}
	}
	for _, file := range []string{grantsFile, routesFile} {
		for name, row := range members(base.Files[file]) {
			var text bytes.Buffer
			_ = json.Indent(&text, row, "", "  ") // it was decoded
			add(path.Dir(file)+"/"+name, text.Bytes(), nil)
		}
	}
	modules, _ := parse(base.Files)
	for _, module := range modules {
		for _, rule := range module.Rules {
			if code := textOf(rule); code != "" {
				add(textsFolder+"/"+code, rule.Location.Text, rule)
			}
		}
	}
	return out
}

// members returns the members of an object in JSON.
func members(text []byte) map[string]json.RawMessage { return decoded[json.RawMessage](text) }

// decoded returns the members of an object in JSON. It returns nil for any other document; policies/proof refuses it.
func decoded[T any](text []byte) (out map[string]T) {
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// parse returns the modules among some files, and the errors of those that do not parse by their names.
func parse(files map[string][]byte) (modules map[string]*ast.Module, errs map[string]error) {
	modules, errs = map[string]*ast.Module{}, map[string]error{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".rego") {
			continue
		}
		module, err := ast.ParseModuleWithOpts(name, string(text), ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
		switch {
		case err != nil:
			errs[name] = err
		case module != nil: // not empty
			modules[name] = module
		}
	}
	return modules, errs
}

// replacement returns what the folder has in the place of a part; nil if it has nothing.
func (x *merge) replacement(part Part) []byte {
	folder, name, _ := strings.Cut(part.Name, "/")
	switch folder {
	case path.Dir(grantsFile), path.Dir(routesFile):
		row, given := members(x.files[folder+"/data.json"])[name]
		if !given {
			return nil
		}
		var text bytes.Buffer
		_ = json.Indent(&text, row, "", "  ") // it was decoded
		return text.Bytes()
	case textsFolder:
		for _, module := range x.modules {
			for _, rule := range module.Rules {
				if textOf(rule) == name {
					return rule.Location.Text
				}
			}
		}
		return nil
	}
	return x.files[part.Name]
}

// remove takes a part out of the base.
func (x *merge) remove(part Part) {
	folder, name, _ := strings.Cut(part.Name, "/")
	switch folder {
	case path.Dir(grantsFile), path.Dir(routesFile):
		x.removeMember(folder+"/data.json", name)
	case textsFolder:
		place := part.rule.Location
		if text, stays := x.base[place.File]; stays {
			x.base[place.File] = blank(text, place.Offset, len(place.Text))
		}
	default:
		delete(x.base, part.Name)
	}
}

// removeMember takes a member out of a document of the base.
func (x *merge) removeMember(file, name string) {
	rows := members(x.base[file])
	delete(rows, name)
	x.base[file], _ = json.MarshalIndent(rows, "", "  ") // it was decoded
}

// blank returns the text with spaces in place of a passage, so that what stands behind it keeps its line.
func blank(text []byte, start, length int) []byte {
	out := slices.Clone(text)
	for i := start; i < start+length && i < len(out); i++ {
		if out[i] != '\n' {
			out[i] = ' '
		}
	}
	return out
}

// changed says that the base has changed a part since an overlay replaced it, with the difference from the replacement.
func changed(part Part, revision string, replacement []byte) string {
	return part.Name + " was replaced at revision " + revision + "; the base has " + part.Revision +
		" now. The replacement stays. Take over what you want of the base's, then run `portcullis policy replace " + part.Name + "` again, which notes its revision:\n" +
		difference("base:"+part.Name, part.Text, part.Name, replacement)
}
