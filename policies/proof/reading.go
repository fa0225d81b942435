package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxNesting bounds how deep the values of a document are nested, and so what reading
// one takes of the stack.
const maxNesting = 10000

// reading makes OPA's own values of a document in one pass, and reports members that
// are given twice, of which a decoder would silently take the last.
type reading struct {
	doc *document
	dec *json.Decoder
	p   *Problems
	// path is where the pass is; the lines were counted up to the offset.
	path   []string
	offset int64
	line   int
	// lines, where there is such a map, is filled.
	lines map[string]int
}

func newReading(doc *document, p *Problems) *reading {
	r := &reading{doc: doc, dec: json.NewDecoder(bytes.NewReader(doc.raw)), p: p, line: 1}
	r.dec.UseNumber() // as OPA reads data: no number loses digits
	return r
}

// whole reads the document: one object, and nothing after it.
func (r *reading) whole() (ast.Value, error) {
	value, err := r.value()
	if errors.Is(err, io.EOF) { // as the decoder says between two tokens
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("isn't a JSON object: %w", err)
	}
	if _, ok := value.(ast.Object); !ok {
		return nil, fmt.Errorf("isn't a JSON object: %s", ast.ValueName(value))
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON object")
	}
	return value, nil
}

// value reads the next value.
func (r *reading) value() (ast.Value, error) {
	if len(r.path) > maxNesting {
		return nil, fmt.Errorf("nested deeper than %d", maxNesting)
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return r.object()
	case json.Delim('['):
		return r.array()
	}
	return ast.InterfaceToValue(token)
}

// object reads the members of an object. A member that is given twice is a problem.
func (r *reading) object() (ast.Value, error) {
	var members [][2]*ast.Term
	seen := map[string]int{}
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // nothing else is the name of a member
		r.enter(name)
		first, twice := seen[name]
		if twice {
			r.p.at(r.doc.file, r.line, "%s is given twice, first in line %d", strings.Join(r.path, "."), first)
		}
		seen[name] = r.line
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		r.leave()
		if !twice {
			members = append(members, [2]*ast.Term{ast.StringTerm(name), ast.NewTerm(value)})
		}
	}
	_, err := r.dec.Token() // the closing bracket
	return ast.NewObject(members...), err
}

// array reads the elements of an array.
func (r *reading) array() (ast.Value, error) {
	var elements []*ast.Term
	for r.dec.More() {
		r.enter(strconv.Itoa(len(elements)))
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		r.leave()
		elements = append(elements, ast.NewTerm(value))
	}
	_, err := r.dec.Token() // the closing bracket
	return ast.NewArray(elements...), err
}

// enter comes to a member. The lines are counted on from the last one, not each time
// from the start.
func (r *reading) enter(name string) {
	at := r.dec.InputOffset()
	r.line += bytes.Count(r.doc.raw[r.offset:at], []byte("\n"))
	r.offset, r.path = at, append(r.path, name)
	if r.lines != nil {
		r.lines[strings.Join(r.path, ".")] = r.line
	}
}

func (r *reading) leave() { r.path = r.path[:len(r.path)-1] }

// line returns the line of an offset.
func line(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte("\n"))
}
