package decisionlog

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// record is a verdict as a line has it: the values of the question, without what can be computed from them. Its first
// members are those that glance reads.
type record struct {
	Allow  bool   `json:"allow,omitzero"`
	Path   string `json:"path,omitzero"`
	Route  route  `json:"route,omitzero"`
	Caller caller `json:"caller,omitzero"`

	ID       string  `json:"id,omitzero"`
	Parent   string  `json:"parent,omitzero"`
	Time     instant `json:"at,omitzero"`
	Reason   string  `json:"reason,omitzero"`
	Code     string  `json:"code,omitzero"`
	Policy   string  `json:"policy,omitzero"`
	Revision int64   `json:"revision,omitzero"`
	// Facts is the number of the line of facts, 0 for none.
	Facts   int64  `json:"facts,omitzero"`
	Account string `json:"account,omitzero"`
	State   string `json:"state,omitzero"`
	Action  string `json:"action,omitzero"`
	Target  target `json:"target,omitzero"`
	Agent   *agent `json:"agent,omitzero"`
	Grant   *grant `json:"grant,omitzero"`
	App     *asked `json:"app,omitzero"`
	// Context is what an app says, an object.
	Context jsontext.Value `json:"context,omitzero"`
	Unasked bool           `json:"unasked,omitzero"`
	Call    *call          `json:"call,omitzero"`
	// Changed says that a credential, or bytes outside UTF-8, were removed: the question differs from the judged one.
	Changed bool `json:"changed,omitzero"`
}

// instant is a time that is written without a copy of its text.
type instant struct{ resources.Time }

// MarshalJSONTo implements json.MarshalerTo.
func (i instant) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(append(i.AppendTo(append(enc.AvailableBuffer(), '"')), '"'))
}

// caller has the fields of resources.Principal.
type caller struct {
	Kind       string   `json:"kind,omitzero"`
	ID         string   `json:"id,omitzero"`
	UUID       string   `json:"uuid,omitzero"`
	AccountID  string   `json:"account,omitzero"`
	Scopes     []string `json:"scopes,omitempty"`
	Credential string   `json:"credential,omitzero"`
	KeyScopes  []string `json:"key_scopes,omitempty"`
	KeyID      string   `json:"key_id,omitzero"`
	// Client is nil for a caller without one, and in records of former versions.
	Client *resources.Client `json:"client,omitzero"`
}

// agent is the agent's part in the question.
type agent struct {
	ID      string `json:"id,omitzero"`
	Exists  bool   `json:"exists,omitzero"`
	Status  string `json:"status,omitzero"`
	Covered bool   `json:"covered,omitzero"`
}

type route struct {
	Name   string   `json:"name,omitzero"`
	Access []string `json:"access,omitempty"`
	Effect string   `json:"effect,omitzero"`
}

// target has the fields of resources.Target.
type target struct {
	AccountID string `json:"account,omitzero"`
	ProjectID string `json:"project,omitzero"`
	Resource  string `json:"resource,omitzero"`
	Rest      string `json:"rest,omitzero"`
	UserID    string `json:"user,omitzero"`
}

// grant has the place as well: former versions wrote a grant without a target.
type grant struct {
	Permissions []string `json:"permissions,omitempty"`
	Project     string   `json:"project,omitzero"`
	Resource    string   `json:"resource,omitzero"`
	Until       instant  `json:"until,omitzero"`
}

type asked struct {
	Type     string         `json:"type,omitzero"`
	Subject  jsontext.Value `json:"subject,omitempty"`
	Action   jsontext.Value `json:"action,omitempty"`
	Resource jsontext.Value `json:"resource,omitempty"`
	Context  jsontext.Value `json:"context,omitempty"`
}

// newRecord returns the record of a verdict, without credentials.
func newRecord(j *resources.Judgement, facts int64) (r record) {
	q, d, c := &j.Question, &j.Decision, cleaner{}
	r = record{
		ID: j.ID, Parent: j.ParentID, Time: instant{q.Now}, Path: j.Path, Allow: d.Allowed, Reason: d.Reason, Code: d.Code,
		Policy: d.PolicyRevision, Revision: q.Facts.Revision, Facts: facts, Account: q.AccountID, State: q.Facts.ProjectState,
		Caller: caller(q.Principal), Action: q.Action.ID, Target: target(q.Target), Context: c.members(j.Context), Unasked: j.Unasked,
	}
	if row := q.Route; row != nil {
		r.Route = route{c.text(row.Name), c.list(row.Access), c.text(row.Effect)}
	}
	c.texts(
		&r.Reason, &r.Code, &r.Account, &r.Caller.ID, &r.Caller.UUID, &r.Caller.AccountID, &r.Caller.KeyID, &r.Action,
		&r.Target.AccountID, &r.Target.ProjectID, &r.Target.Resource, &r.Target.Rest, &r.Target.UserID,
	)
	r.Caller.Scopes, r.Caller.KeyScopes = c.list(r.Caller.Scopes), c.list(r.Caller.KeyScopes)
	if client := r.Caller.Client; client != nil {
		r.Caller.Client = &resources.Client{
			Issuer: c.text(client.Issuer), ID: c.text(client.ID), Actors: c.list(client.Actors), Scopes: c.list(client.Scopes), Own: client.Own,
		}
	}
	if a := q.Agent; a != nil {
		r.Agent = &agent{a.ID, a.Exists, c.text(a.Status), a.Covered}
	}
	if g := q.Grant; g != nil {
		r.Grant = &grant{c.list(g.Permissions), r.Target.ProjectID, r.Target.Resource, instant{g.Until}}
	}
	if a := q.App; a != nil {
		r.App = &asked{a.ResourceType, c.value(a.Subject), c.value(a.Action), c.value(a.Resource), c.value(a.Context)}
		c.texts(&r.App.Type)
	}
	r.Call = newCall(j.Call, &c)
	r.Changed = c.changed
	return r
}

// plain says that the record has neither JSON nor times of a caller: every reader can parse it.
func (r *record) plain() bool {
	return r.App == nil && r.Grant == nil && r.Context == nil && (r.Call == nil || r.Call.Arguments == nil)
}

// judgement returns the verdict of the record with its facts.
func (r *record) judgement(subject *resources.Subject) *resources.Judgement {
	action, _ := resources.ParseAction(r.Action) // "" is none
	j := &resources.Judgement{
		ID: r.ID, ParentID: r.Parent, Path: r.Path, Context: membersOf(r.Context), Unasked: r.Unasked, Call: r.Call.call(),
		Decision: resources.Decision{Allowed: r.Allow, Reason: r.Reason, Code: r.Code, PolicyRevision: r.Policy},
		Question: resources.Question{
			Principal: resources.Principal(r.Caller), Action: action, AccountID: r.Account, Target: resources.Target(r.Target), Now: r.Time.Time,
			Facts: resources.Facts{Revision: r.Revision, Subject: subject, ProjectState: r.State},
		},
	}
	q := &j.Question
	if row := r.Route; row.Name != "" || row.Effect != "" || len(row.Access) > 0 {
		q.Route = &resources.Route{Name: row.Name, Access: row.Access, Effect: row.Effect}
	}
	if a := r.Agent; a != nil {
		q.Agent = &resources.ActingAgent{ID: a.ID, Exists: a.Exists, Status: a.Status, Covered: a.Covered}
	}
	if g := r.Grant; g != nil {
		q.Target, q.Grant = resources.TargetAt(g.Project, g.Resource), &resources.Grant{Permissions: g.Permissions, Until: g.Until.Time}
	} else if r.Path == resources.PathGrantable {
		q.Target, q.Grant = resources.Target{}, &resources.Grant{}
	}
	if a := r.App; a != nil {
		q.App = &resources.Entities{ResourceType: a.Type, Subject: a.Subject, Action: a.Action, Resource: a.Resource, Context: a.Context}
	}
	return j
}

// membersOf returns the members of an object, in their order.
func membersOf(object jsontext.Value) (members []resources.Member) {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil { // it was left out
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
