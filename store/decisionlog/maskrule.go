package decisionlog

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The operations of a mask.
const (
	opRemove = "remove"
	opUpsert = "upsert"
)

// PartInput and PartResult are the parts of an event that a mask may be about.
const (
	PartInput  = "input"
	PartResult = "result"
	partNDB    = "nd_builtin_cache" // OPA's; no event has one here
)

// maxSteps bounds the names in a path: a rule follows them by recursion, and no input is nested that deep.
const maxSteps = 1000

// maskRule is a member of data.system.log.mask, as OPA's documentation has it.
type maskRule struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
	steps []string
}

// readMaskRule reads a path, which is removed, or an object of op, path and value. Its errors quote nothing: rules can
// make a member of the event that they are to mask.
func readMaskRule(raw jsontext.Value) (*maskRule, error) {
	r := &maskRule{Op: opRemove}
	var err error
	switch raw.Kind() {
	case '"':
		err = json.Unmarshal(raw, &r.Path)
	case '{':
		r.Op = ""
		err = json.Unmarshal(raw, r, numbersAsText())
	default:
		err = errors.New("neither")
	}
	switch {
	case err != nil:
		return nil, errors.New("mask: a member must be a path, or an object of op, path and value")
	case r.Op != opRemove && r.Op != opUpsert:
		return nil, errors.New("mask: op must be remove or upsert")
	}
	r.steps, err = stepsOf(r.Path)
	return r, err
}

// stepsOf returns the names that a path leads through.
func stepsOf(path string) (steps []string, err error) {
	if strings.Count(path, "/") > maxSteps {
		return nil, fmt.Errorf("mask: path has more than %d names", maxSteps)
	}
	rest, ok := strings.CutPrefix(path, "/")
	for step := range strings.SplitSeq(rest, "/") {
		name, err := url.PathUnescape(step)
		if err != nil {
			return nil, errors.New("mask: path has a % that escapes nothing")
		}
		steps = append(steps, name)
	}
	if part := steps[0]; !ok || part != PartInput && part != PartResult && part != partNDB {
		return nil, errors.New("mask: path must begin with /input or /result")
	}
	return steps, nil
}

// apply does what the rule says and reports whether there was something to do.
func (r *maskRule) apply(doc map[string]any) bool {
	if _, present := doc[r.steps[0]]; !present {
		return false
	}
	_, done := r.change(doc, r.steps)
	return done
}

// change changes what the steps lead to below node, and returns node as it is then.
func (r *maskRule) change(node any, steps []string) (changed any, done bool) {
	last := len(steps) == 1
	switch node := node.(type) {
	case map[string]any:
		child, present := node[steps[0]]
		switch {
		case last && r.Op == opUpsert:
			node[steps[0]] = r.Value
			return node, true
		case last && present:
			delete(node, steps[0])
			return node, true
		case last, !present && r.Op == opRemove:
			return node, false
		case !present:
			child = map[string]any{}
		}
		child, done = r.change(child, steps[1:])
		if done {
			node[steps[0]] = child
		}
		return node, done
	case []any:
		i, err := strconv.Atoi(steps[0])
		switch {
		case err != nil || i < 0 || i >= len(node):
			return node, false
		case last && r.Op == opUpsert:
			node[i] = r.Value
			return node, true
		case last:
			return slices.Delete(node, i, i+1), true
		}
		node[i], done = r.change(node[i], steps[1:])
		return node, done
	}
	return node, false
}
