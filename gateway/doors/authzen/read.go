package authzen

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Evaluation semantics of a batch (Authorization API 1.0, 7.1.2.1).
const (
	executeAll   = "execute_all"
	firstDenies  = "deny_on_first_deny"
	firstPermits = "permit_on_first_permit"
)

// Read reads the call's body, with at most most evaluations of a batch. Its error is a 400 of the
// whole request: what is missing of a single question is not looked at.
func Read(c doors.Call, most int) (Request, error) {
	problems := c.Problems
	note := func(field, text string) { problems = append(problems, resources.Problem{Field: field, Text: text}) }
	if !isJSON(c.ContentType) {
		note("Content-Type", "must be application/json")
	}
	if c.Encoded {
		note("Content-Encoding", "must not be sent")
	}
	if c.HasQuery {
		note("query", "must not be sent; the question is in the body")
	}
	q := Request{Semantic: executeAll}
	if err := q.read(c.Body, most); err != nil {
		note("", "the body is not acceptable JSON: "+err.Error())
	} else {
		problems = append(problems, q.Problems...)
	}
	if len(problems) > 0 {
		return Request{}, resources.BadRequest(problems...)
	}
	return q, nil
}

// isJSON says whether the media type is JSON, with any parameters.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

// read reads a body. The error says why it is no acceptable JSON.
func (q *Request) read(body []byte, most int) error {
	r := &reader{Stream: wire.NewStream(body), into: &q.Tuple}
	if !r.object("", func(name string) bool {
		switch name {
		case "evaluations":
			q.evaluations(r, most)
		case "options":
			q.options(r)
		default:
			return r.entities(name)
		}
		return true
	}) && len(q.Problems) == 0 { // null
		q.problem("", "must be an object")
	}
	if err := r.Err(); err != nil {
		return err
	}
	for i := range q.Evaluations {
		q.Evaluations[i].inherit(&q.Tuple)
	}
	return nil
}

// evaluations reads the questions of a batch. An ill-formed one is a problem of its own.
func (q *Request) evaluations(r *reader, most int) {
	if r.Kind() != '[' {
		q.problem("evaluations", "must be an array")
		r.Skip()
		return
	}
	defer func() { r.into = &q.Tuple }()
	for i := range r.Items() {
		if i >= most {
			q.More = true
			r.Skip()
			continue
		}
		q.Evaluations = append(q.Evaluations, Tuple{})
		r.into = &q.Evaluations[i]
		if !r.object("", r.entities) && len(r.into.Problems) == 0 { // null
			r.into.problem("", "must be an object")
		}
	}
}

// options reads the options of a batch.
func (q *Request) options(r *reader) {
	r.object("options", func(name string) bool {
		if name != "evaluations_semantic" {
			return false
		}
		switch q.Semantic = r.text("options.evaluations_semantic"); q.Semantic {
		case executeAll, firstDenies, firstPermits, "":
		default:
			q.problem("options.evaluations_semantic", "must be one of execute_all, deny_on_first_deny, permit_on_first_permit")
		}
		return true
	})
}

// inherit takes the defaults over, each as a whole, for what was not sent.
func (t *Tuple) inherit(defaults *Tuple) {
	if t.Subject == nil && !t.told("subject") {
		t.Subject = defaults.Subject
	}
	if t.Resource == nil && !t.told("resource") {
		t.Resource = defaults.Resource
	}
	if t.Action == nil && !t.told("action") {
		t.Action = defaults.Action
	}
	if t.Context == nil && !t.told("context") {
		t.Context = defaults.Context
	}
}

// told says whether a problem of the field is known.
func (t *Tuple) told(field string) bool {
	for _, p := range t.Problems {
		if p.Field == field {
			return true
		}
	}
	return false
}

// complete notes what is missing. Without idOfSubject or idOfResource, the id of that entity is what
// the question asks for.
func (t *Tuple) complete(idOfSubject, idOfResource, action bool) {
	t.entityComplete("subject", t.Subject, idOfSubject)
	if action {
		switch {
		case t.Action == nil:
			t.missing("action")
		case t.Action.Name == "":
			t.missing("action.name")
		}
	}
	t.entityComplete("resource", t.Resource, idOfResource)
}

func (t *Tuple) entityComplete(field string, e *Entity, id bool) {
	if e == nil {
		t.missing(field)
		return
	}
	if e.Type == "" {
		t.missing(field + ".type")
	}
	if e.ID == "" && id {
		t.missing(field + ".id")
	}
}

// missing notes a missing field, unless another problem of it is known.
func (t *Tuple) missing(field string) {
	if !t.told(field) {
		t.problem(field, "is missing")
	}
}
