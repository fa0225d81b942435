package authzen

import (
	"slices"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// read reads a call's body into the tuple. further reads the other members of the body, and returns whether it read the
// member. The error is a 400 or a 415 of the request as such, never a problem of the tuple.
func read(c doors.Call, tuple *Tuple, further func(r *reader, name string) bool) error {
	problems := slices.Concat(c.Problems, doors.OddHeaders(c.Headers, "X-User-ID", "X-Account-ID", "X-Action"))
	note := func(field, text string) { problems = append(problems, resources.Problem{Field: field, Text: text}) }
	if json, utf8 := doors.MediaType(c.Headers); !json {
		note("Content-Type", "must be application/json, sent once")
	} else if !utf8 {
		return &resources.Error{Kind: resources.KindUnsupportedMedia, Message: "The charset of a body must be UTF-8."}
	}
	if c.Encoded {
		note("Content-Encoding", "must not be sent")
	}
	if c.HasQuery {
		note("query", "must not be sent; the question is in the body")
	}
	r := &reader{Stream: wire.NewStream(c.Body), tuple: tuple}
	if !r.object("", func(name string) bool { return r.entities(name) || further(r, name) }) && len(tuple.Problems) == 0 { // null
		tuple.problem("", "must be an object")
	}
	if err := r.Err(); err != nil {
		note("", "the body is not acceptable JSON: "+err.Error())
	}
	if len(problems) > 0 {
		return resources.BadRequest(append(problems, tuple.Problems...)...)
	}
	return nil
}

// reported says whether a problem of the field is known.
func (t *Tuple) reported(field string) bool {
	return slices.ContainsFunc(t.Problems, func(p resources.Problem) bool { return p.Field == field })
}

// complete notes what is missing. Without idOfSubject or idOfResource, the id of that entity is what
// the question asks for; without action, the action is.
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
	if !t.reported(field) {
		t.problem(field, "is missing")
	}
}
