package decisionlog

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// call has the fields of resources.MCPCall.
type call struct {
	Server     string                `json:"server,omitzero"`
	Method     string                `json:"method,omitzero"`
	Name       string                `json:"name,omitzero"`
	Definition string                `json:"definition,omitzero"`
	Approval   string                `json:"approval,omitzero"`
	Arguments  jsontext.Value        `json:"arguments,omitzero"`
	Cut        bool                  `json:"cut,omitzero"`
	Outcome    *resources.MCPOutcome `json:"outcome,omitzero"`
}

// newCall returns a call without credentials, nil for none.
func newCall(m *resources.MCPCall, c *cleaner) *call {
	if m == nil {
		return nil
	}
	return &call{c.text(m.Server), c.text(m.Method), c.text(m.Name), c.text(m.Definition), c.text(m.Approval), c.value(m.Arguments), m.Cut, m.Outcome}
}

// call returns the call of a record, nil for none.
func (c *call) call() *resources.MCPCall {
	if c == nil {
		return nil
	}
	return &resources.MCPCall{
		Server: c.Server, Method: c.Method, Name: c.Name, Definition: c.Definition, Approval: c.Approval, Arguments: c.Arguments, Cut: c.Cut, Outcome: c.Outcome,
	}
}

// callInput returns the input of a call's event. Members that an input of policy has, too, have the same names.
func callInput(j *resources.Judgement) ([]byte, error) {
	type named struct {
		ID string `json:"id"`
	}
	type principal struct {
		named
		Kind       string `json:"kind"`
		Credential string `json:"credential"`
	}
	type place struct {
		Project string `json:"project"`
		Rest    string `json:"rest"`
	}
	q, m := &j.Question, j.Call
	actors, agent := []string{}, ""
	if client := q.Principal.Client; client != nil {
		actors, agent = append(actors, client.Actors...), client.ID
	}
	return json.Marshal(struct {
		Server     string         `json:"server"`
		Method     string         `json:"method"`
		Name       string         `json:"name"`
		Definition string         `json:"definition,omitzero"`
		Approval   string         `json:"approval,omitzero"`
		Arguments  jsontext.Value `json:"arguments,omitzero"`
		Cut        bool           `json:"arguments_cut,omitzero"`
		Agent      string         `json:"agent"`
		Actors     []string       `json:"actors"`
		Principal  principal      `json:"principal"`
		Account    named          `json:"account"`
		Action     named          `json:"action"`
		Target     place          `json:"target"`
	}{
		m.Server, m.Method, m.Name, m.Definition, m.Approval, m.Arguments, m.Cut, agent, actors,
		principal{named{q.Principal.ID}, q.Principal.Kind, q.Principal.Credential},
		named{q.AccountID},
		named{q.Action.ID},
		place{q.Target.ProjectID, q.Target.Rest},
	})
}

// callResult returns the result of a call's event: the door's verdict, or how the call ended.
func callResult(j *resources.Judgement) (jsontext.Value, error) {
	if outcome := j.Call.Outcome; outcome != nil {
		return json.Marshal(outcome)
	}
	var c cleaner
	return json.Marshal(struct {
		Allow bool   `json:"allow"`
		Code  string `json:"code,omitzero"`
	}{j.Decision.Allowed, c.text(j.Decision.Code)})
}
