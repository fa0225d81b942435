package arguments

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// shape is what a schema and those that it applies to the same value say of the value's members and elements.
type shape struct {
	applied  []*jsonschema.Schema
	elements []*jsonschema.Schema
	// names has the properties by their folded names.
	names map[string]string
}

// fold returns one text for all names that differ in case alone.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// shapes adds the shape of a schema, and of all schemas of its members and elements.
func shapes(schema *jsonschema.Schema, all map[*jsonschema.Schema]*shape) {
	if all[schema] != nil {
		return
	}
	s := &shape{applied: applied(schema, nil), names: map[string]string{}}
	all[schema] = s
	for _, one := range s.applied {
		for name, property := range one.Properties {
			s.names[fold(name)] = name
			shapes(property, all)
		}
		if rest, ok := one.AdditionalProperties.(*jsonschema.Schema); ok {
			shapes(rest, all)
		}
		s.elements = append(s.elements, elements(one)...)
	}
	for _, items := range s.elements {
		shapes(items, all)
	}
}

// applied appends a schema, and the schemas that it applies to the same value.
func applied(schema *jsonschema.Schema, all []*jsonschema.Schema) []*jsonschema.Schema {
	if schema == nil || slices.Contains(all, schema) {
		return all
	}
	all = append(all, schema)
	for _, one := range slices.Concat([]*jsonschema.Schema{schema.Ref, schema.If, schema.Then, schema.Else}, schema.AllOf, schema.AnyOf, schema.OneOf) {
		all = applied(one, all)
	}
	return all
}

// elements returns the schemas that a schema applies to elements of an array, in the words of all drafts.
func elements(s *jsonschema.Schema) (out []*jsonschema.Schema) {
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		out = append(out, items)
	case []*jsonschema.Schema:
		out = append(out, items...)
	}
	out = append(out, s.PrefixItems...)
	if s.Items2020 != nil {
		out = append(out, s.Items2020)
	}
	return out
}

// folded adds the members of a value that differ from a property of the schema in case alone. An element of an array is
// held to the schemas of all elements.
func (r *report) folded(schema *jsonschema.Schema, value any, path []string) {
	s := r.shapes[schema]
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			isProperty := false
			for _, one := range s.applied {
				if property := one.Properties[name]; property != nil {
					isProperty = true
					r.folded(property, member, append(path, name))
				} else if rest, ok := one.AdditionalProperties.(*jsonschema.Schema); ok {
					r.folded(rest, member, append(path, name))
				}
			}
			if similar, folds := s.names[fold(name)]; folds && !isProperty {
				r.add(append(path, name), fmt.Sprintf("must be spelt %q", similar))
			}
		}
	case []any:
		for i, element := range value {
			for _, items := range s.elements {
				r.folded(items, element, append(path, strconv.Itoa(i)))
			}
		}
	}
}
