package attacks_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources/apidoc"
	"github.com/portcullis-authz/portcullis/test/must"
)

// operation is an endpoint of the OpenAPI document, as far as attacks are made of it.
type operation struct {
	route, method, path string
	// public needs no credential, private is on the private listener.
	public, private bool
	// params and queries are the names of its parameters in path and query.
	params, queries []string
	// body are the properties of its body by name, nil if it takes none.
	body map[string]property
	// keys says whether it takes API keys.
	keys bool
}

// property is a member of a body.
type property struct {
	kind     string // string, integer, boolean, array or object
	items    string // the kind of an array's items
	readOnly bool
	// inner are the properties of an object that has them.
	inner map[string]property
}

// document reads the OpenAPI document that the program embeds.
type document struct{ root map[string]any }

// operations are all that the document has, by path and method.
func operations(w *attacksWorld) []operation {
	raw := must.Get(apidoc.Document())(w.t)
	var d document
	must.Do(w.t, json.Unmarshal(raw, &d.root))
	var out []operation
	paths := d.object(d.root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := d.object(paths[path])
		for _, method := range []string{"get", "put", "post", "patch", "delete"} {
			if item[method] != nil && path != "/mcp/{proxy}" { // where nothing is without --public-url: test/mcp attacks it
				out = append(out, d.operation(path, method, item))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b operation) int { return cmp.Compare(a.route, b.route) })
	if len(out) < 50 {
		w.t.Fatalf("the document has %d operations", len(out))
	}
	return out
}

func (d document) operation(path, method string, item map[string]any) operation {
	object := d.object(item[method])
	o := operation{route: text(object, "x-route"), method: strings.ToUpper(method), path: path, private: item["servers"] != nil}
	security, isOwn := object["security"].([]any)
	if !isOwn {
		security, _ = d.root["security"].([]any)
	}
	o.public = len(security) == 0
	for _, way := range security {
		for name := range d.object(way) {
			o.keys = o.keys || strings.Contains(strings.ToLower(name), "key")
		}
	}
	list, _ := object["parameters"].([]any)
	for _, one := range list {
		p := d.object(one)
		switch text(p, "in") {
		case "path":
			o.params = append(o.params, text(p, "name"))
		case "query":
			o.queries = append(o.queries, text(p, "name"))
		}
	}
	if object["requestBody"] != nil {
		content := d.object(d.object(object["requestBody"])["content"])
		o.body = d.properties(d.object(content["application/json"])["schema"])
	}
	return o
}

// object follows references.
func (d document) object(v any) map[string]any {
	object, _ := v.(map[string]any)
	ref, ok := object["$ref"].(string)
	if !ok {
		return object
	}
	v = d.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		inner, _ := v.(map[string]any)
		v = inner[strings.ReplaceAll(name, "~1", "/")]
	}
	return d.object(v)
}

// properties are those of a schema and of all that it is made of.
func (d document) properties(schema any) map[string]property {
	out := map[string]property{}
	s := d.object(schema)
	for _, way := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := s[way].([]any)
		for _, part := range parts {
			maps.Copy(out, d.properties(part))
		}
	}
	for name, inner := range d.object(s["properties"]) {
		out[name] = d.property(inner)
	}
	return out
}

func (d document) property(schema any) property {
	s := d.object(schema)
	p := property{kind: kindOf(s["type"]), inner: d.properties(s)}
	p.readOnly, _ = s["readOnly"].(bool)
	for _, way := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := s[way].([]any)
		for _, part := range parts {
			if inner := d.property(part); p.kind == "" {
				p.kind, p.items = inner.kind, inner.items
			}
		}
	}
	if items := d.object(s["items"]); items != nil {
		p.items = kindOf(items["type"])
	}
	return p
}

// kindOf is the type beside null.
func kindOf(v any) string {
	if list, ok := v.([]any); ok {
		for _, one := range list {
			if one != "null" {
				return fmt.Sprint(one)
			}
		}
	}
	kind, _ := v.(string)
	return kind
}
