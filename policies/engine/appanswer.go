package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

var (
	errAppForm = errors.New(`must be a boolean, or {"decision": boolean} with, if at all, a context that is an object`)
	errContext = fmt.Errorf("gives a context that is no JSON, or of more than %d bytes", maxReason)
)

// readApp takes a boolean, or {"decision": boolean, "context": object} where the context may be left out, and nothing
// else.
func readApp(answer ast.Value) (allowed bool, context []resources.Member, err error) {
	if plain, ok := answer.(ast.Boolean); ok {
		return bool(plain), nil, nil
	}
	o, ok := answer.(ast.Object)
	if !ok {
		return false, nil, errAppForm
	}
	decision, decided := valueAt[ast.Boolean](o, "decision")
	more, hasContext := valueAt[ast.Object](o, "context")
	if !decided || o.Len() != 1 && (!hasContext || o.Len() != 2) {
		return false, nil, errAppForm
	}
	if hasContext {
		if context, err = membersOf(more); err != nil {
			return false, nil, err
		}
	}
	return bool(decision), context, nil
}

// membersOf returns the members of an object in order, each with its JSON.
func membersOf(o ast.Object) (members []resources.Member, err error) {
	budget := maxReason
	return members, o.Iter(func(key, value *ast.Term) error {
		name, ok := key.Value.(ast.String)
		if !ok {
			return errContext
		}
		text, err := appendJSON(nil, value.Value, budget-len(name))
		if err != nil {
			return err
		}
		members, budget = append(members, resources.Member{Name: string(name), Value: text}), budget-len(name)-len(text)
		return nil
	})
}

// appendJSON appends a value's JSON; sets are arrays. It ends once there are more than most bytes: a small value can
// hold the same part very often.
func appendJSON(b []byte, v ast.Value, most int) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case ast.Null, ast.Boolean, ast.Number:
		b = append(b, v.String()...)
	case ast.String:
		text, _ := json.Marshal(string(v)) // any string
		b = append(b, text...)
	case *ast.Array:
		b, err = appendList(b, v.Iter, most)
	case ast.Set:
		b, err = appendList(b, v.Iter, most)
	case ast.Object:
		b, err = appendObject(b, v, most)
	default:
		err = errContext
	}
	if err == nil && len(b) > most {
		err = errContext
	}
	return b, err
}

func appendList(b []byte, iter func(func(*ast.Term) error) error, most int) ([]byte, error) {
	b = append(b, '[')
	first := len(b)
	err := iter(func(t *ast.Term) (err error) {
		if len(b) > first {
			b = append(b, ',')
		}
		b, err = appendJSON(b, t.Value, most)
		return err
	})
	return append(b, ']'), err
}

// appendObject appends an object as JSON. The error is errContext for a key of another type than string.
func appendObject(b []byte, o ast.Object, most int) ([]byte, error) {
	b = append(b, '{')
	first := len(b)
	err := o.Iter(func(key, value *ast.Term) (err error) {
		if _, ok := key.Value.(ast.String); !ok {
			return errContext
		}
		if len(b) > first {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, key.Value, most); err != nil {
			return err
		}
		b, err = appendJSON(append(b, ':'), value.Value, most)
		return err
	})
	return append(b, '}'), err
}
