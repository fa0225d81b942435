package verdict_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// recorder keeps what it is told.
type recorder struct{ told []*resources.Judgement }

func (r *recorder) Record(_ context.Context, told ...*resources.Judgement) error {
	r.told = append(r.told, told...)
	return nil
}

// TestARecordHasTheWholeQuestion, and keeps no text of the request: each could be a part of a large body.
func TestARecordHasTheWholeQuestion(t *testing.T) {
	pins, log := 0, &recorder{}
	b := batches(&many{parts: parts{decide: yes, access: yes}}, &pins)
	b.Log = log
	action, err := resources.ParseAction("project:instance:read")
	if err != nil {
		t.Fatal(err)
	}
	asked := verdict.Item{Question: verdict.Question{
		SubjectID: "user-a-v1", AccountID: "acct-a-v1", Action: action,
		Target: resources.Target{AccountID: "acct-b-v1", ProjectID: "proj-a-v1", Resource: "x/y", Rest: "x/y/z", UserID: "user-b-v1"},
	}}
	route := &verdict.Route{Row: resources.Route{Name: "authzen.evaluations"}}
	err = b.Begin(resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}, route).Ask(t.Context(), []verdict.Item{asked}, func(verdict.Outcome) bool { return true })
	if err != nil || len(log.told) != 1 {
		t.Fatalf("%d records, %v", len(log.told), err)
	}
	got := log.told[0].Question
	if got.Action != action || got.Target != asked.Target || got.AccountID != asked.AccountID || got.Route.Name != route.Row.Name {
		t.Errorf("%+v", got)
	}
	own := []string{got.Action.ID, got.Action.Verb, got.AccountID, got.Target.AccountID, got.Target.ProjectID, got.Target.Resource, got.Target.Rest, got.Target.UserID}
	sent := asked.Target
	for i, text := range []string{action.ID, action.Verb, asked.AccountID, sent.AccountID, sent.ProjectID, sent.Resource, sent.Rest, sent.UserID} {
		if unsafe.StringData(own[i]) == unsafe.StringData(text) {
			t.Errorf("%s is the request's", text)
		}
	}
}

// TestARecordedRefusalIsTheOneJudged: the right to ask an app about no user is judged in no account, whatever account the
// question names.
func TestARecordedRefusalIsTheOneJudged(t *testing.T) {
	pins, log := 0, &recorder{}
	m := &many{parts: parts{decide: yes, access: resources.Decision{Reason: "no right"}}}
	b := batches(m, &pins)
	b.Log = log
	asked := item(t, "", "acct-a-v1", "")
	asked.App = &resources.AppQuestion{ResourceType: "todo"}
	err := b.Begin(alice(), question(t).Door).Ask(t.Context(), []verdict.Item{asked}, func(verdict.Outcome) bool { return true })
	if err != nil || len(log.told) != 1 || len(m.questions) != 1 {
		t.Fatalf("%d records of %d questions, %v", len(log.told), len(m.questions), err)
	}
	if got, judged := log.told[0].Question.AccountID, m.questions[0].AccountID; got != judged {
		t.Errorf("recorded in %q, judged in %q", got, judged)
	}
}
