package doors_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// door asks questions in one way. Its answers are in their order.
type door struct {
	name string
	// row is the row of the door, "" for a call that the gateway passes on.
	row string
	ask func(t *testing.T, w *doorsWorld, questions []question) []answer
	// takes chooses the door's questions, says turns E3's answer into the door's. Without them it takes all, and says
	// the same.
	takes func(q question) bool
	says  func(q question, e3 answer) answer
	// call says that it judges calls: the caller is the subject, and the path says the account.
	call bool
	// slow has it asked a sample only.
	slow bool
}

// doors are all ways to ask; the first is what the others are held against.
func doors() []door {
	return []door{
		{name: "E3", row: "authorization.check", ask: each(askE3)},
		{name: "AuthZEN", row: "authzen.evaluation", ask: each(askEvaluation)},
		{name: "AuthZEN batch", row: "authzen.evaluations", ask: askBatches},
		{name: "forward-auth", row: "forward_auth.check", ask: each(askForwardAuth), takes: question.isCall, says: byRow(asCall), call: true},
		{name: "verify", row: "forward_auth.verify", ask: each(askVerify), takes: question.isCall, says: byRow(asCall), call: true},
		{name: "ext_authz", row: "ext_authz.check", ask: each(askEnvoy), takes: question.isCall, says: byRow(asEnvoy), call: true},
		{name: "AuthZEN, route", row: "authzen.evaluation", ask: each(askRoute), takes: question.isCall, says: asE3, call: true},
		{name: "ext_authz, named", row: "ext_authz.check", ask: each(askEnvoyNamed), takes: question.isNamed, says: asEnvoy, call: true},
		{name: "proxied", ask: each(askProxied), takes: question.isCall, says: asProxied, call: true},
		{name: "Go client, E3", row: "authorization.check", ask: each(asking(clientCheck)), takes: question.isSent, says: asE3},
		{name: "Go client, AuthZEN", row: "authzen.evaluation", ask: each(asking(clientEvaluate)), takes: question.hasToken, says: asE3},
		{name: "Go client, batch", row: "authzen.evaluations", ask: askClientBatches, takes: question.hasToken, says: asE3},
		{name: "CLI", row: "authorization.check", ask: each(askCommand), takes: question.isCommand, says: asE3, slow: true},
	}
}

// workers is how many questions are asked at once.
const workers = 8

// each makes a door of one that answers one question.
func each(one func(t *testing.T, w *doorsWorld, q question) answer) func(t *testing.T, w *doorsWorld, questions []question) []answer {
	return func(t *testing.T, w *doorsWorld, questions []question) []answer {
		out := make([]answer, len(questions))
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				for i := worker; i < len(questions); i += workers {
					out[i] = one(t, w, questions[i])
				}
			})
		}
		all.Wait()
		return out
	}
}

// call asks at a raw target.
func (w *doorsWorld) call(t *testing.T, c caller, target, body string, headers ...string) (status int, raw []byte) {
	status, _, raw = w.exchange(t, c, http.MethodPost, "", target, body, headers...)
	return status, raw
}

// exchange makes a call by a raw target. A question that was not decided in time is asked again.
func (w *doorsWorld) exchange(t *testing.T, c caller, method, host, target, body string, headers ...string) (status int, header http.Header, raw []byte) {
	for range 20 {
		request, err := http.NewRequestWithContext(t.Context(), method, w.URL, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, nil, nil
		}
		request.URL = &url.URL{Scheme: request.URL.Scheme, Host: request.URL.Host, Opaque: target}
		request.Host = host
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
		if c.key != "" {
			request.Header.Set("X-API-Key", c.key)
		}
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			return 0, nil, nil
		}
		raw, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		status, header = response.StatusCode, response.Header
		if err != nil || status != http.StatusServiceUnavailable || !harness.SaysUndecided(raw) {
			break
		}
	}
	return status, header, raw
}

// refusal is the reason of a 403 in the body of access management.
func refusal(raw []byte) string {
	var body struct{ Error struct{ Details []string } }
	if json.Unmarshal(raw, &body) != nil || len(body.Error.Details) == 0 {
		return ""
	}
	return body.Error.Details[0]
}

func askE3(t *testing.T, w *doorsWorld, q question) answer {
	status, raw := w.call(t, q.caller, "/api/v1/authorize/"+q.path, "", "X-User-ID", q.subject, "X-Account-ID", q.account, "X-Action", q.action)
	switch status {
	case 200:
		var body struct {
			Allowed bool
			Reason  string
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		return answer{status, body.Allowed, body.Reason}
	case 403:
		return answer{status: status, reason: refusal(raw)}
	}
	return answer{status: status}
}

// evaluation is the question in the words of AuthZEN.
func (q question) evaluation() map[string]any {
	return map[string]any{
		"subject": map[string]any{"type": "user", "id": q.subject}, "action": map[string]any{"name": q.action},
		"resource": map[string]any{"type": "path", "id": q.path}, "context": map[string]any{"account_id": q.account},
	}
}

// decision is an answer of AuthZEN.
type decision struct {
	Decision bool
	Context  struct {
		Reason string
		Error  *struct {
			Status  int
			Message string
		}
	}
}

func (d decision) answer() answer {
	if failed := d.Context.Error; failed != nil {
		a := answer{status: failed.Status}
		if a.status == 403 {
			_, a.reason, _ = strings.Cut(failed.Message, ". ")
		}
		return a
	}
	return answer{200, d.Decision, d.Context.Reason}
}

func (w *doorsWorld) evaluate(t *testing.T, c caller, path string, body, v any) answer {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		t.Error(err)
	}
	status, raw := w.call(t, c, path, text.String(), "Content-Type", "application/json")
	switch status {
	case 200:
		if err := json.Unmarshal(raw, v); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	case 403:
		return answer{status: status, reason: refusal(raw)}
	}
	return answer{status: status}
}

func askEvaluation(t *testing.T, w *doorsWorld, q question) answer {
	var d decision
	if a := w.evaluate(t, q.caller, "/access/v1/evaluation", q.evaluation(), &d); a.status != 200 {
		return a
	}
	return d.answer()
}

// batchSize is how many questions a batch has.
const batchSize = 100

// batches asks the questions of each caller together.
func batches(questions []question, ask func(c caller, some []question) []answer) []answer {
	out := make([]answer, len(questions))
	waiting := map[caller][]int{}
	send := func(c caller) {
		var some []question
		for _, i := range waiting[c] {
			some = append(some, questions[i])
		}
		for index, a := range ask(c, some) {
			out[waiting[c][index]] = a
		}
		waiting[c] = nil
	}
	for i, q := range questions {
		if waiting[q.caller] = append(waiting[q.caller], i); len(waiting[q.caller]) == batchSize {
			send(q.caller)
		}
	}
	for c, rest := range waiting {
		if len(rest) > 0 {
			send(c)
		}
	}
	return out
}

// askBatches asks the questions of each caller together.
func askBatches(t *testing.T, w *doorsWorld, questions []question) []answer {
	return batches(questions, func(c caller, some []question) []answer {
		var batch []map[string]any
		for _, q := range some {
			batch = append(batch, q.evaluation())
		}
		var answers struct{ Evaluations []decision }
		whole := w.evaluate(t, c, "/access/v1/evaluations", map[string]any{"evaluations": batch}, &answers)
		if whole.status == 200 && len(answers.Evaluations) != len(batch) {
			t.Fatalf("%d answers to %d questions", len(answers.Evaluations), len(batch))
		}
		out := make([]answer, len(some))
		for i := range out {
			if out[i] = whole; whole.status == 200 {
				out[i] = answers.Evaluations[i].answer()
			}
		}
		return out
	})
}

// took prints how long a door took.
func took(t *testing.T, name string, began time.Time, n int) {
	t.Logf("%-18s %d questions in %s", name, n, time.Since(began).Round(time.Millisecond))
}
