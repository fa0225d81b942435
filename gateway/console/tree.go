package console

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Bounds of a tree that a page shows.
const (
	deepestNode = 24
	mostNodes   = 4000
)

// treeNode is a value of JSON for a page. A value with members is an object or a list.
type treeNode struct {
	Name string
	// Value is that of a text, number, boolean or null, as JSON writes it but for a text's quotes.
	Value string
	// Kind is text, other, object or list.
	Kind    string
	Members []treeNode
	// Depth is 0 for the whole. Cut says that members are left out.
	Depth int
	Cut   bool
}

// Branch reports whether the value has members to show.
func (n treeNode) Branch() bool { return len(n.Members) > 0 }

// Open reports whether a page shows the members at once.
func (n treeNode) Open() bool { return n.Depth < 2 && len(n.Members) < 20 }

// Empty is the text of an object or a list without members.
func (n treeNode) Empty() string {
	switch n.Kind {
	case "object":
		return "{}"
	case "list":
		return "[]"
	}
	return ""
}

// Count says how many members there are.
func (n treeNode) Count() string {
	if len(n.Members) == 1 {
		return "1 member"
	}
	return strconv.Itoa(len(n.Members)) + " members"
}

// treeOf returns a value with its members in their order. Raw bytes that are no JSON are a text.
func treeOf(name string, raw json.RawMessage) treeNode {
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

// readNode reads the next value. budget is how many more nodes the page takes.
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

// readMembers reads the members of an object or a list to its end.
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
