package decisionlog_test

import (
	"encoding/json"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// appsInput is the input of an app: what was sent, and the facts.
func appsInput(j *resources.Judgement) ([]byte, error) {
	q, app := j.Question, j.Question.App
	return json.Marshal(map[string]any{
		"subject": json.RawMessage(app.Subject), "action": json.RawMessage(app.Action),
		"facts": map[string]any{
			"account": map[string]any{"id": q.AccountID}, "principal": map[string]any{"kind": q.Principal.Kind, "id": q.Principal.ID},
		},
	})
}

// TestACallerCanNotHideAMaskedRecord guarantees that filters find the decisions of an app under a mask by the facts alone.
// The caller sends further members.
func TestACallerCanNotHideAMaskedRecord(t *testing.T) {
	for _, m := range []*mask{nil, {}, {rules: `[{"op":"upsert","path":"/input/action","value":"***"}]`}} {
		w := newWorld(t)
		w.change = func(o *decisionlog.Options) {
			if o.Input = appsInput; m != nil {
				o.Mask = m
			}
		}
		l, all := w.open(t), 0
		for _, subject := range []string{`{"type":"user","id":"user-0-v1"}`, `{"type":"user","id":"user-0-v1","ID":"user-x-v1","Id":1}`} {
			for _, action := range []string{`{"name":"drop"}`, `{"name":"drop","id":1}`, `{"name":"drop","id":"project:instance:list","ID":{}}`} {
				j := judgement(t, 0)
				j.Path, j.Question.Action, j.Question.Target = resources.PathApps+"docs/decision", resources.Action{}, resources.Target{}
				j.Question.App = &resources.Entities{ResourceType: "document", Subject: []byte(subject), Action: []byte(action)}
				must.Do(t, l.Record(t.Context(), j))
				all++
			}
		}
		must.Do(t, l.Close())
		for _, f := range []struct {
			name string
			decisionlog.Filter
			want int
		}{
			{"account", decisionlog.Filter{Account: "acct-a-v1"}, all},
			{"user", decisionlog.Filter{User: "user-0-v1"}, all},
			{"caller", decisionlog.Filter{User: "service-a"}, all},
			{"another user", decisionlog.Filter{User: "user-x-v1"}, 0},
			{"an action that was not judged", decisionlog.Filter{Action: "project:instance:list"}, 0},
		} {
			n := 0
			must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), f.Filter, func(*decisionlog.Record) error { n++; return nil }))
			if n != f.want {
				t.Errorf("mask %v: %d records by %s, want %d", m, n, f.name, f.want)
			}
		}
	}
}
