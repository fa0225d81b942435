package provision

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	claimsPath = "/api/v1/provisioner/claims"
	// answerTime bounds the wait for an answer, in addition to wait_seconds of the request.
	answerTime = 15 * time.Second
	maxAnswer  = 8 << 20
)

// refusal is an answer of the gateway with another status than 200.
type refusal struct {
	status int
	body   string
}

func (r refusal) Error() string { return fmt.Sprintf("the gateway answers %d: %s", r.status, r.body) }

// claim is the part of a claim that the simulator needs.
type claim struct {
	ID      string `json:"claim_id"`
	Kind    string `json:"kind"`
	Intent  string `json:"intent"`
	Attempt int    `json:"attempt"`
	Cluster struct {
		ID   string `json:"id"`
		Base struct {
			ID string `json:"cluster_id"`
		} `json:"base"`
	} `json:"cluster"`
	LeaseUntil time.Time `json:"lease_until"`
}

// cluster returns the id of the cluster, of either kind: only one of the two members is set.
func (c claim) cluster() string { return c.Cluster.ID + c.Cluster.Base.ID }

// status returns a state as the kind of the cluster writes it.
func (c claim) status(state string) string {
	if c.Kind == "gpu" {
		return strings.ToLower(state)
	}
	return "CLUSTER_STATUS_" + state
}

// claims asks for work.
func (s *Simulator) claims(ctx context.Context, ask map[string]any, wait time.Duration) ([]claim, error) {
	var got struct {
		Claims []claim `json:"claims"`
	}
	err := s.send(ctx, http.MethodPost, claimsPath, ask, wait, &got)
	return got.Claims, err
}

// report reports on a claim.
func (s *Simulator) report(ctx context.Context, c claim, body map[string]any) error {
	return s.send(ctx, http.MethodPatch, claimsPath+"/"+c.ID, body, 0, &struct{}{})
}

// send sends the body to the gateway, waits for the answer for wait and answerTime, and decodes it into result. The
// error is a refusal for any status except 200.
func (s *Simulator) send(ctx context.Context, method, path string, body any, wait time.Duration, result any) error {
	ctx, cancel := context.WithTimeout(ctx, wait+answerTime)
	defer cancel()
	token, err := s.Token()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.URL, "/")+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("the gateway does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the gateway's answer breaks off: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return refusal{resp.StatusCode, string(answer)}
	}
	return json.Unmarshal(answer, result)
}
