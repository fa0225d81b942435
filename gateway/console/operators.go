package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxPrivate limits a response of the private listener, in bytes. A policy tree with its data is the largest one.
const maxPrivate = 64 << 20

// private reads from the private listener for an operator. ok is false for other users and for a status other than 200.
func (p *page) private(path string, out any) (ok bool, err error) {
	if !p.c.isOperator(p.session.UserID) {
		return false, nil
	}
	return p.c.askPrivate(p.r.Context(), path, out)
}

func (c *Console) askPrivate(ctx context.Context, path string, out any) (ok bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody)
	if err != nil {
		return false, err
	}
	resp, err := c.cfg.Private.RoundTrip(req)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return false, nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxPrivate+1))
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %w", errNoAnswer, err)
	case len(raw) > maxPrivate:
		return false, fmt.Errorf("the response of the private listener exceeds %d bytes", maxPrivate)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return false, fmt.Errorf("the private listener: %w", err)
	}
	return true, nil
}

// installation is the state of one gateway process, for operators.
type installation struct {
	Version string `json:"version"`
	Policy  struct {
		Revision string         `json:"revision"`
		Base     string         `json:"base"`
		Since    resources.Time `json:"since"`
		Refused  *struct {
			At      resources.Time `json:"at"`
			Reasons []string       `json:"reasons"`
		} `json:"refused"`
	} `json:"policy"`
	Stores []struct {
		Name     string `json:"name"`
		State    string `json:"state"`
		ReadOnly bool   `json:"read_only"`
		Error    string `json:"error"`
	} `json:"stores"`
	Shadow *shadowed `json:"shadow"`
	Outbox *struct {
		Pending int `json:"pending"`
		Dead    int `json:"dead"`
	} `json:"outbox"`
}

// shadowed compares the verdicts of a candidate policy with those of the policy in force.
type shadowed struct {
	Dir       string           `json:"dir"`
	Revision  string           `json:"revision"`
	Refused   string           `json:"refused"`
	Outcomes  map[string]int64 `json:"outcomes"`
	LastError string           `json:"last_error"`
	Flips     []struct {
		Action   string              `json:"action"`
		NewAllow int64               `json:"new_allow"`
		NewDeny  int64               `json:"new_deny"`
		Examples map[string][]string `json:"examples"`
	} `json:"flips"`
}

// policyEntry is a policy tree that the gateway took or refused.
type policyEntry struct {
	Revision string         `json:"revision"`
	Bundle   string         `json:"bundle_revision"`
	At       resources.Time `json:"at"`
	Outcome  string         `json:"outcome"`
	Reasons  []string       `json:"reasons"`
}

// Taken reports whether the gateway put the tree in force.
func (e policyEntry) Taken() bool { return e.Outcome == "taken" }

// policyHistory returns the newest trees.
func (p *page) policyHistory() ([]policyEntry, error) {
	var answer struct {
		History []policyEntry `json:"history"`
	}
	_, err := p.private("/policy/history", &answer)
	return answer.History, err
}
