package authzen

import (
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Tuple holds the entities of one question.
type Tuple struct {
	Subject, Resource *Entity
	Action            *Action
	Context           *Context
	// Problems are those of the entities' types and forms; what is missing is not among them.
	Problems []resources.Problem
}

// Entity is a subject or a resource. Type and ID are "" if they were not sent.
type Entity struct {
	Type, ID   string
	Properties Properties
	// Sent are its bytes.
	Sent []byte
}

// Properties are those of an entity's properties or of a context that the gateway reads itself.
type Properties struct {
	// Account is account_id; it is "" if it was not sent.
	Account string
	// Project is project_id, "" if it was not sent. OddProject reports one that is not a string, or is empty; only a
	// native type minds.
	Project    string
	OddProject bool
	// Host is host, "" if it was not sent. OddHost reports one that is not a host's name; only a route minds.
	Host    string
	OddHost bool
	// Server is server, "" if it was not sent. OddServer reports one that is not a string; only a row of an MCP server minds.
	Server    string
	OddServer bool
}

// Action is what the subject would do.
type Action struct {
	Name string
	// Sent are its bytes.
	Sent []byte
}

// Context is the environment of a question.
type Context struct {
	Properties
	// Agent is agent, "" if it was not sent: the agent that does the action for the subject.
	Agent string
	// Arguments is the JSON of arguments, nil if it was not sent.
	Arguments []byte
	// Sent are its bytes.
	Sent []byte
}

// problem adds a problem of a field.
func (t *Tuple) problem(field, text string) {
	t.Problems = append(t.Problems, resources.Problem{Field: field, Text: text})
}

// memberArguments is the one member whose null is not as good as absent: nobody would judge the arguments of the call.
const memberArguments = "arguments"

// reader reads a body's members into a tuple, whose problems it notes. null is as good as absent.
type reader struct {
	*wire.Stream
	tuple *Tuple
}

// object reads the next value where it is an object, by member and with what is not null, and reports
// whether it is one. member says whether it has read its value.
func (r *reader) object(field string, member func(name string) bool) bool {
	switch r.Kind() {
	case '{':
	case 'n':
		r.Skip()
		return false
	default:
		r.tuple.problem(field, "must be an object")
		r.Skip()
		return false
	}
	for name := range r.Members() {
		if r.Kind() == 'n' && name != memberArguments || !member(name) {
			r.Skip()
		}
	}
	return true
}

// text reads the next value as a string that is not empty. It is a member of the field.
func (r *reader) text(field, member string) string {
	if r.Kind() != '"' {
		r.tuple.problem(field+"."+member, "must be a string")
		r.Skip()
		return ""
	}
	text := r.Text()
	if text == "" {
		r.tuple.problem(field+"."+member, "must not be empty")
	}
	return text
}

// entities reads the member of that name, if it is one of the four entities.
func (r *reader) entities(name string) bool {
	switch t := r.tuple; name {
	case "subject":
		t.Subject = r.entity(name)
	case "resource":
		t.Resource = r.entity(name)
	case "action":
		t.Action = r.action()
	case "context":
		t.Context = r.context()
	default:
		return false
	}
	return true
}

// entity reads the member with this name; nil if it is missing.
func (r *reader) entity(field string) *Entity {
	e := &Entity{}
	return kept(r, field, e, &e.Sent, func(name string) bool {
		switch name {
		case "type":
			e.Type = r.text(field, name)
		case "id":
			e.ID = r.text(field, name)
		case "properties":
			r.properties(field+".properties", &e.Properties)
		default:
			return false
		}
		return true
	})
}

// kept reads an object into an entity, by member, and keeps its bytes; nil if it is missing.
func kept[T any](r *reader, field string, entity *T, sent *[]byte, member func(name string) bool) *T {
	ok := false
	if *sent = r.Raw(func() { ok = r.object(field, member) }); !ok {
		return nil
	}
	return entity
}

// action reads the member "action"; nil if it is missing.
func (r *reader) action() *Action {
	a := &Action{}
	return kept(r, "action", a, &a.Sent, func(name string) bool {
		switch name {
		case "name":
			a.Name = r.text("action", name)
		case "properties":
			r.object("action.properties", func(string) bool { return false })
		default:
			return false
		}
		return true
	})
}

func (r *reader) context() *Context {
	c := &Context{}
	return kept(r, "context", c, &c.Sent, func(name string) bool {
		switch name {
		case "agent":
			c.Agent = r.text("context", name)
		case memberArguments:
			c.Arguments = r.Raw(r.Skip)
		default:
			return r.property("context", &c.Properties, name)
		}
		return true
	})
}

// properties reads an object and keeps the properties that name a place.
func (r *reader) properties(field string, properties *Properties) {
	r.object(field, func(name string) bool { return r.property(field, properties, name) })
}

// property reads a member that names a place, and returns whether it read the member.
func (r *reader) property(field string, properties *Properties, name string) bool {
	switch name {
	case "account_id":
		properties.Account = r.text(field, name)
	case "project_id":
		if properties.OddProject = r.Kind() != '"'; properties.OddProject {
			return false
		}
		properties.Project = r.Text()
		properties.OddProject = properties.Project == ""
	case "host":
		if properties.OddHost = r.Kind() != '"'; properties.OddHost {
			return false
		}
		var ok bool
		properties.Host, ok = route.ParseHost(r.Text())
		properties.OddHost = !ok
	case "server":
		if properties.OddServer = r.Kind() != '"'; properties.OddServer {
			return false
		}
		properties.Server = r.Text()
	default:
		return false
	}
	return true
}
