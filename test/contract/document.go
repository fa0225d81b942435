package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/portcullis-authz/portcullis/resources/apidoc"
)

// Contract is the OpenAPI document, ready to compare exchanges with. Its schemas are
// compiled once: a test makes many requests.
type Contract struct {
	document   map[string]any
	Operations []*operation // in the order in which a path is looked for
	accessErr  *jsonschema.Schema
}

// operation is a method of a path.
type operation struct {
	method, Path string
	route        string // its name in the catalogue
	any          bool   // its route is for any method
	private      bool   // on the private listener
	public       bool   // needs no credential
	schemes      []string
	segments     []string
	params       []parameter
	body         *jsonschema.Schema // nil takes none
	bodyRequired bool
	answers      map[int]answer
}

type parameter struct {
	name, text     string
	required, rest bool
	typed          string // "integer" or "", a string
	schema         *jsonschema.Schema
}

type answer struct {
	headers map[string]header // by canonical name
	content map[string]*jsonschema.Schema
}

type header struct {
	required bool
	schema   *jsonschema.Schema
}

// Load is read by the first test that needs it.
var Load = sync.OnceValues(func() (*Contract, error) {
	text, err := apidoc.Document()
	if err != nil {
		return nil, err
	}
	return newContract(text)
})

const documentURL = "contract:///openapi.json"

func newContract(text []byte) (c *Contract, err error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(documentURL, document); err != nil {
		return nil, err
	}
	r := &documentReader{document: document.(map[string]any), compiler: compiler}
	c = &Contract{document: r.document, accessErr: r.schema("/components/schemas/AccessError")}
	for path, item := range r.value("/paths").(map[string]any) {
		for method := range item.(map[string]any) {
			if slices.Contains([]string{"get", "put", "post", "patch", "delete", "head", "options", "trace"}, method) {
				c.Operations = append(c.Operations, r.operation(path, method))
			}
		}
	}
	// As the gateway does: a literal segment goes before a parameter.
	slices.SortFunc(c.Operations, func(a, b *operation) int {
		return cmp.Or(strings.Compare(strings.ReplaceAll(a.Path, "{", "\x7f"), strings.ReplaceAll(b.Path, "{", "\x7f")), strings.Compare(a.method, b.method))
	})
	return c, r.err
}

// documentReader reads the document by JSON pointers; its first error stays.
type documentReader struct {
	document map[string]any
	compiler *jsonschema.Compiler
	err      error
}

func (r *documentReader) fail(pointer string, err any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %v", pointer, err)
	}
}

// value gives the value of a pointer, nil for none.
func (r *documentReader) value(pointer string) any {
	var v any = r.document
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch node := v.(type) {
		case map[string]any:
			v = node[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

// object gives the object at the pointer and where it really is, behind references.
func (r *documentReader) object(pointer string) (object map[string]any, place string) {
	for range 8 {
		object, ok := r.value(pointer).(map[string]any)
		if !ok {
			r.fail(pointer, "there is no object")
			return map[string]any{}, pointer
		}
		ref, ok := object["$ref"].(string)
		if !ok {
			return object, pointer
		}
		pointer = strings.TrimPrefix(ref, "#")
	}
	r.fail(pointer, "a circle of references")
	return map[string]any{}, pointer
}

func (r *documentReader) schema(pointer string) *jsonschema.Schema {
	if r.value(pointer) == nil {
		r.fail(pointer, "there is no schema")
		return nil
	}
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = url.PathEscape(token)
	}
	schema, err := r.compiler.Compile(documentURL + "#" + strings.Join(tokens, "/"))
	if err != nil {
		r.fail(pointer, err)
	}
	return schema
}

func escaped(token string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(token) }

func (r *documentReader) operation(path, method string) *operation {
	item := "/paths/" + escaped(path)
	place := item + "/" + method
	object, _ := r.object(place)
	o := &operation{
		method: strings.ToUpper(method), Path: path, segments: strings.Split(path, "/"), answers: map[int]answer{},
		private: r.value(item+"/servers") != nil,
	}
	o.route, _ = object["x-route"].(string)
	o.any, _ = object["x-any-method"].(bool)
	security, isOwn := object["security"].([]any)
	if !isOwn {
		security, _ = r.value("/security").([]any)
	}
	o.public = len(security) == 0
	for _, way := range security {
		o.schemes = append(o.schemes, slices.Sorted(maps.Keys(way.(map[string]any)))...)
	}
	list, _ := object["parameters"].([]any)
	for i := range list {
		o.params = append(o.params, r.parameter(fmt.Sprintf("%s/parameters/%d", place, i)))
	}
	if object["requestBody"] != nil {
		body, where := r.object(place + "/requestBody")
		o.bodyRequired, _ = body["required"].(bool)
		o.body = r.schema(where + "/content/application~1json/schema")
	}
	answers, _ := object["responses"].(map[string]any)
	for status := range answers {
		code, err := strconv.Atoi(status)
		if err != nil {
			r.fail(place, "a status that is no number: "+status)
		}
		o.answers[code] = r.answer(place + "/responses/" + status)
	}
	return o
}

func (r *documentReader) parameter(pointer string) parameter {
	object, place := r.object(pointer)
	p := parameter{schema: r.schema(place + "/schema")}
	p.name, _ = object["name"].(string)
	p.text, _ = object["in"].(string)
	p.required, _ = object["required"].(bool)
	p.rest, _ = object["x-rest-of-path"].(bool)
	schema, _ := r.object(place + "/schema")
	p.typed, _ = schema["type"].(string)
	return p
}

func (r *documentReader) answer(pointer string) answer {
	object, place := r.object(pointer)
	a := answer{headers: map[string]header{}, content: map[string]*jsonschema.Schema{}}
	headers, _ := object["headers"].(map[string]any)
	for name := range headers {
		h, where := r.object(place + "/headers/" + escaped(name))
		required, _ := h["required"].(bool)
		a.headers[canonical(name)] = header{required, r.schema(where + "/schema")}
	}
	content, _ := object["content"].(map[string]any)
	for kind := range content {
		a.content[kind] = r.schema(place + "/content/" + escaped(kind) + "/schema")
	}
	return a
}

// examples calls back with each example and the schema beside it.
func (r *documentReader) examples(pointer string, each func(pointer string, schema *jsonschema.Schema, example any)) {
	switch v := r.value(pointer).(type) {
	case map[string]any:
		if example, ok := v["example"]; ok && v["schema"] != nil {
			each(pointer, r.schema(pointer+"/schema"), example)
		}
		if list, ok := v["examples"].([]any); ok { // a schema's own
			for _, example := range list {
				each(pointer, r.schema(pointer), example)
			}
		}
		if named, ok := v["examples"].(map[string]any); ok && v["schema"] != nil {
			for name, one := range named {
				each(pointer+"/examples/"+name, r.schema(pointer+"/schema"), one.(map[string]any)["value"])
			}
		}
		for name := range v {
			if name != "example" && name != "examples" {
				r.examples(pointer+"/"+escaped(name), each)
			}
		}
	case []any:
		for i := range v {
			r.examples(fmt.Sprintf("%s/%d", pointer, i), each)
		}
	}
}

// Decoded is JSON with its numbers as they are.
func Decoded(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// Read returns the document's contract, or ends the test.
func Read(t testing.TB) *Contract {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
