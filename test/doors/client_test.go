package doors_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// hasToken says whether the Go client and the CLI can be given the caller's credential.
func (q question) hasToken() bool { return q.caller.token != "" }

// isSent is hasToken without unknown callers. The gateway would answer 401 to those, but the client refuses a malformed
// question before it asks.
func (q question) isSent() bool { return q.hasToken() && !q.caller.unknown }

// asE3 is what the Go client and the CLI say where E3 says this.
func asE3(_ question, e3 answer) answer { return e3 }

// client returns a Go client with the caller's credential.
func (w *doorsWorld) client(t *testing.T, actor caller) *client.Client {
	c, err := client.New(client.Options{URL: w.URL, Token: client.StaticToken(actor.token), Timeout: time.Minute, Transport: http.DefaultTransport})
	if err != nil {
		t.Error(err)
	}
	return c
}

// evaluationOf is the question in the words of the Go client.
func (q question) evaluationOf() client.Evaluation {
	return client.Evaluation{
		Subject: client.Subject{Type: "user", ID: q.subject}, Action: client.Action{Name: q.action},
		Resource: client.Resource{Type: "path", ID: q.path}, Context: map[string]any{"account_id": q.account},
	}
}

// clientAnswer is the Go client's decision as an answer. A question that it does not send is a bad one.
func clientAnswer(t *testing.T, q question, d client.Decision, err error) answer {
	t.Helper()
	var refused *client.Error
	switch {
	case err == nil:
		return answer{200, d.Allowed, d.Reason}
	case d.Allowed:
		t.Errorf("%s: allowed beside %v", q, err)
	case !errors.As(err, &refused):
		return answer{status: 400}
	}
	a := answer{status: refused.Status}
	if a.status == 403 {
		if len(refused.Details) > 0 {
			a.reason = refused.Details[0]
		} else { // an item of a batch
			_, a.reason, _ = strings.Cut(refused.Message, ". ")
		}
	}
	return a
}

// asking makes a door of a method of the Go client. A question that was not decided in time is asked again.
func asking(one func(ctx context.Context, c *client.Client, q question) (client.Decision, error)) func(t *testing.T, w *doorsWorld, q question) answer {
	return func(t *testing.T, w *doorsWorld, q question) answer {
		c := w.client(t, q.caller)
		var d client.Decision
		var err error
		for range 20 {
			if d, err = one(t.Context(), c, q); err == nil || !harness.SaysUndecided([]byte(err.Error())) {
				break
			}
		}
		return clientAnswer(t, q, d, err)
	}
}

func clientCheck(ctx context.Context, c *client.Client, q question) (client.Decision, error) {
	return c.Check(ctx, client.Question{User: q.subject, Account: q.account, Action: q.action, Path: q.path})
}

func clientEvaluate(ctx context.Context, c *client.Client, q question) (client.Decision, error) {
	return c.Evaluate(ctx, q.evaluationOf())
}

// askClientBatches asks the questions of each caller together, by the Go client.
func askClientBatches(t *testing.T, w *doorsWorld, questions []question) []answer {
	return batches(questions, func(c caller, some []question) []answer {
		var all []client.Evaluation
		for _, q := range some {
			all = append(all, q.evaluationOf())
		}
		decisions, err := w.client(t, c).EvaluateAll(t.Context(), all, client.ExecuteAll)
		out := make([]answer, len(some))
		for i, d := range decisions {
			out[i] = clientAnswer(t, some[i], d, errors.Join(err, d.Err))
		}
		return out
	})
}
