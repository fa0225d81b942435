package authzen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// recorder keeps every verdict.
type recorder struct{ judgements []*resources.Judgement }

func (r *recorder) Record(_ context.Context, judgements ...*resources.Judgement) error {
	r.judgements = append(r.judgements, judgements...)
	return nil
}

// TestABatchIsAnsweredInItsOrder, as far as its semantic wants: a bad item is its own error between the verdicts of the others,
// counts as a deny, and nothing is asked or recorded that is not answered.
func TestABatchIsAnsweredInItsOrder(t *testing.T) {
	const good, bad = `{"resource":{"type":"path","id":"x/y"}}`, `{"resource":{"type":"path","id":"x//y"}}`
	const unknown = `{"resource":{"type":"thing","id":"1"}}` // denied without policy
	for _, c := range []struct {
		semantic string
		items    []string
		want     string
		recorded int
	}{
		{"execute_all", []string{good, bad, unknown, good}, "true 400 false true", 3},
		{"deny_on_first_deny", []string{good, bad, good}, "true 400", 1},
		{"deny_on_first_deny", []string{good, unknown, bad, good}, "true false", 2},
		{"deny_on_first_deny", []string{bad, good}, "400", 0},
		{"permit_on_first_permit", []string{bad, unknown, good, bad, good}, "400 false true", 2},
		{"permit_on_first_permit", []string{bad, bad}, "400 400", 0},
	} {
		log := &recorder{}
		g := &generous{log: log}
		body := fmt.Sprintf(`{"subject":{"type":"user","id":"alice"},"action":{"name":"project:x:read"},"evaluations":[%s],"options":{"evaluations_semantic":%q}}`,
			strings.Join(c.items, ","), c.semantic)
		a := must.Get(authzen.Evaluations{Questions: g.questions(), Most: 9, Turns: g}.Answer(t.Context(), g.call(body)))(t)
		var out struct {
			Evaluations []struct {
				Decision bool
				Context  struct{ Error struct{ Status int } }
			}
		}
		must.Do(t, json.Unmarshal(a.Body, &out))
		var got []string
		for _, e := range out.Evaluations {
			if e.Context.Error.Status != 0 {
				got = append(got, fmt.Sprint(e.Context.Error.Status))
			} else {
				got = append(got, fmt.Sprint(e.Decision))
			}
		}
		if all := strings.Join(got, " "); all != c.want || len(log.judgements) != c.recorded {
			t.Errorf("%s %v: %s, want %s; %d are recorded, want %d", c.semantic, c.items, all, c.want, len(log.judgements), c.recorded)
		}
	}
}

// TestARecordKeepsNothingOfTheBody, which can be large: each text of it is a copy.
func TestARecordKeepsNothingOfTheBody(t *testing.T) {
	body := `{"subject":{"type":"user","id":"alice"},"action":{"name":"project:x:read"},"resource":{"type":"thing","id":"1","properties":{"project_id":"p","account_id":"a"}},"context":{"agent":"agent-a-v1"}}`
	log := &recorder{}
	g := &generous{log: log}
	call := g.call(body)
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(call.Body)))
	if _, err := (authzen.Evaluation{Questions: g.questions()}).Answer(t.Context(), call); err != nil || len(log.judgements) != 2 { // the agent has its own
		t.Fatalf("%d records, %v", len(log.judgements), err)
	}
	q := &log.judgements[0].Question
	if target := q.Target; target.ProjectID != "p" || target.AccountID != "a" || target.Resource != "thing/1" || q.Action.ID != "project:x:read" || q.SubjectID != "alice" {
		t.Errorf("%+v", q)
	}
	for _, text := range []string{q.SubjectID, q.AccountID, q.Action.ID, q.Action.Verb, q.Target.AccountID, q.Target.ProjectID, q.Target.Resource, q.Target.Rest, q.Agent.Ref.ID} {
		if index := uintptr(unsafe.Pointer(unsafe.StringData(text))); text != "" && index >= begin && index < begin+uintptr(len(call.Body)) {
			t.Errorf("%s is the body's", text)
		}
	}
	if slices.Contains([]string{q.Action.Scope, q.Action.Resource}, "") {
		t.Errorf("%+v", q.Action)
	}
}
