package decisionlog

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// told is a verdict as a line has it: the values of the question, without what can be computed from
// them.
type told struct {
	ID       string         `json:"id"`
	Parent   string         `json:"parent"`
	At       resources.Time `json:"at"`
	Path     string         `json:"path"`
	Allow    bool           `json:"allow"`
	Reason   string         `json:"reason"`
	Code     string         `json:"code"`
	Policy   string         `json:"policy"`
	Revision int64          `json:"revision"`
	// Facts is the number of the line of facts, 0 for none.
	Facts   int64    `json:"facts"`
	Account string   `json:"account"`
	State   string   `json:"state"`
	Caller  caller   `json:"caller"`
	Action  string   `json:"action"`
	Route   *route   `json:"route"`
	Target  target   `json:"target"`
	Grant   *granted `json:"grant"`
	App     *asked   `json:"app"`
	// Context is an app's, an object.
	Context jsontext.Value `json:"context"`
	Unasked bool           `json:"unasked"`
	// Changed says that a credential was taken out, or bytes that are no text: the question is not the
	// one that was judged.
	Changed bool `json:"changed"`
}

type caller struct {
	Kind       string   `json:"kind"`
	ID         string   `json:"id"`
	UUID       string   `json:"uuid"`
	Account    string   `json:"account"`
	Scopes     []string `json:"scopes"`
	Credential string   `json:"credential"`
	KeyScopes  []string `json:"key_scopes"`
	KeyID      string   `json:"key_id"`
}

type route struct {
	Name   string   `json:"name"`
	Access []string `json:"access"`
	Effect string   `json:"effect"`
}

type target struct {
	Account  string `json:"account"`
	Project  string `json:"project"`
	Resource string `json:"resource"`
	Rest     string `json:"rest"`
	User     string `json:"user"`
}

type granted struct {
	Permissions []string       `json:"permissions"`
	Project     string         `json:"project"`
	Resource    string         `json:"resource"`
	Until       resources.Time `json:"until"`
}

type asked struct {
	Type     string         `json:"type"`
	Subject  jsontext.Value `json:"subject"`
	Action   jsontext.Value `json:"action"`
	Resource jsontext.Value `json:"resource"`
	Context  jsontext.Value `json:"context"`
}

// object writes a JSON object by hand: the log has a line for every verdict, and the reflection of a
// JSON library takes three times as long. Members without a value are left out.
type object struct {
	buf   []byte
	first bool
	// changed says that a text was not UTF-8, or held a credential.
	changed bool
}

func (o *object) name(name string) {
	if !o.first {
		o.buf = append(o.buf, ',')
	}
	o.first = false
	o.buf = append(append(append(o.buf, '"'), name...), '"', ':')
}

// quote adds a text. A credential in it is masked.
func (o *object) quote(value string) {
	masked := resources.MaskCredentials(value)
	quoted, err := jsontext.AppendQuote(o.buf, masked)
	o.buf, o.changed = quoted, o.changed || err != nil || masked != value
}

// plain adds a text of the gateway's own, which has no character that JSON escapes.
func (o *object) plain(name, value string) {
	if value != "" {
		o.name(name)
		o.buf = append(append(append(o.buf, '"'), value...), '"')
	}
}

func (o *object) text(name, value string) {
	if value != "" {
		o.name(name)
		o.quote(value)
	}
}

func (o *object) number(name string, value int64) {
	if value != 0 {
		o.name(name)
		o.buf = strconv.AppendInt(o.buf, value, 10)
	}
}

func (o *object) flag(name string, value bool) {
	if value {
		o.name(name)
		o.buf = append(o.buf, "true"...)
	}
}

func (o *object) time(name string, value resources.Time) {
	if value != 0 {
		o.name(name)
		o.buf = append(value.AppendTo(append(o.buf, '"')), '"')
	}
}

// texts appends a member with a list of texts; an empty list is left out.
func (o *object) texts(name string, values []string) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	o.buf = append(o.buf, '[')
	for i, v := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.quote(v)
	}
	o.buf = append(o.buf, ']')
}

// raw adds a member with a JSON value. Credentials in it are masked.
func (o *object) raw(name string, value []byte) {
	if len(value) > 0 {
		o.name(name)
		o.value(value)
	}
}

func (o *object) value(value []byte) {
	clean, changed, err := appendClean(o.buf, value)
	if err != nil { // what callers send as an object is JSON
		clean, changed = append(o.buf, "null"...), true
	}
	o.buf, o.changed = clean, o.changed || changed
}

// members adds an object of what an app says, unless there is nothing.
func (o *object) members(name string, all []resources.Member) {
	if len(all) == 0 {
		return
	}
	text := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			text = append(text, ',')
		}
		text, _ = jsontext.AppendQuote(text, m.Name) // policy's texts are UTF-8
		text = append(append(text, ':'), m.Value...)
	}
	o.raw(name, append(text, '}'))
}

// object adds an object, unless it would be empty.
func (o *object) object(name string, members func()) {
	before, first := len(o.buf), o.first
	o.name(name)
	o.buf, o.first = append(o.buf, '{'), true
	members()
	if o.first {
		o.buf, o.first = o.buf[:before], first
		return
	}
	o.buf = append(o.buf, '}')
}

// appendTold appends a verdict whose facts are in the line of that number. What it has in common with the verdict
// before is in again.
func appendTold(to []byte, j *resources.Judgement, facts int64, again *repeated) []byte {
	o := object{buf: append(to, '{'), first: true}
	q, d := &j.Question, &j.Decision
	o.plain("id", j.ID)
	o.plain("parent", j.ParentID)
	o.time("at", q.Now)
	o.plain("path", j.Path)
	o.flag("allow", d.Allowed)
	o.text("reason", d.Reason)
	o.text("code", d.Code)
	o.plain("policy", d.PolicyRevision)
	o.number("revision", q.Facts.Revision)
	o.number("facts", facts)
	o.text("account", q.AccountID)
	o.plain("state", q.Facts.ProjectState)
	again.of(q)
	o.buf, o.changed = append(o.buf, again.text...), o.changed || again.changed
	o.text("action", q.Action.ID)
	o.object("target", func() {
		t := &q.Target
		o.text("account", t.AccountID)
		o.text("project", t.ProjectID)
		o.text("resource", t.Resource)
		o.text("rest", t.Rest)
		o.text("user", t.UserID)
	})
	o.more(j)
	o.flag("unasked", j.Unasked)
	o.flag("changed", o.changed)
	return append(o.buf, '}')
}

// more adds a grant and what an app is asked and says.
func (o *object) more(j *resources.Judgement) {
	if g := j.Question.Grant; g != nil {
		at := &j.Question.Target
		o.object("grant", func() {
			o.texts("permissions", g.Permissions)
			o.text("project", at.ProjectID)
			o.text("resource", at.Resource)
			o.time("until", g.Until)
		})
	}
	if a := j.Question.App; a != nil {
		o.object("app", func() {
			o.text("type", a.ResourceType)
			o.raw("subject", a.Subject)
			o.raw("action", a.Action)
			o.raw("resource", a.Resource)
			o.raw("context", a.Context)
		})
	}
	o.members("context", j.Context)
}

// row returns the route as a row of the catalogue, nil where there is none.
func (r *route) row() *resources.Route {
	if r == nil {
		return nil
	}
	return &resources.Route{Name: r.Name, Access: r.Access, Effect: r.Effect}
}

// judgement returns the verdict of a line with its facts.
func (t *told) judgement(subject *resources.Subject) *resources.Judgement {
	action, _ := resources.ParseAction(t.Action) // "" is none
	at := resources.Target{AccountID: t.Target.Account, ProjectID: t.Target.Project, Resource: t.Target.Resource, Rest: t.Target.Rest, UserID: t.Target.User}
	j := &resources.Judgement{
		ID: t.ID, ParentID: t.Parent, Path: t.Path, Context: membersOf(t.Context), Unasked: t.Unasked,
		Decision: resources.Decision{Allowed: t.Allow, Reason: t.Reason, Code: t.Code, PolicyRevision: t.Policy},
		Question: resources.Question{
			Principal: resources.Principal{
				Kind: t.Caller.Kind, ID: t.Caller.ID, UUID: t.Caller.UUID, AccountID: t.Caller.Account, Scopes: t.Caller.Scopes,
				Credential: t.Caller.Credential, KeyScopes: t.Caller.KeyScopes, KeyID: t.Caller.KeyID,
			},
			Action: action, AccountID: t.Account, Target: at, Now: t.At,
			Facts: resources.Facts{Revision: t.Revision, Subject: subject, ProjectState: t.State},
			Route: t.Route.row(),
		},
	}
	q := &j.Question
	if g := t.Grant; g != nil || t.Path == resources.PathGrantable {
		if g == nil {
			g = &granted{}
		}
		q.Target, q.Grant = resources.TargetAt(g.Project, g.Resource), &resources.Grant{Permissions: g.Permissions, Until: g.Until}
	}
	if a := t.App; a != nil {
		q.App = &resources.Entities{ResourceType: a.Type, Subject: a.Subject, Action: a.Action, Resource: a.Resource, Context: a.Context}
	}
	return j
}

// membersOf returns the members of an object, in their order.
func membersOf(object jsontext.Value) (members []resources.Member) {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil { // there is none
		return nil
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		members = append(members, resources.Member{Name: text, Value: value.Clone()})
	}
	return members
}
