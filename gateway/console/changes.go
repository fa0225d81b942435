package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"sort"

	"github.com/portcullis-authz/portcullis/resources"
)

// changesPages are those of the change log.
func changesPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /changes": showChanges}
}

// change is a change of the account as the API shows it.
type change struct {
	ID        string         `json:"id"`
	At        resources.Time `json:"at"`
	Action    string         `json:"action"`
	Revision  int64          `json:"account_revision"`
	RequestID string         `json:"request_id"`
	Actor     struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
	} `json:"actor"`
	Subject struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"subject"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// fieldChange is one field of what was changed. An absent value is "".
type fieldChange struct{ Name, Before, After string }

// Fields returns the fields that differ, by name.
func (c change) Fields() (out []fieldChange) {
	before, after := fieldsOf(c.Before), fieldsOf(c.After)
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for name := range names {
		if before[name] != after[name] {
			out = append(out, fieldChange{name, before[name], after[name]})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// fieldsOf returns the members of an object as text.
func fieldsOf(raw json.RawMessage) map[string]string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	out := map[string]string{}
	for name, value := range members {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		out[name] = text
	}
	return out
}

// changesView is the page of changes.
type changesView struct {
	Changes                []change
	Next                   string
	Actor, Subject, Action string
	Problem                *apiError
}

// Filtered reports whether the page shows some changes alone.
func (v changesView) Filtered() bool { return v.Actor+v.Subject+v.Action != "" }

func showChanges(p *page) error {
	v := changesView{Actor: p.field("actor"), Subject: p.field("subject"), Action: p.field("action")}
	query := url.Values{"page_size": {"50"}}
	for name, value := range map[string]string{"actor": v.Actor, "subject": v.Subject, "action": v.Action, "page_token": p.field("page_token")} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var answer struct {
		Changes []change `json:"changes"`
		Next    string   `json:"next_page_token"`
	}
	err := p.api.get(p.r.Context(), p.account("changes"), query, &answer)
	if refused, ok := isRefusal(err, http.StatusBadRequest); ok {
		v.Problem = refused
		return p.show(refused.Status, "changes", "Changes", "/changes", v)
	}
	if err != nil {
		return err
	}
	v.Changes, v.Next = answer.Changes, answer.Next
	return p.show(http.StatusOK, "changes", "Changes", "/changes", v)
}
