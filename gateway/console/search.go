package console

import (
	"fmt"
	"net/http"
	"strings"
)

// entity is an AuthZEN subject or resource.
type entity struct {
	Type       string            `json:"type"`
	ID         string            `json:"id,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

// actionName is an AuthZEN action.
type actionName struct {
	Name string `json:"name"`
}

// tuple is an AuthZEN question. In a search, the entity that is searched for has no id.
type tuple struct {
	Subject  *entity           `json:"subject,omitempty"`
	Action   *actionName       `json:"action,omitempty"`
	Resource *entity           `json:"resource,omitempty"`
	Context  map[string]string `json:"context,omitempty"`
}

// judged is the answer to a question. The zero value denies.
type judged struct {
	Allowed bool
	// Reason is the reason of the verdict, or the error instead of one.
	Reason string
	// Asked is true if the API returned a verdict.
	Asked bool
}

// tupleOf returns a question in AuthZEN's form, with the same place as the question's explanation.
func (p *page) tupleOf(q question) tuple {
	account := p.session.AccountID
	return tuple{
		Subject:  &entity{Type: "user", ID: q.User},
		Action:   &actionName{q.Action},
		Resource: &entity{"path", q.path(account), map[string]string{"account_id": account}},
	}
}

// aboutCall returns the question whether the signed-in user may make an API call.
func (p *page) aboutCall(method, path string) tuple {
	return tuple{
		Subject:  &entity{Type: "user", ID: p.session.UserID},
		Action:   &actionName{method},
		Resource: &entity{"route", path, map[string]string{"account_id": p.session.AccountID}},
	}
}

// batch is the number of questions in a call. evaluate halves it while it exceeds --max-evaluations.
const batch = 100

// evaluate asks questions and returns the answers in order. With an error it returns the answers before the error.
func (p *page) evaluate(questions []tuple) (out []judged, err error) {
	for size := batch; len(out) < len(questions); {
		rest := questions[len(out):]
		answers, err := p.evaluateOnce(rest[:min(size, len(rest))])
		refused, ok := isRefusal(err, http.StatusBadRequest)
		switch {
		case ok && size > 1 && strings.HasPrefix(refused.Field("evaluations"), "must have at most"):
			size /= 2
			continue
		case err != nil:
			return out, err
		}
		out = append(out, answers...)
	}
	return out, nil
}

func (p *page) evaluateOnce(questions []tuple) ([]judged, error) {
	var answer struct {
		Evaluations []struct {
			Decision bool `json:"decision"`
			Context  struct {
				Reason string `json:"reason"`
				Error  *struct {
					Message string `json:"message"`
				} `json:"error"`
			} `json:"context"`
		} `json:"evaluations"`
	}
	body := map[string]any{"evaluations": questions}
	if err := p.api.call(p.r.Context(), http.MethodPost, "/access/v1/evaluations", nil, body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Evaluations) != len(questions) {
		return nil, fmt.Errorf("the API answered %d of %d questions", len(answer.Evaluations), len(questions))
	}
	out := make([]judged, len(questions))
	for i, one := range answer.Evaluations {
		if e := one.Context.Error; e != nil {
			out[i] = judged{Reason: e.Message}
			continue
		}
		out[i] = judged{Allowed: one.Decision, Reason: one.Context.Reason, Asked: true}
	}
	return out, nil
}

// result is a person, an action or a place that a search found.
type result struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Properties struct {
		ProjectID string `json:"project_id"`
	} `json:"properties"`
}

// searched is a page of the results of a search.
type searched struct {
	Results []result `json:"results"`
	Page    struct {
		Next string `json:"next_token"`
	} `json:"page"`
	Context struct {
		Complete bool `json:"complete"`
	} `json:"context"`
}

// search makes an AuthZEN search. kind is subject, action or resource.
func (p *page) search(kind string, t tuple, limit int, token string) (out searched, err error) {
	body := struct {
		tuple
		Page any `json:"page"`
	}{tuple: t}
	if token != "" {
		body.Page = map[string]any{"token": token}
	} else {
		body.Page = map[string]any{"limit": limit}
	}
	return out, p.api.call(p.r.Context(), http.MethodPost, "/access/v1/search/"+kind, nil, body, &out)
}
