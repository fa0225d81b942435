package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/definition"
)

const (
	// serverFolder has a folder for each MCP server of a tree, with these files in it.
	serverFolder = "mcp"
	rowsFile     = "/data.json"
	schemasFile  = "/schema/data.json"
)

// serverFiles are the rows of an MCP server in a policy folder, and the schemas of its tools.
type serverFiles struct {
	file, schemaFile string
	// isNew says that there is no file of the rows yet. rowsChanged and schemasChanged say what is to be written anew.
	isNew, rowsChanged, schemasChanged bool

	server  resources.MCPServer
	schemas map[string]jsontext.Value
}

// pinChanges are what differs from what a server lists.
type pinChanges struct {
	lines []string
	// differ says that a row is not what the server lists. unnamed counts the tools without an action.
	differ  bool
	unnamed int
}

func (c *pinChanges) add(name, format string, args ...any) {
	c.lines = append(c.lines, name+": "+fmt.Sprintf(format, args...))
	c.differ = true
}

// readServerFiles reads the files of a server. A server without any begins with its own name as its upstream.
func readServerFiles(src *policies.Source, name string) (*serverFiles, error) {
	c := &serverFiles{file: serverFolder + "/" + name + rowsFile, schemaFile: serverFolder + "/" + name + schemasFile, schemas: map[string]jsontext.Value{}}
	c.server.Upstream = name
	raw, exists := src.Files[c.file]
	if c.isNew = !exists; exists {
		if err := jsonv2.Unmarshal(raw, &c.server, jsonv2.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("%s: %w", c.file, err)
		}
	}
	if raw := src.Files[c.schemaFile]; raw != nil {
		if err := jsonv2.Unmarshal(raw, &c.schemas); err != nil {
			return nil, fmt.Errorf("%s: %w", c.schemaFile, err)
		}
	}
	c.server.Name = name
	if c.server.Tools == nil {
		c.server.Tools = map[string]resources.MCPTool{}
	}
	return c, nil
}

// pin brings the rows to what the server lists, and tells what it changes. given are rows of new tools.
func (c *serverFiles) pin(listed []message.Item, given map[string]resources.MCPTool) (changes pinChanges, err error) {
	var wrong []error
	names := map[string]bool{}
	for _, item := range slices.SortedFunc(slices.Values(listed), func(a, b message.Item) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) }) {
		names[item.Name] = true
		_, exists := c.server.Tools[item.Name]
		row, isNew := given[item.Name]
		switch {
		case exists && isNew:
			wrong = append(wrong, fmt.Errorf("--action %s: the tool has a row; change it in %s", item.Name, c.file))
		case !exists && !resources.ValidPathSegment(item.Name):
			changes.lines = append(changes.lines, fmt.Sprintf("%q: can have no row: the name %s", item.Name, resources.PathSegmentRule))
			continue
		case !exists && !isNew:
			changes.unnamed++
			changes.lines = append(changes.lines, fmt.Sprintf("%s: needs an action (--action %[1]s=ACTION:EFFECT)%s", item.Name, hinted(item.Raw)))
			continue
		case isNew:
			changes.add(item.Name, "new, %s, %s", row.Action, row.Effect)
			c.server.Tools[item.Name], c.rowsChanged = row, true
		}
		c.pinTool(item, &changes)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !names[name] {
			wrong = append(wrong, fmt.Errorf("--action %s: the server lists no tool of this name", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.server.Tools)) {
		if !names[name] {
			changes.add(name, "gone: the server does not list it; take its row out of %s", c.file)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.schemas)) {
		if _, exists := c.server.Tools[name]; !exists {
			changes.add(name, "the schema of its arguments goes, as its row has")
			delete(c.schemas, name)
			c.schemasChanged = true
		}
	}
	return changes, errors.Join(wrong...)
}

// pinTool brings the row of a tool and its schema to what the server lists.
func (c *serverFiles) pinTool(item message.Item, changes *pinChanges) {
	row := c.server.Tools[item.Name]
	hash, err := definition.Of(item.Raw)
	if err != nil {
		changes.add(item.Name, "can't be pinned: %v", err)
		return
	}
	if c.server.Pin != resources.MCPPinNames && row.Definition != hash {
		was := row.Definition
		row.Definition, c.rowsChanged = hash, true
		c.server.Tools[item.Name] = row
		if was != "" {
			changes.add(item.Name, "the definition has changed: %s -> %s", short(was), short(hash))
		} else {
			changes.add(item.Name, "pinned: %s", short(hash))
		}
	}
	var tool struct {
		InputSchema jsontext.Value `json:"inputSchema"`
	}
	if err := jsonv2.Unmarshal(item.Raw, &tool); err != nil { // its definition was read
		changes.add(item.Name, "can't be pinned: %v", err)
		return
	}
	was, exists := c.schemas[item.Name]
	if err := proof.CheckInputSchema(tool.InputSchema); err != nil {
		changes.lines = append(changes.lines, fmt.Sprintf("%s: has no schema for rules: its inputSchema %v", item.Name, err))
		if exists {
			changes.add(item.Name, "the schema of its arguments is gone")
			delete(c.schemas, item.Name)
			c.schemasChanged = true
		}
		return
	}
	if !exists || canonical(was) != canonical(tool.InputSchema) {
		changes.add(item.Name, "the schema of its arguments %s", map[bool]string{true: "has changed", false: "is new"}[exists])
		c.schemas[item.Name], c.schemasChanged = tool.InputSchema, true
	}
}

// hinted says what the server says of a tool, which nobody has to believe.
func hinted(raw []byte) string {
	var tool struct {
		Annotations struct {
			ReadOnlyHint bool `json:"readOnlyHint"`
		} `json:"annotations"`
	}
	if jsonv2.Unmarshal(raw, &tool) == nil && tool.Annotations.ReadOnlyHint {
		return "; the server says that it only reads"
	}
	return ""
}

// short returns enough of a definition to tell two apart.
func short(hash string) string { return hash[:min(len(hash), len("sha256:")+12)] }

// canonical returns one text for all spellings of a value.
func canonical(value jsontext.Value) string {
	out := value.Clone()
	_ = out.Canonicalize() // it was read strictly
	return string(out)
}

// files returns the server's files to be written: the rows, and the schemas of their tools.
func (c *serverFiles) files() map[string][]byte {
	out := map[string][]byte{}
	if c.rowsChanged {
		out[c.file] = formatServer(&c.server)
	}
	if !c.schemasChanged {
		return out
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(c.schemas)) {
		lines = append(lines, quoteJSON(name)+": "+string(c.schemas[name]))
	}
	var text bytes.Buffer
	_ = json.Indent(&text, []byte(object(lines, "")), "", "  ") // each part is JSON
	out[c.schemaFile] = append(text.Bytes(), '\n')
	return out
}
