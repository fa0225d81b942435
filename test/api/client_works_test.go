package api_test

import (
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// asksWhether makes a client's question, of an account by its id.
func asksWhether(user, action, account string, resource client.Resource) client.Evaluation {
	resource.Properties["account_id"] = account
	return client.Evaluation{Subject: client.Subject{Type: client.TypeUser, ID: user}, Action: client.Action{Name: action}, Resource: resource}
}

func inProject(project string) client.Resource {
	return client.Resource{Type: "instances", ID: "i-1", Properties: map[string]any{"project_id": project}}
}

// TestGoClientEvaluatesAsAuthZEN: alone and in a batch, with the reason and the revisions of the answer.
func TestGoClientEvaluatesAsAuthZEN(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	c := clientOf(t, s.Gateway, s.Checker)
	var all []client.Evaluation
	for _, user := range []string{s.Admin, s.Bob, s.Carol, "user-unknown-v1"} {
		for _, action := range []string{"project:instance:read", "project:instance:create"} {
			all = append(all, asksWhether(user, action, s.Account, inProject(s.Project)))
		}
	}
	batch, err := c.EvaluateAll(t.Context(), all, client.ExecuteAll)
	if err != nil || len(batch) != len(all) {
		t.Fatalf("%d decisions, %v", len(batch), err)
	}
	var allowed []bool
	for i, e := range all {
		raw := harness.Call(t, "POST", s.URL+pathEvaluation, s.Checker, marshalled(t, e))
		want, why := decided(t, raw.Body)
		one, err := c.Evaluate(t.Context(), e)
		if err != nil || one.Allowed != want || one.Reason != why || one.ID == "" || one.PolicyRevision == "" || one.AccountRevision == "" {
			t.Errorf("%+v: %+v, %v, the gateway says %s", e, one, err, raw.Raw)
		}
		if b := batch[i]; b.Err != nil || b.Allowed != want || b.Reason != why || b.AccountRevision != one.AccountRevision {
			t.Errorf("%+v: in the batch %+v, the gateway says %s", e, b, raw.Raw)
		}
		allowed = append(allowed, want)
	}
	if want := []bool{true, true, true, false, false, false, false, false}; !slices.Equal(allowed, want) {
		t.Errorf("%v, want %v", allowed, want)
	}
	all[1].Action.Name = "create" // no question: the item has an error, and the others a decision
	batch, err = c.EvaluateAll(t.Context(), all, client.ExecuteAll)
	var refused *client.Error
	if err != nil || !batch[0].Allowed || batch[1].Allowed || !errors.As(batch[1].Err, &refused) || refused.Status != 400 || !batch[2].Allowed {
		t.Errorf("%+v, %v", batch, err)
	}
	batch, err = c.EvaluateAll(t.Context(), all, client.DenyOnFirstDeny)
	if err != nil || len(batch) != len(all) || !batch[0].Allowed || batch[2].Allowed { // the third was not reached
		t.Errorf("%+v, %v", batch, err)
	}
	if batch, err = clientOf(t, s.Gateway, "").EvaluateAll(t.Context(), all, client.ExecuteAll); !errors.As(err, &refused) || refused.Status != 401 || batch[0].Allowed {
		t.Errorf("nobody asks: %+v, %v", batch, err)
	}
}

// counted counts the calls of a client.
type counted struct{ calls atomic.Int32 }

// RoundTrip implements http.RoundTripper.
func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// TestGoClientSearchesPageByPage: each search gives over several pages what the gateway gives on one.
func TestGoClientSearchesPageByPage(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "project_reader", s.Bob, s.Project)
	s.Grant(t, "project_reader", s.Carol, s.Project)
	s.Must(t, 201, "POST", "/projects", `{"name":"another"}`)
	pages := &counted{}
	c := must.Get(client.New(client.Options{URL: s.URL, Token: client.StaticToken(s.Checker), Transport: pages}))(t)
	properties := map[string]string{"account_id": s.Account}
	project := client.Resource{Type: "project", ID: s.Project, Properties: map[string]any{}}
	for kind, k := range map[string]struct {
		body  searchBody
		least int
		walk  func() ([]string, error)
	}{
		"subject": {
			searchBody{Subject: &thing{Type: "user"}, Action: named("project:instance:read"), Resource: &thing{Type: "project", ID: s.Project, Properties: properties}},
			3,
			func() ([]string, error) {
				return collect(c.Subjects(t.Context(), client.Search{Evaluation: asksWhether("", "project:instance:read", s.Account, project), Limit: 1}),
					func(s client.Subject) string { return marshalled(t, s) })
			},
		},
		"resource": {
			searchBody{Subject: &thing{Type: "user", ID: s.Admin}, Action: named("project:instance:read"), Resource: &thing{Type: "project", Properties: properties}},
			2,
			func() ([]string, error) {
				return collect(c.Resources(t.Context(), client.Search{Evaluation: asksWhether(s.Admin, "project:instance:read", s.Account, project), Limit: 1}),
					func(r client.Resource) string { return marshalled(t, r) })
			},
		},
		"action": {
			searchBody{Subject: &thing{Type: "user", ID: s.Bob}, Resource: &thing{Type: "project", ID: s.Project, Properties: properties}},
			3,
			func() ([]string, error) {
				return collect(c.Actions(t.Context(), client.Search{Evaluation: asksWhether(s.Bob, "", s.Account, project), Limit: 1}),
					func(a client.Action) string { return a.Name + marshalled(t, thing{}) })
			},
		},
	} {
		want := walk(t, s.Gateway, kind, s.Checker, k.body, 100, func() {})
		before := pages.calls.Load()
		got, err := k.walk()
		if err != nil || len(want) < k.least || int(pages.calls.Load()-before) < k.least {
			t.Errorf("%s: %d results of %d on %d pages, %v", kind, len(got), len(want), pages.calls.Load()-before, err)
		}
		same(t, kind, got, want)
	}
	var refused *client.Error
	search := client.Search{Evaluation: asksWhether("", "project:instance:read", s.Account, project)}
	got, err := collect(clientOf(t, s.Gateway, s.Platform).Subjects(t.Context(), search), func(s client.Subject) string { return s.ID })
	if len(got) != 0 || !errors.As(err, &refused) || refused.Status != 403 {
		t.Errorf("without the right to: %v, %v", got, err)
	}
}

// collect walks to the end, or to the first error.
func collect[T any](walk func(yield func(T, error) bool), text func(T) string) (all []string, err error) {
	for one, err := range walk {
		if err != nil {
			return all, err
		}
		all = append(all, text(one))
	}
	return all, nil
}
