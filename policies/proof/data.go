package proof

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
)

// documents are the data of one folder: of an overlay and of its base there may be one each.
type documents []*document

// line returns the place of a member; line 0 of the first file where no document has it.
func (d documents) line(members ...string) (file string, line int) {
	for _, member := range members {
		for _, doc := range d {
			if line := doc.line(member); line > 0 {
				return doc.file, line
			}
		}
	}
	return d[0].file, 0
}

// value returns what the documents are together; false where two of them have one name.
func (d documents) value() (all ast.Object, ok bool) {
	all, ok = ast.NewObject(), true
	for _, doc := range d {
		members, isObject := doc.value.(ast.Object)
		next, merged := ast.Object(nil), false
		if isObject {
			next, merged = all.Merge(members)
		}
		if !merged {
			ok = false
			continue
		}
		all = next
	}
	return all, ok
}

// document is one data.json of the tree.
type document struct {
	file string
	raw  []byte
	// value is what all who read the document share; it is never changed.
	value ast.Value
	// lines tells where a member is, by its dotted path; nil until somebody asks.
	lines map[string]int
}

// readData gives `data` as OPA's own commands would make it, each data.json under
// its folder's name, and the documents by folder.
func readData(src *policies.Source, p *Problems) (map[string]any, map[string]documents) {
	root, docs, folders := map[string]any{}, map[string]documents{}, []string{}
	for _, name := range src.Names {
		switch {
		case isModule(name), isSchema(name):
		case isData(name):
			doc := readDocument(name, src.Files[name], p)
			if doc == nil {
				continue
			}
			folder := path.Dir(policies.Place(name))
			docs[folder] = append(docs[folder], doc)
			folders = append(folders, folder)
		default:
			p.at(name, 0, "isn't read: data belongs in a file named data.json, schemas in %s", schemaFolder)
		}
	}
	for i, folder := range folders {
		if slices.Contains(folders[:i], folder) {
			continue
		}
		if value, ok := docs[folder].value(); !ok || !mount(root, folder, value) {
			p.at(docs[folder][len(docs[folder])-1].file, 0, "another data.json already has data of this name")
		}
	}
	return root, docs
}

// readDocument parses a file of data; nil, and a problem with its line, where it is no JSON.
func readDocument(name string, b []byte, p *Problems) *document {
	doc := &document{file: name, raw: b}
	r := newReading(doc, p)
	value, err := r.whole()
	if err != nil {
		at := r.dec.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		p.at(name, line(b, at), "%v", err)
		return nil
	}
	doc.value = value
	return doc
}

// line returns where a member is; 0 where there is none of that path. Most documents are
// never asked: their lines would take more than all else that is done with them.
func (d *document) line(member string) int {
	if d.lines == nil {
		d.lines = map[string]int{}
		r := newReading(d, &Problems{}) // which were told
		r.lines = d.lines
		_, _ = r.whole() // was read before
	}
	return d.lines[member]
}

// mount puts a document under its folder; false where something is there already.
func mount(root map[string]any, folder string, value ast.Value) bool {
	at := root
	if folder != "." {
		for part := range strings.SplitSeq(folder, "/") {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				if there, taken := at[part].(ast.Value); taken && !fill(next, there) {
					return false
				}
				at[part] = next
			}
			at = next
		}
	}
	return fill(at, value)
}

// fill adds the members of an object; false where it is none, or a name is taken.
func fill(at map[string]any, value ast.Value) bool {
	members, ok := value.(ast.Object)
	if !ok {
		return false
	}
	members.Foreach(func(k, v *ast.Term) {
		name := string(k.Value.(ast.String)) // as of every member that was read from JSON
		if _, taken := at[name]; taken {
			ok = false
		}
		at[name] = v.Value
	})
	return ok
}

const schemaFolder = "schemas/"

func isTest(name string) bool   { return strings.HasSuffix(name, "_test.rego") }
func isModule(name string) bool { return strings.HasSuffix(name, ".rego") }
func isSchema(name string) bool {
	return strings.HasPrefix(policies.Place(name), schemaFolder) && strings.HasSuffix(name, ".json")
}

func isData(name string) bool {
	return path.Base(name) == "data.json" && !isSchema(name)
}
