package message

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ParamHeader is an argument that a header repeats.
type ParamHeader struct {
	// Header is the whole name of the header.
	Header string
	// Path are the names of the members from the arguments to the value.
	Path []string
}

// schemaNode is what is read of a schema.
type schemaNode struct {
	Type       jsontext.Value            `json:"type"`
	Header     *string                   `json:"x-mcp-header"`
	Properties map[string]jsontext.Value `json:"properties"`
}

// ParamHeaders returns the arguments that a tool's input schema has repeated in headers, in the order of their paths.
// It follows properties alone: the revision allows the annotation nowhere else. An error names what the revision
// forbids; a client drops such a tool.
func ParamHeaders(inputSchema []byte) ([]ParamHeader, error) {
	params, err := paramHeaders(nil, inputSchema, nil)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, p := range params {
		lower := strings.ToLower(p.Header)
		if seen[lower] {
			return nil, fmt.Errorf("two properties have the x-mcp-header of %s", p.Header)
		}
		seen[lower] = true
	}
	return params, nil
}

// paramHeaders appends the headers of a schema and of its properties.
func paramHeaders(dst []ParamHeader, schema jsontext.Value, path []string) ([]ParamHeader, error) {
	if schema.Kind() != '{' {
		return dst, nil
	}
	var node schemaNode
	if err := json.Unmarshal(schema, &node); err != nil {
		return nil, fmt.Errorf("the schema of %q can't be read: %w", strings.Join(path, "."), err)
	}
	if node.Header != nil {
		if err := node.checkHeader(); err != nil {
			return nil, fmt.Errorf("property %q: %w", strings.Join(path, "."), err)
		}
		dst = append(dst, ParamHeader{ParamPrefix + *node.Header, path})
	}
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		var err error
		if dst, err = paramHeaders(dst, node.Properties[name], append(slices.Clone(path), name)); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// checkHeader reports why a property must not have its annotation.
func (n schemaNode) checkHeader() error {
	if !slices.Contains([]string{`"string"`, `"integer"`, `"boolean"`}, string(n.Type)) {
		return errors.New("x-mcp-header must stand at a string, an integer or a boolean")
	}
	isToken := func(c rune) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	}
	if *n.Header == "" || strings.ContainsFunc(*n.Header, func(c rune) bool { return !isToken(c) }) {
		return errors.New("x-mcp-header must be a token of HTTP")
	}
	return nil
}

// ParamFault checks the headers that repeat arguments: a modern request must send them, and a legacy one may. The
// fault is -32020 with status 400. The header of an empty text is empty.
func (m *Message) ParamFault(h Headers, era Era, params []ParamHeader) *Fault {
	for _, p := range params {
		value, sent, fault := m.sole(h, p.Header)
		if fault != nil {
			return fault
		}
		raw, field := argument(m.Arguments, p.Path), "params.arguments."+strings.Join(p.Path, ".")
		switch given := raw != nil && raw.Kind() != 'n'; {
		case !sent && given && era == Modern:
			fault = m.missing(p.Header)
		case !sent:
		case !given:
			fault = m.repeated(p.Header, value, "", "")
		case raw.Kind() == '0':
			if !sameNumber(value, raw) {
				fault = m.differs(p.Header, value, field, string(raw))
			}
		default:
			fault = m.repeated(p.Header, value, field, plain(raw))
		}
		if fault != nil {
			return fault
		}
	}
	return nil
}

// argument returns the raw value at a path, nil if it is absent.
func argument(raw jsontext.Value, path []string) jsontext.Value {
	for _, name := range path {
		var members map[string]jsontext.Value
		if raw.Kind() != '{' || json.Unmarshal(raw, &members) != nil {
			return nil
		}
		raw = members[name]
	}
	return raw
}

// plain returns the text of a string, and the JSON of any other value.
func plain(raw jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, raw)
	if raw.Kind() != '"' || err != nil {
		return string(raw)
	}
	return string(text)
}

// sameNumber reports whether a header and an argument are the same whole number, which floating point can hold.
func sameNumber(sent string, raw jsontext.Value) bool {
	const safe = 1<<53 - 1
	header := jsontext.Value(sent)
	if header.Kind() != '0' || !header.IsValid() || strings.ContainsAny(sent, " \t") {
		return false
	}
	a, err := strconv.ParseFloat(sent, 64)
	b, err2 := strconv.ParseFloat(string(raw), 64)
	return err == nil && err2 == nil && a == b && a == math.Trunc(a) && math.Abs(a) <= safe
}
