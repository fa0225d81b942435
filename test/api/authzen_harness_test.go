package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	pathEvaluation  = "/access/v1/evaluation"
	pathEvaluations = "/access/v1/evaluations"
)

// object is a JSON object.
type object = map[string]any

// entity is a subject or a resource, without properties where the list is empty.
func entity(kind, id string, properties ...string) object {
	e := object{"type": kind, "id": id}
	if len(properties) > 0 {
		e["properties"] = attributes(properties...)
	}
	return e
}

// attributes is an object of names and values in turn.
func attributes(pairs ...string) object {
	out := object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

// question is an evaluation.
func question(subject object, action string, resource object, context ...string) object {
	q := object{"subject": subject, "action": object{"name": action}, "resource": resource}
	if len(context) > 0 {
		q["context"] = attributes(context...)
	}
	return q
}

func marshalled(t testing.TB, v any) string {
	t.Helper()
	text := must.Get(json.Marshal(v))(t)
	return string(text)
}

// evaluate asks one question.
func evaluate(t testing.TB, s *harness.Scene, token string, q object) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", s.URL+pathEvaluation, token, marshalled(t, q))
}

// evaluateAll asks a batch.
func evaluateAll(t testing.TB, s *harness.Scene, token string, batch object) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", s.URL+pathEvaluations, token, marshalled(t, batch))
}

// oddly asks a service's question or batch, maybe outside the document: the harness would complain about an answer to
// such a one.
func oddly(t testing.TB, s *harness.Scene, path, body string) harness.Reply {
	t.Helper()
	return oddlyAs(t, s, s.Checker, path, body)
}

// oddlyAs is oddly with another token.
func oddlyAs(t testing.TB, s *harness.Scene, token, path, body string) (r harness.Reply) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body)))(t)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	r.Status = answer.StatusCode
	if r.Raw, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(r.Raw))
	dec.UseNumber()
	_ = dec.Decode(&r.Body)
	return r
}

// decided is the decision in an answer, and its reason or the status of its error.
func decided(t testing.TB, answer any) (allowed bool, why string) {
	t.Helper()
	allowed, ok := harness.At(answer, "decision").(bool)
	if !ok {
		t.Fatalf("no decision in %v", answer)
	}
	why, _ = harness.At(answer, "context", "reason").(string)
	if status, failed := harness.At(answer, "context", "error", "status").(json.Number); failed {
		why = status.String()
	}
	return allowed, why
}

// decisions are those of a batch, as words.
func decisions(t testing.TB, r harness.Reply) string {
	t.Helper()
	items, ok := r.Body["evaluations"].([]any)
	if !ok || r.Status != 200 {
		t.Fatalf("no batch: %d %s", r.Status, r.Raw)
	}
	words := make([]string, len(items))
	for i, item := range items {
		allowed, why := decided(t, item)
		switch {
		case allowed:
			words[i] = "yes"
		case len(why) == 3:
			words[i] = why
		default:
			words[i] = "no"
		}
	}
	return strings.Join(words, " ")
}
