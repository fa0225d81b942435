package arguments_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/arguments"
	"github.com/portcullis-authz/portcullis/test/must"
)

const transfer = `{"type": "object", "required": ["amount"], "properties": {
	"amount": {"type": "integer", "minimum": 1}, "to": {"$ref": "#/$defs/party"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
	"lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
	"labels": {"type": "object", "additionalProperties": {"type": "object", "properties": {"key": {"type": "string"}}}}
}, "$defs": {"party": {"type": "object", "properties": {"id": {"type": "string", "pattern": "^p-"}}, "additionalProperties": false}}}`

// problems returns the problems of arguments, one a line.
func problems(t *testing.T, schema, sent string) string {
	t.Helper()
	s := must.Get(arguments.Compile([]byte(schema)))(t)
	readings, wrong := arguments.Decode([]byte(sent))
	if wrong == nil {
		wrong = s.Problems(readings[0])
	}
	var lines []string
	for _, p := range wrong {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// TestAllProblemsAreNamed guarantees a problem with its place for each mismatch, and none for fitting arguments.
func TestAllProblemsAreNamed(t *testing.T) {
	for sent, want := range map[string]string{
		`{"amount": 5, "to": {"id": "p-1"}, "note": null, "unknown": 1, "labels": {"Any": {}}}`: "",
		`{"amount": 1.0}`: "",
		``:                "arguments: missing property 'amount'",
		`[]`:              "arguments: must be a JSON object",
		`null`:            "arguments: must be a JSON object",
		`{"amount": "5", "note": 3, "to": {"id": "x", "role": 1}}`: "arguments.amount: got string, want integer\n" +
			"arguments.note: got number, want null\narguments.note: got number, want string\n" +
			"arguments.to.id: 'x' does not match pattern '^p-'\narguments.to: additional properties 'role' not allowed",
		`{"amount": 0}`: "arguments.amount: minimum: got 0, want 1",
	} {
		if got := problems(t, transfer, sent); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", sent, got, want)
		}
	}
}

// TestAMemberInAnotherCaseIsRejected guarantees that no member passes as unknown if a server can read it as a property.
func TestAMemberInAnotherCaseIsRejected(t *testing.T) {
	for sent, want := range map[string]string{
		`{"amount": 1, "Amount": 2}`:                        `arguments.Amount: must be spelt "amount"`,
		`{"amount": 1, "to": {}, "TO": {}}`:                 `arguments.TO: must be spelt "to"`,
		`{"amount": 1, "lines": [{}, {"SKU": "a"}]}`:        `arguments.lines.1.SKU: must be spelt "sku"`,
		`{"amount": 1, "lines": [{"s\u212au": "a"}]}`:       "arguments.lines.0.s\u212au: must be spelt \"sku\"",
		`{"amount": 1, "labels": {"x": {"\u212aey": "a"}}}`: "arguments.labels.x.\u212aey: must be spelt \"key\"",
	} {
		if got := problems(t, transfer, sent); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", sent, got, want)
		}
	}
	composed := `{"allOf": [{"$ref": "#/$defs/a"}], "anyOf": [{"properties": {"b": {}}}], "$defs": {"a": {"properties": {"a": {"prefixItems": [{"properties": {"c": {}}}]}}}}}`
	if got := problems(t, composed, `{"A": 1, "B": 2, "a": [{"C": 3}]}`); strings.Count(got, "must be spelt") != 3 {
		t.Errorf("%s", got)
	}
}

// TestAMemberInAnotherCaseIsRejectedBelowEachKeyword guarantees it also for schemas that apply to some values only, for
// names without a schema, and for patterns. A name in the case of one branch fits all of them.
func TestAMemberInAnotherCaseIsRejectedBelowEachKeyword(t *testing.T) {
	const draft7 = `"$schema": "http://json-schema.org/draft-07/schema#", `
	for schema, sent := range map[string]string{
		`{"patternProperties": {"^x": {"properties": {"a": {}}}}}`:                                                          `{"x1": {"A": 1}}`,
		`{"unevaluatedProperties": {"properties": {"a": {}}}}`:                                                              `{"any": {"A": 1}}`,
		`{"dependentSchemas": {"x": {"properties": {"a": {}}}}}`:                                                            `{"x": 1, "A": 1}`,
		`{` + draft7 + `"dependencies": {"x": {"properties": {"a": {}}}}}`:                                                  `{"x": 1, "A": 1}`,
		`{` + draft7 + `"dependencies": {"x": ["a"]}}`:                                                                      `{"A": 1}`,
		`{"dependentSchemas": {"a": true}}`:                                                                                 `{"A": 1}`,
		`{"$schema": "https://json-schema.org/draft/2019-09/schema", "properties": {"a": {}, "o": {"$recursiveRef": "#"}}}`: `{"o": {"o": {"A": 1}}}`,
		`{"dependentRequired": {"x": ["a"]}}`:                                                                               `{"A": 1}`,
		`{"not": {"required": ["a"]}}`:                                                                                      `{"A": 1}`,
		`{"not": {"properties": {"a": {"const": 7}}}}`:                                                                      `{"A": 7, "a": 1}`,
		`{"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a", "properties": {"a": {}}}}}`:                           `{"A": 1}`,
		`{"properties": {"l": {"contains": {"properties": {"a": {}}}}}}`:                                                    `{"l": [{"A": 1}]}`,
		`{"properties": {"l": {"unevaluatedItems": {"properties": {"a": {}}}}}}`:                                            `{"l": [{"A": 1}]}`,
		`{` + draft7 + `"properties": {"l": {"items": [{}], "additionalItems": {"required": ["a"]}}}}`:                      `{"l": [1, {"A": 1, "a": 1}]}`,
	} {
		if got := problems(t, schema, sent); !strings.Contains(got, `A: must be spelt "a"`) {
			t.Errorf("%s %s: %s", schema, sent, got)
		}
		if got := problems(t, schema, strings.ReplaceAll(sent, `"A"`, `"B"`)); strings.Contains(got, "spelt") {
			t.Errorf("%s %s with B: %s", schema, sent, got)
		}
	}
	const patterns = `{"properties": {"a": {}}, "patternProperties": {"^x-": {"maximum": 5}, "^y": {}, "^Y": {}, "^A": {}}}`
	for sent, want := range map[string]string{
		`{"x-a": 1, "Y": 1, "b": 1}`: "", `{"X-a": 9}`: `arguments.X-a: must be spelt in the case of the pattern "^x-"`, `{"A": 1}`: `arguments.A: must be spelt "a"`, `{"a": 1}`: "",
	} {
		if got := problems(t, patterns, sent); got != want {
			t.Errorf("%s: %s, want %s", sent, got, want)
		}
	}
	const branches = `{"allOf": [{"properties": {"o": {"properties": {"a": {}}}}}, {"properties": {"o": {"properties": {"A": {}}}}}]}`
	if got := problems(t, branches, `{"o": {"A": 1, "a": 1}}`); got != "" {
		t.Errorf("%s", got)
	}
}

// TestArgumentsAreBounded guarantees that neither numbers, values nor problems exceed their bounds.
func TestArgumentsAreBounded(t *testing.T) {
	many := "[" + strings.Repeat("0,", 10_000) + "0]"
	for sent, want := range map[string]string{
		`{"amount": 1e999999999}`:                         "numbers of at most 128",
		`{"amount": 1E-401}`:                              "numbers of at most 128",
		`{"a": [` + strings.Repeat("1", 129) + `]}`:       "numbers of at most 128",
		`{"a": ` + many + `}`:                             "at most 10000 values",
		`{"amount": 1, "to": {"a":1,"b":1,"c":1}}`:        "not allowed",
		`{"to": {"` + strings.Repeat("x", 1e5) + `": 1}}`: "…",
	} {
		got := problems(t, transfer, sent)
		if !strings.Contains(got, want) || len(got) > 20*600 {
			t.Errorf("%.60s: %.200s, want %s", sent, got, want)
		}
	}
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf(`{"sku": %d}`, i))
	}
	if got := problems(t, transfer, `{"amount": 1, "lines": [`+strings.Join(lines, ",")+`]}`); strings.Count(got, "\n") != 20 || !strings.HasSuffix(got, "arguments: 30 further problems") {
		t.Errorf("%s", got)
	}
}

// TestASchemaRefersToNothingOutside guarantees that compiling reads neither the network nor files.
func TestASchemaRefersToNothingOutside(t *testing.T) {
	for _, schema := range []string{
		`{"$ref": "https://example.com/schema.json"}`, `{"$ref": "file:///etc/passwd"}`, `{"$ref": "other.json"}`, `{"$dynamicRef": "https://example.com/a#b"}`,
		`{"$schema": "https://example.com/draft"}`, `{"properties": {"a": {"pattern": "(?!x)"}}}`, `{"type": "objekt"}`, `{`, `[]`,
	} {
		if _, err := arguments.Compile([]byte(schema)); err == nil {
			t.Errorf("%s is compiled", schema)
		}
	}
	for _, draft := range []string{"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-04/schema#"} {
		if _, err := arguments.Compile([]byte(`{"$schema": "` + draft + `", "type": "object"}`)); err != nil {
			t.Errorf("%s: %v", draft, err)
		}
	}
}
