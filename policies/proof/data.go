package proof

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
)

// documents are the data of one folder: an overlay and its base may have one each.
type documents []*document

// line returns the place of the first of the members that a document has; if none has one, line 0 of the first file.
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

// value merges the documents. It returns false if two of them have the same member, and it is not an object in both.
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
	// value is shared by all readers of the document; nothing changes it.
	value ast.Value
	// lines has the line of each member by its dotted path; nil until the first call of line.
	lines map[string]int
}

// readData returns `data` as OPA's commands build it, with each data.json below the name of its folder, and the
// documents by folder.
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
			p.report(name, 0, "isn't read: data belongs in a file named data.json, schemas in %s", schemaFolder)
		}
	}
	for i, folder := range folders {
		if slices.Contains(folders[:i], folder) {
			continue
		}
		value, ok := docs[folder].value()
		file := docs[folder][len(docs[folder])-1].file
		if !ok || !mount(root, folder, value) {
			p.report(file, 0, "another data.json already has data of this name")
		}
		if rows := rowsApart(folder, value); rows != "" {
			p.report(file, 0, "holds a part of data.%s, which belongs in %[1]s/: the gateway reads it in no other place", rows)
		}
	}
	return root, docs
}

// rowsApart returns the folder whose rows a document has in another place, "" for none. The rules would read them there,
// and the gateway would not.
func rowsApart(folder string, value ast.Object) string {
	top, _, below := strings.Cut(folder, "/")
	for _, rows := range []string{grantsFolder, routesFolder, actionsFolder, mcpFolder} {
		atRoot := folder == "." && value.Get(ast.StringTerm(rows)) != nil
		if atRoot || below && top == rows && rows != mcpFolder {
			return rows
		}
	}
	return ""
}

// readDocument parses a file of data. It returns nil and reports a problem, with its line, for a file that is not one
// JSON object, or has a member twice.
func readDocument(name string, raw []byte, p *Problems) *document {
	doc := &document{file: name, raw: raw}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	_, err := dec.ReadValue()
	if err == nil {
		doc.value, err = ast.ValueFromReader(bytes.NewReader(raw))
	}
	if _, isObject := doc.value.(ast.Object); err == nil && !isObject {
		err = errors.New(ast.ValueName(doc.value))
	}
	if err == nil {
		if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
			p.report(name, doc.row(dec.InputOffset()), "there is more after the JSON object")
			return nil
		}
		return doc
	}
	row := doc.row(dec.InputOffset())
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if ok {
		row, err = doc.row(syntax.ByteOffset), syntax.Err
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		member := dotted(syntax.JSONPointer)
		p.report(name, row, "%s is given twice, first in line %d", member, doc.line(member))
		return nil
	}
	p.report(name, row, "isn't a JSON object: %v", err)
	return nil
}

// row returns the line of an offset.
func (d *document) row(offset int64) int {
	return 1 + bytes.Count(d.raw[:min(offset, int64(len(d.raw)))], []byte{'\n'})
}

// dotted returns the names that lead to a member, with dots between them.
func dotted(pointer jsontext.Pointer) string {
	return strings.Join(slices.Collect(pointer.Tokens()), ".")
}

// line returns the line of a member, 0 if the document does not have it. The first call finds the lines of all members:
// most documents have no problem, and no call.
func (d *document) line(member string) int {
	if d.lines == nil {
		d.lines = map[string]int{}
		dec, offset, row := jsontext.NewDecoder(bytes.NewReader(d.raw), jsontext.AllowDuplicateNames(true)), int64(0), 1
		for {
			if _, err := dec.ReadToken(); err != nil { // the end: readDocument has parsed the document
				break
			}
			row += bytes.Count(d.raw[offset:dec.InputOffset()], []byte{'\n'})
			offset = dec.InputOffset()
			if name := dotted(dec.StackPointer()); d.lines[name] == 0 {
				d.lines[name] = row
			}
		}
	}
	return d.lines[member]
}

// mount adds the members of a document below the name of its folder. It returns false if one of the names is taken.
func mount(root map[string]any, folder string, value ast.Value) bool {
	place := root
	if folder != "." {
		for part := range strings.SplitSeq(folder, "/") {
			next, ok := place[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				if present, taken := place[part].(ast.Value); taken && !fill(next, present) {
					return false
				}
				place[part] = next
			}
			place = next
		}
	}
	return fill(place, value)
}

// fill adds the members of an object. It returns false if value is not an object, or a name is taken.
func fill(place map[string]any, value ast.Value) bool {
	members, ok := value.(ast.Object)
	if !ok {
		return false
	}
	members.Foreach(func(k, v *ast.Term) {
		name := string(k.Value.(ast.String)) // JSON has no other names
		if _, taken := place[name]; taken {
			ok = false
		}
		place[name] = v.Value
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
