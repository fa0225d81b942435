package apidoc_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/apidoc"
	"github.com/portcullis-authz/portcullis/test/must"
)

var camelCase = regexp.MustCompile(`^[a-z][a-z0-9]*([A-Z]+[a-z0-9]*)*$`)

// folded returns a name without the letter case and separators that differ between languages.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
}

// misnamed returns a text for each name from which generators make a bad type or method.
func misnamed(text string) ([]string, error) {
	var d struct {
		Paths      map[string]any
		Components map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, err
	}
	var names []string
	types, methods := map[string]string{}, map[string]string{}
	for kind, named := range d.Components {
		for name, component := range named {
			place := kind + "/" + name
			if other, taken := types[folded(name)]; taken && kind != "securitySchemes" {
				names = append(names, fmt.Sprintf("%s and %s make types of one name", min(place, other), max(place, other)))
			} else if kind != "securitySchemes" {
				types[folded(name)] = place
			}
			if header, ok := component.(map[string]any); ok && kind == "headers" { // its value gets no type
				component = header["schema"]
			}
			names = append(names, anonymous(place, component, kind == "schemas" || kind == "headers")...)
		}
	}
	for path, item := range d.Paths {
		for method, o := range item.(map[string]any) {
			operation, ok := o.(map[string]any)
			if !ok { // servers and the like
				continue
			}
			id, _ := operation["operationId"].(string)
			if !camelCase.MatchString(id) || methods[folded(id)] != "" {
				names = append(names, fmt.Sprintf("%s %s: the operationId %q is no camelCase name of its own", method, path, id))
			}
			methods[folded(id)] = path
			names = append(names, anonymous(method+" "+path, operation, false)...)
		}
	}
	slices.Sort(names)
	return names, nil
}

// anonymous returns the schemas for which a generator has to invent a name, and values without one type.
func anonymous(place string, v any, named bool) []string {
	var names []string
	switch v := v.(type) {
	case map[string]any:
		for _, makes := range []string{"properties", "enum", "const", "allOf", "anyOf", "oneOf"} {
			if _, exists := v[makes]; exists && !named && !isOptional(v) {
				names = append(names, fmt.Sprintf("%s: a schema with %s has no name of its own", place, makes))
			}
		}
		_, isEnum := v["enum"]
		_, isConst := v["const"]
		if kind, _ := v["type"].(string); (isEnum || isConst) && kind == "" {
			names = append(names, place+": an enum or const without one type")
		}
		for key, inner := range v {
			if key != "example" && key != "examples" && key != "properties" {
				names = append(names, anonymous(place+"/"+key, inner, false)...)
			}
		}
		properties, _ := v["properties"].(map[string]any) // keyed by names, which may be "enum"
		for name, inner := range properties {
			names = append(names, anonymous(place+"/"+name, inner, false)...)
		}
	case []any:
		for i, inner := range v {
			names = append(names, anonymous(fmt.Sprintf("%s/%d", place, i), inner, false)...)
		}
	}
	return names
}

// isOptional says whether a schema is a named one or null.
func isOptional(schema map[string]any) bool {
	ways, _ := schema["anyOf"].([]any)
	if len(ways) != 2 {
		return false
	}
	one, _ := ways[0].(map[string]any)
	two, _ := ways[1].(map[string]any)
	return one["$ref"] != nil && two["type"] == "null"
}

// TestNamesMakeClients checks that a generated client has one type for each named schema and one method
// for each operation.
func TestNamesMakeClients(t *testing.T) {
	text := must.Get(apidoc.Document())(t)
	names := must.Get(misnamed(string(text)))(t)
	for _, one := range names {
		t.Error(one)
	}
}

// TestBadNamesAreFound runs the checks of TestNamesMakeClients on badly named documents.
func TestBadNamesAreFound(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"a type twice": {
			`{"components":{"schemas":{"RoleID":{"type":"string"}},"parameters":{"Role_id":{"name":"id"}}}}`,
			"parameters/Role_id and schemas/RoleID make types of one name",
		},
		"an operation twice": {
			`{"paths":{"/a":{"get":{"operationId":"getRole"}},"/b":{"get":{"operationId":"getROLE"}}}}`, "is no camelCase name of its own",
		},
		"an operation without a name": {`{"paths":{"/a":{"get":{}}}}`, `the operationId "" is no camelCase`},
		"an operation in snake case":  {`{"paths":{"/a":{"get":{"operationId":"get_role"}}}}`, `the operationId "get_role" is no camelCase`},
		"an object inside": {
			`{"components":{"schemas":{"A":{"type":"object","properties":{"b":{"properties":{}}}}}}}`, "schemas/A/b: a schema with properties has no name",
		},
		"an object in a list": {
			`{"components":{"schemas":{"A":{"type":"array","items":{"properties":{}}}}}}`, "schemas/A/items: a schema with properties has no name",
		},
		"an enum inside": {
			`{"components":{"schemas":{"A":{"properties":{"enum":{"type":"string","enum":["x"]}}}}}}`, "schemas/A/enum: a schema with enum has no name",
		},
		"an enum of a parameter": {
			`{"components":{"parameters":{"A":{"schema":{"type":"string","enum":["x"]}}}}}`, "parameters/A/schema: a schema with enum has no name",
		},
		"an enum with null": {
			`{"components":{"schemas":{"A":{"type":["string","null"],"enum":["x",null]}}}}`, "schemas/A: an enum or const without one type",
		},
		"a const without a type": {`{"components":{"schemas":{"A":{"const":true}}}}`, "schemas/A: an enum or const without one type"},
		"a choice in an answer": {
			`{"paths":{"/a":{"get":{"operationId":"getA","responses":{"oneOf":[{"$ref":"x"},{"$ref":"y"}]}}}}}`, "get /a/responses: a schema with oneOf has no name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if names, err := misnamed(tc.text); err != nil || len(names) != 1 || !strings.Contains(names[0], tc.want) {
				t.Errorf("%q, %v, want %q", names, err, tc.want)
			}
		})
	}
}
