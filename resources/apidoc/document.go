package apidoc

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

//go:embed openapi
var parts embed.FS

// Document returns the OpenAPI 3.1 document as JSON, in the order of its YAML.
func Document() ([]byte, error) { return document(parts) }

// document merges the YAML files into one JSON document. A value in two files is an error.
func document(parts fs.FS) ([]byte, error) {
	names, err := fs.Glob(parts, "openapi/*.yaml")
	if err != nil {
		return nil, err
	}
	whole := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range names {
		text, err := fs.ReadFile(parts, name)
		if err != nil {
			return nil, err
		}
		var part yaml.Node
		if err := yaml.Unmarshal(text, &part); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if part.Kind != yaml.DocumentNode {
			return nil, fmt.Errorf("%s: is empty", name)
		}
		if err := merge(whole, part.Content[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	var out bytes.Buffer
	if err := write(&out, whole); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

var errForm = errors.New("must be a map, a list or a plain value")

// merge adds the entries of the map more to the map to. It merges maps of one key and refuses other
// values of one key.
func merge(node, more *yaml.Node) error {
	if more.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %w", more.Line, errForm)
	}
	nodes := map[string]*yaml.Node{}
	for i := 0; i < len(node.Content); i += 2 {
		nodes[node.Content[i].Value] = node.Content[i+1]
	}
	seen := map[string]bool{}
	for i := 0; i < len(more.Content); i += 2 {
		key, value := more.Content[i], more.Content[i+1]
		existing := nodes[key.Value]
		switch {
		case seen[key.Value], existing != nil && (existing.Kind != yaml.MappingNode || value.Kind != yaml.MappingNode):
			return fmt.Errorf("line %d: %s is set twice", key.Line, key.Value)
		case existing == nil:
			existing = &yaml.Node{Kind: yaml.MappingNode}
			if value.Kind != yaml.MappingNode {
				existing = value
			}
			node.Content = append(node.Content, key, existing)
		}
		seen[key.Value] = true
		if value.Kind != yaml.MappingNode {
			continue
		}
		if err := merge(existing, value); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
	}
	return nil
}

// write renders the node as JSON. It keeps the order of fields for the page.
func write(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return writeMap(out, n)
	case yaml.SequenceNode:
		return writeList(out, n)
	case yaml.ScalarNode:
		return writeScalar(out, n)
	default:
		return fmt.Errorf("line %d: %w", n.Line, errForm)
	}
}

// writeMap renders a map from its alternating keys and values.
func writeMap(out *bytes.Buffer, n *yaml.Node) error {
	out.WriteByte('{')
	for i := 0; i < len(n.Content); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(n.Content[i].Value)
		if err != nil {
			return err
		}
		out.Write(append(name, ':'))
		if err := write(out, n.Content[i+1]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// writeList renders a list.
func writeList(out *bytes.Buffer, n *yaml.Node) error {
	out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := write(out, item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// writeScalar writes a string, a number, a boolean or null as JSON.
func writeScalar(out *bytes.Buffer, n *yaml.Node) error {
	var value any
	if err := n.Decode(&value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	out.Write(text)
	return nil
}
