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

// Document is the OpenAPI 3.1 document as JSON, in the order in which it is written.
func Document() ([]byte, error) { return document(parts) }

// document puts the parts together: maps are united, and nothing may be said twice.
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
		if err := unite(whole, part.Content[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	var out bytes.Buffer
	if err := write(&out, whole); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

var errForm = errors.New("only maps, lists and plain values are understood")

// unite adds the map more to the map to.
func unite(to, more *yaml.Node) error {
	if more.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %w", more.Line, errForm)
	}
	at := map[string]*yaml.Node{}
	for i := 0; i < len(to.Content); i += 2 {
		at[to.Content[i].Value] = to.Content[i+1]
	}
	seen := map[string]bool{}
	for i := 0; i < len(more.Content); i += 2 {
		key, value := more.Content[i], more.Content[i+1]
		there := at[key.Value]
		switch {
		case seen[key.Value], there != nil && (there.Kind != yaml.MappingNode || value.Kind != yaml.MappingNode):
			return fmt.Errorf("line %d: %s is said twice", key.Line, key.Value)
		case there == nil:
			there = &yaml.Node{Kind: yaml.MappingNode}
			if value.Kind != yaml.MappingNode {
				there = value
			}
			to.Content = append(to.Content, key, there)
		}
		seen[key.Value] = true
		if value.Kind != yaml.MappingNode {
			continue
		}
		if err := unite(there, value); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
	}
	return nil
}

// write renders the node as JSON. A decoder into a Go map would lose the order, in
// which fields are read on the page.
func write(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
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
	case yaml.SequenceNode:
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
	case yaml.ScalarNode:
		var value any
		if err := n.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		out.Write(text)
	default:
		return fmt.Errorf("line %d: %w", n.Line, errForm)
	}
	return nil
}
