package arguments

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/portcullis-authz/portcullis/resources"
)

// shape is what a schema and those that it applies to the same value say of the value's members and elements.
type shape struct {
	applied  []*jsonschema.Schema
	elements []*jsonschema.Schema
	// listed has the names of members that the schemas list, and names has them by their folded names.
	listed map[string]bool
	names  map[string]string
	// patterns are those of members, each with its form that ignores case.
	patterns map[jsonschema.Regexp]*regexp.Regexp
}

// fold returns one text for all names that differ in case alone.
func fold(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return strings.ToLower(strings.ToUpper(name))
		}
	}
	return name
}

// shapes adds the shape of a schema, and of all schemas of its members and elements.
func shapes(schema *jsonschema.Schema, all map[*jsonschema.Schema]*shape) {
	if all[schema] != nil {
		return
	}
	s := &shape{applied: applied(schema, nil), listed: map[string]bool{}, names: map[string]string{}, patterns: map[jsonschema.Regexp]*regexp.Regexp{}}
	all[schema] = s
	for _, one := range s.applied {
		for _, name := range listed(one) {
			s.listed[name], s.names[fold(name)] = true, name
		}
		for pattern := range one.PatternProperties {
			if ignoring, err := regexp.Compile("(?i:" + pattern.String() + ")"); err == nil {
				s.patterns[pattern] = ignoring
			}
		}
		s.elements = append(s.elements, elements(one)...)
		for _, inner := range slices.Concat(slices.Collect(maps.Values(one.Properties)), slices.Collect(maps.Values(one.PatternProperties)), rest(one), elements(one)) {
			shapes(inner, all)
		}
	}
}

// applied appends a schema, and the schemas that it can apply to the same value.
func applied(schema *jsonschema.Schema, all []*jsonschema.Schema) []*jsonschema.Schema {
	if schema == nil || slices.Contains(all, schema) {
		return all
	}
	all = append(all, schema)
	inner := slices.Concat([]*jsonschema.Schema{schema.Ref, schema.RecursiveRef, schema.Not, schema.If, schema.Then, schema.Else}, schema.AllOf, schema.AnyOf, schema.OneOf)
	if schema.DynamicRef != nil {
		inner = append(inner, schema.DynamicRef.Ref)
	}
	inner = slices.AppendSeq(inner, maps.Values(schema.DependentSchemas))
	for _, dependency := range schema.Dependencies {
		if one, ok := dependency.(*jsonschema.Schema); ok {
			inner = append(inner, one)
		}
	}
	for _, one := range inner {
		all = applied(one, all)
	}
	return all
}

// listed returns all names of members in a schema.
func listed(s *jsonschema.Schema) []string {
	names := slices.Concat(slices.Collect(maps.Keys(s.Properties)), slices.Collect(maps.Keys(s.DependentSchemas)), s.Required)
	for name, required := range s.DependentRequired {
		names = append(append(names, name), required...)
	}
	for name, dependency := range s.Dependencies {
		required, _ := dependency.([]string)
		names = append(append(names, name), required...)
	}
	return names
}

// rest returns the schemas of members without a schema of their own.
func rest(s *jsonschema.Schema) (out []*jsonschema.Schema) {
	if additional, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		out = append(out, additional)
	}
	if s.UnevaluatedProperties != nil {
		out = append(out, s.UnevaluatedProperties)
	}
	return out
}

// elements returns the schemas that a schema applies to elements of an array, in the words of all drafts.
func elements(s *jsonschema.Schema) (out []*jsonschema.Schema) {
	for _, words := range []any{s.Items, s.AdditionalItems} {
		switch items := words.(type) {
		case *jsonschema.Schema:
			out = append(out, items)
		case []*jsonschema.Schema:
			out = append(out, items...)
		}
	}
	out = append(out, s.PrefixItems...)
	for _, items := range []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems} {
		if items != nil {
			out = append(out, items)
		}
	}
	return out
}

// folded adds the members of a value that differ in case alone from what one of the value's schemas lists. An element
// of an array is held to the schemas of all elements.
func (r *report) folded(schemas []*jsonschema.Schema, value any, path []string) {
	if len(schemas) == 0 {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if must := r.spelling(schemas, name); must != "" {
				r.add(append(path, name), must)
			}
			r.folded(r.membersOf(schemas, name), member, append(path, name))
		}
	case []any:
		var inner []*jsonschema.Schema
		for _, schema := range schemas {
			inner = add(inner, r.shapes[schema].elements...)
		}
		for i, element := range value {
			r.folded(inner, element, append(path, strconv.Itoa(i)))
		}
	}
}

// spelling returns how a member must be spelt that differs in case alone from a listed one or from one of a pattern, ""
// for others.
func (r *report) spelling(schemas []*jsonschema.Schema, name string) (must string) {
	fits := false
	for _, schema := range schemas {
		s := r.shapes[schema]
		if s.listed[name] {
			return ""
		}
		for pattern, ignoring := range s.patterns {
			if pattern.MatchString(name) {
				fits = true
			} else if text := fmt.Sprintf("must be spelt in the case of the pattern %q", pattern.String()); (must == "" || text < must) && ignoring.MatchString(name) {
				must = text
			}
		}
	}
	if fits {
		must = ""
	}
	for _, schema := range schemas {
		if similar, folds := r.shapes[schema].names[fold(name)]; folds {
			return fmt.Sprintf("must be spelt %q", similar)
		}
	}
	return must
}

// membersOf returns the schemas that those of an object can apply to a member of it, each once.
func (r *report) membersOf(schemas []*jsonschema.Schema, name string) (out []*jsonschema.Schema) {
	for _, schema := range schemas {
		for _, one := range r.shapes[schema].applied {
			property, has := one.Properties[name]
			if has {
				out = add(out, property)
			}
			for pattern, inner := range one.PatternProperties {
				if pattern.MatchString(name) {
					out, has = add(out, inner), true
				}
			}
			if !has {
				out = add(out, rest(one)...)
			}
		}
	}
	return out
}

// add appends the schemas that are not in the list.
func add(list []*jsonschema.Schema, schemas ...*jsonschema.Schema) []*jsonschema.Schema {
	for _, schema := range schemas {
		if !slices.Contains(list, schema) {
			list = append(list, schema)
		}
	}
	return list
}

// Twins returns a problem for each member of an object, at any depth, that differs from another one in case alone.
// Rules read one of the two, and some servers the other.
func Twins(members map[string]any) []resources.Problem {
	var r report
	r.twins(members, []string{field})
	return r.sorted()
}

func (r *report) twins(value any, path []string) {
	switch value := value.(type) {
	case map[string]any:
		names := map[string]string{}
		for name, member := range value {
			if other, exists := names[fold(name)]; exists {
				r.add(path, fmt.Sprintf("must not have both %q and %q, which differ in case alone", min(name, other), max(name, other)))
			}
			names[fold(name)] = name
			r.twins(member, append(path, name))
		}
	case []any:
		for i, element := range value {
			r.twins(element, append(path, strconv.Itoa(i)))
		}
	}
}
