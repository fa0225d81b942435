package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// Subject is who would act (AuthZEN 1.0, 5.1): of type user, or of an app's types.
type Subject struct {
	Type       string         `json:"type"`
	ID         string         `json:"id,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
}

// Resource is what would be acted on (5.2).
type Resource struct {
	Type       string         `json:"type"`
	ID         string         `json:"id,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
}

// Action is what would be done (5.3).
type Action struct {
	Name       string         `json:"name"`
	Properties map[string]any `json:"properties,omitempty"`
}

// Evaluation is a question (6.1). The account in question is Resource.Properties["account_id"] or
// Context["account_id"], else the subject's own. A user who asks about somebody else has to name it.
type Evaluation struct {
	Subject  Subject        `json:"subject"`
	Action   Action         `json:"action"`
	Resource Resource       `json:"resource"`
	Context  map[string]any `json:"context,omitempty"`
}

// Semantic says when the gateway ends a batch (7.1.2.1); the zero value is ExecuteAll.
type Semantic string

// The semantics of a batch.
const (
	ExecuteAll          Semantic = "execute_all"
	DenyOnFirstDeny     Semantic = "deny_on_first_deny"
	PermitOnFirstPermit Semantic = "permit_on_first_permit"
)

// Evaluate asks one question. An error denies: *Error is the gateway's, also where the caller may not
// ask.
func (c *Client) Evaluate(ctx context.Context, e Evaluation) (Decision, error) {
	var got evaluated
	if err := c.askJSON(ctx, "/access/v1/evaluation", e, &got); err != nil {
		return Decision{}, err
	}
	d, err := got.decision()
	if err == nil {
		err = d.Err
	}
	if err != nil {
		return Decision{}, err
	}
	return d, nil
}

// EvaluateAll asks all questions at once. It returns a decision for each, in their order; one that was
// not reached, or has an Err, denies. All of them deny beside an error.
func (c *Client) EvaluateAll(ctx context.Context, all []Evaluation, s Semantic) ([]Decision, error) {
	decisions := make([]Decision, len(all))
	if len(all) == 0 {
		return decisions, nil
	}
	type options struct {
		Semantic Semantic `json:"evaluations_semantic,omitempty"`
	}
	var got struct {
		Evaluations []evaluated `json:"evaluations"`
	}
	err := c.askJSON(ctx, "/access/v1/evaluations", struct {
		Evaluations []Evaluation `json:"evaluations"`
		Options     options      `json:"options"`
	}{all, options{s}}, &got)
	if err != nil {
		return decisions, err
	}
	n := len(got.Evaluations)
	if n == 0 || n > len(all) || n < len(all) && s != DenyOnFirstDeny && s != PermitOnFirstPermit {
		return decisions, fmt.Errorf("%w: %d answers to %d questions", errAnswer, n, len(all))
	}
	for i, one := range got.Evaluations {
		if decisions[i], err = one.decision(); err != nil {
			return make([]Decision, len(all)), err
		}
	}
	return decisions, nil
}

// evaluated is a decision in an answer.
type evaluated struct {
	Decision *bool                      `json:"decision"`
	Context  map[string]json.RawMessage `json:"context"`
}

var errNoDecision = errors.New("it has no decision")

// decision returns the decision, with what the gateway says about it taken out of its context.
func (e evaluated) decision() (d Decision, err error) {
	if e.Decision == nil {
		return Decision{}, fmt.Errorf("%w: %w", errAnswer, errNoDecision)
	}
	var failed *struct {
		Status  int    `json:"status"`
		Message string `json:"message"`
	}
	var revision *int64
	for name, field := range map[string]any{
		"reason": &d.Reason, "decision_id": &d.ID, "policy_revision": &d.PolicyRevision, "account_revision": &revision, "error": &failed,
	} {
		if raw := e.Context[name]; raw != nil {
			if err := json.Unmarshal(raw, field); err != nil {
				return Decision{}, fmt.Errorf("%w: context.%s: %w", errAnswer, name, err)
			}
			delete(e.Context, name)
		}
	}
	if revision != nil {
		d.AccountRevision = strconv.FormatInt(*revision, 10)
	}
	if failed != nil {
		d.Err = &Error{Status: failed.Status, Code: http.StatusText(failed.Status), Message: failed.Message}
	}
	d.Allowed, d.Context = *e.Decision && d.Err == nil, e.Context
	return d, nil
}
