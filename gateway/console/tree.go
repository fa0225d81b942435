package console

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Limits of a tree on a page.
const (
	deepestNode = 24
	mostNodes   = 4000
)

// treeNode is a JSON value for a page.
type treeNode struct {
	Name string
	// Value is the JSON text of a scalar. A string has no quotes.
	Value string
	// Kind is text, other, object or list.
	Kind    string
	Members []treeNode
	// Depth is 0 for the root. Cut is true if members are left out.
	Depth int
	Cut   bool
}

// Branch reports whether the value has members.
func (n treeNode) Branch() bool { return len(n.Members) > 0 }

// Open reports whether the page shows the members unfolded.
func (n treeNode) Open() bool { return n.Depth < 2 && len(n.Members) < 20 }

// Empty returns the text of an empty object, list or string, and "" for other values.
func (n treeNode) Empty() string {
	switch n.Kind {
	case "text":
		if n.Value == "" {
			return `""`
		}
	case "object":
		return "{}"
	case "list":
		return "[]"
	}
	return ""
}

// Count returns the number of members, with its noun.
func (n treeNode) Count() string {
	if len(n.Members) == 1 {
		return "1 member"
	}
	return strconv.Itoa(len(n.Members)) + " members"
}

// treeOf parses a JSON value and keeps the order of members. It returns malformed JSON as a string.
func treeOf(name string, raw []byte) treeNode {
	if len(raw) == 0 {
		return treeNode{Name: name}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	budget := mostNodes
	node, err := readNode(dec, name, 0, &budget)
	if err != nil {
		return treeNode{Name: name, Kind: "text", Value: strings.ToValidUTF8(string(raw), "\ufffd")}
	}
	return node
}

// readNode parses the next value. budget is the number of nodes that the page can still show.
func readNode(dec *json.Decoder, name string, depth int, budget *int) (treeNode, error) {
	*budget--
	n := treeNode{Name: name, Depth: depth, Kind: "other"}
	token, err := dec.Token()
	if err != nil {
		return n, err
	}
	switch value := token.(type) {
	case json.Delim:
		n.Kind = map[json.Delim]string{'{': "object", '[': "list"}[value]
		return n, readMembers(dec, &n, budget)
	case string:
		n.Kind, n.Value = "text", value
	case json.Number:
		n.Value = value.String()
	case bool:
		n.Value = strconv.FormatBool(value)
	case nil:
		n.Value = "null"
	}
	return n, nil
}

// readMembers parses the members of an object or a list up to its end.
func readMembers(dec *json.Decoder, n *treeNode, budget *int) error {
	for i := 0; dec.More(); i++ {
		name := strconv.Itoa(i)
		if n.Kind == "object" {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ = token.(string)
		}
		member, err := readNode(dec, name, n.Depth+1, budget)
		switch {
		case err != nil:
			return err
		case *budget < 0 || member.Depth > deepestNode:
			n.Cut = true
		default:
			n.Members = append(n.Members, member)
		}
	}
	_, err := dec.Token()
	return err
}
