package engine

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/arguments"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// appInput is the input of an app (policies/schemas/app).
type appInput struct {
	question resources.Question
	sent     [][2]*ast.Term
}

// newAppInput reads what was sent. The error is a *resources.Error of KindBadRequest.
func newAppInput(q *resources.Question, parsed sentTerms) (*appInput, error) {
	input := &appInput{question: resources.Question{Principal: q.Principal, AccountID: q.AccountID, Facts: q.Facts, Now: q.Now}}
	if q.Facts.Subject != nil && q.Facts.Subject.AccountID != q.AccountID {
		return nil, &failed{FailureFacts, errOtherAccount}
	}
	var sent resources.Entities
	if q.App != nil {
		sent = *q.App
	}
	for _, part := range [...]struct {
		name string
		sent []byte
	}{{"subject", sent.Subject}, {"action", sent.Action}, {"resource", sent.Resource}, {"context", sent.Context}} {
		value, problem := parsed.object(part.sent)
		if problem != "" {
			return nil, resources.BadRequest(resources.Problem{Field: part.name, Text: problem})
		}
		input.sent = append(input.sent, field(part.name, value))
	}
	return input, nil
}

// sentTerms caches parsed JSON objects by their bytes, which do not change. Thousands of questions can be sent with one
// object. nil caches none.
type sentTerms map[sentBytes]*ast.Term

// sentBytes names bytes by their place.
type sentBytes struct {
	first *byte
	size  int
}

// object is objectTerm.
func (parsed sentTerms) object(sent []byte) (term *ast.Term, problem string) {
	if parsed == nil || len(sent) == 0 {
		return objectTerm(sent)
	}
	key := sentBytes{&sent[0], len(sent)}
	if term = parsed[key]; term == nil {
		if term, problem = objectTerm(sent); problem == "" {
			parsed[key] = term
		}
	}
	return term, problem
}

// objectTerm returns a JSON object as OPA's own value, an empty one for what was not sent.
func objectTerm(sent []byte) (term *ast.Term, problem string) {
	if sent == nil {
		return ast.InternedEmptyObject, ""
	}
	dec := json.NewDecoder(bytes.NewReader(sent))
	dec.UseNumber() // no number loses digits
	var members map[string]any
	if err := dec.Decode(&members); err != nil || members == nil {
		return nil, "must be a JSON object"
	}
	if tooLong(members) {
		return nil, "has a number that is too long; numbers have at most 128 characters and an exponent of at most 400"
	}
	value, err := ast.InterfaceToValue(members)
	if err != nil {
		return nil, "must be a JSON object"
	}
	return ast.NewTerm(value), ""
}

// tooLong says whether there is a number in v that is too long.
func tooLong(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return arguments.TooLong(v)
	case map[string]any:
		for _, member := range v {
			if tooLong(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, tooLong)
	}
	return false
}

// resourceType returns the type of the resource as it was sent, "" for none.
func (input *appInput) resourceType() string {
	for _, part := range input.sent {
		if part[0].Equal(ast.InternedTerm("resource")) {
			if object, ok := part[1].Value.(ast.Object); ok {
				name, _ := valueAt[ast.String](object, "type")
				return string(name)
			}
		}
	}
	return ""
}

func (input *appInput) whole() *ast.Term {
	return ast.NewTerm(input.document(
		field("assignments", heldList(input.value("subject.assignments"))), field("roles", roleList(input.value("subject.roles"))),
	))
}

// document returns the question as it was sent, with the facts every app gets and the given ones under "facts".
func (input *appInput) document(facts ...[2]*ast.Term) ast.Value {
	facts = append(
		facts, input.part("principal", "kind", "id", "uuid", "account", "scopes", "credential", "key_scopes"),
		input.part("account", "id", "exists", "status"), field("now", input.value("now")),
		field("status", input.value("subject.status")), field("member", input.value("subject.member")),
	)
	return ast.NewObject(append(input.sent[:len(input.sent):len(input.sent)], field("facts", ast.ObjectTerm(facts...)))...)
}

// value returns the value of the input at a path.
func (input *appInput) value(path string) *ast.Term { return question.Value(&input.question, path) }

// part returns some members of a part of the input that the shipped rules are given.
func (input *appInput) part(name string, members ...string) [2]*ast.Term {
	items := make([][2]*ast.Term, len(members))
	for i, member := range members {
		items[i] = field(member, input.value(name+"."+member))
	}
	return field(name, ast.ObjectTerm(items...))
}

func field(name string, value *ast.Term) [2]*ast.Term {
	return [2]*ast.Term{ast.InternedTerm(name), value}
}

// heldList returns the assignments by place as a list, each with its project and resource. It is made of what the digest of
// the facts is made of, and in its order.
func heldList(byPlace *ast.Term) *ast.Term {
	var all []*ast.Term
	byPlace.Value.(ast.Object).Foreach(func(project, byResource *ast.Term) {
		byResource.Value.(ast.Object).Foreach(func(resource, held *ast.Term) {
			held.Value.(*ast.Array).Foreach(func(assignment *ast.Term) {
				all = append(all, extended(assignment, field("project", project), field("resource", resource)))
			})
		})
	})
	return ast.ArrayTerm(all...)
}

// roleList returns the custom roles by id as a list, each with its id.
func roleList(byID *ast.Term) *ast.Term {
	var all []*ast.Term
	byID.Value.(ast.Object).Foreach(func(id, role *ast.Term) {
		all = append(all, extended(role, field("id", id)))
	})
	return ast.ArrayTerm(all...)
}

func extended(object *ast.Term, items ...[2]*ast.Term) *ast.Term {
	object.Value.(ast.Object).Foreach(func(key, value *ast.Term) { items = append(items, [2]*ast.Term{key, value}) })
	return ast.ObjectTerm(items...)
}
