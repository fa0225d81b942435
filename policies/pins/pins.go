package pins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// Tool is a tool as a server lists it.
type Tool struct {
	Name string
	// Raw is its definition, byte for byte.
	Raw []byte
}

// Files are the rows of an MCP server in a policy folder, and the schemas of its tools.
type Files struct {
	// RowsFile and schemasFile are their names in the folder.
	RowsFile, schemasFile string
	// IsNew says that there is no file of the rows yet. rowsChanged and schemasChanged say what is to be written anew.
	IsNew, rowsChanged, schemasChanged bool

	Server  resources.MCPServer
	schemas map[string]jsontext.Value
}

// Changes are what differs from what a server lists.
type Changes struct {
	Lines []string
	// Differ says that a row is not what the server lists. Unnamed counts the tools without an action.
	Differ  bool
	Unnamed int
}

func (c *Changes) add(name, format string, args ...any) {
	c.Lines = append(c.Lines, name+": "+fmt.Sprintf(format, args...))
	c.Differ = true
}

// Read reads the files of a server. A server without any begins with its own name as its upstream.
func Read(src *policies.Source, name string) (*Files, error) {
	c := &Files{RowsFile: serverFolder + "/" + name + rowsFile, schemasFile: serverFolder + "/" + name + schemasFile, schemas: map[string]jsontext.Value{}}
	c.Server.Upstream = name
	raw, exists := src.Files[c.RowsFile]
	if c.IsNew = !exists; exists {
		if err := jsonv2.Unmarshal(raw, &c.Server, jsonv2.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("%s: %w", c.RowsFile, err)
		}
	}
	if raw := src.Files[c.schemasFile]; raw != nil {
		if err := jsonv2.Unmarshal(raw, &c.schemas); err != nil {
			return nil, fmt.Errorf("%s: %w", c.schemasFile, err)
		}
	}
	c.Server.Name = name
	if c.Server.Tools == nil {
		c.Server.Tools = map[string]resources.MCPTool{}
	}
	return c, nil
}

// Pin brings the rows to what the server lists, and tells what it changes. given are rows of new tools.
func (c *Files) Pin(listed []Tool, given map[string]resources.MCPTool) (changes Changes, err error) {
	var wrong []error
	names := map[string]bool{}
	for _, item := range slices.SortedFunc(slices.Values(listed), func(a, b Tool) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) }) {
		names[item.Name] = true
		_, exists := c.Server.Tools[item.Name]
		row, isNew := given[item.Name]
		switch {
		case exists && isNew:
			wrong = append(wrong, fmt.Errorf("--action %s: the tool has a row; change it in %s", item.Name, c.RowsFile))
		case !exists && !resources.ValidPathSegment(item.Name):
			changes.Lines = append(changes.Lines, fmt.Sprintf("%q: can have no row: the name %s", item.Name, resources.PathSegmentRule))
			continue
		case !exists && !isNew:
			changes.Unnamed++
			changes.Lines = append(changes.Lines, fmt.Sprintf("%s: needs an action (--action %[1]s=ACTION:EFFECT)%s", item.Name, hinted(item.Raw)))
			continue
		case isNew:
			changes.add(item.Name, "new, %s, %s", row.Action, row.Effect)
			c.Server.Tools[item.Name], c.rowsChanged = row, true
		}
		c.pinTool(item, &changes)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !names[name] {
			wrong = append(wrong, fmt.Errorf("--action %s: the server lists no tool of this name", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Server.Tools)) {
		if !names[name] {
			changes.add(name, "gone: the server does not list it; take its row out of %s", c.RowsFile)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.schemas)) {
		if _, exists := c.Server.Tools[name]; !exists {
			changes.add(name, "the schema of its arguments goes, as its row has")
			delete(c.schemas, name)
			c.schemasChanged = true
		}
	}
	return changes, errors.Join(wrong...)
}

// pinTool brings the row of a tool and its schema to what the server lists.
func (c *Files) pinTool(item Tool, changes *Changes) {
	row := c.Server.Tools[item.Name]
	hash, err := definition.Of(item.Raw)
	if err != nil {
		changes.add(item.Name, "can't be pinned: %v", err)
		return
	}
	if c.Server.Pin != resources.MCPPinNames && row.Definition != hash {
		was := row.Definition
		row.Definition, c.rowsChanged = hash, true
		c.Server.Tools[item.Name] = row
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
		changes.Lines = append(changes.Lines, fmt.Sprintf("%s: has no schema for rules: its inputSchema %v", item.Name, err))
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

// Changed returns the server's files to be written: the rows, and the schemas of their tools.
func (c *Files) Changed() map[string][]byte {
	out := map[string][]byte{}
	if c.rowsChanged {
		out[c.RowsFile] = formatServer(&c.Server)
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
	out[c.schemasFile] = append(text.Bytes(), '\n')
	return out
}
