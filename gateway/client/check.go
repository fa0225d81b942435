package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Decision is the gateway's answer to a question. The zero value denies.
type Decision struct {
	Allowed bool
	// Reason says why, for people and logs.
	Reason string
	// ID finds the decision in the gateway's records.
	ID string
	// PolicyRevision and AccountRevision are the revisions of the decision's policy and facts. Services and the
	// account's members get the account's; for others it is 0.
	PolicyRevision, AccountRevision string
	// Context has the further members of AuthZEN's context, as an app of the policy tree gave them.
	Context map[string]json.RawMessage
	// Err is why an item of a batch has no decision; it is denied.
	Err error
}

// Question is a question of E3: may the user do the action at the place?
type Question struct {
	// User, Account and Action are ids and an action as project:instance:create.
	User, Account, Action string
	// Path is the place as accounts/A/projects/P/instances, percent-encoded where it must be.
	Path string
	// Strict asks for facts that are read anew for this question.
	Strict bool
}

const checkPath = "/api/v1/authorize/"

// Check asks E3. An error denies: *Error is the gateway's, also where the caller may not ask.
func (c *Client) Check(ctx context.Context, q Question) (Decision, error) {
	question := call{target: checkPath + q.Path, headers: map[string]string{
		"X-User-ID": q.User, "X-Account-ID": q.Account, "X-Action": q.Action,
	}}
	for name, value := range question.headers {
		if !plain(value) {
			return Decision{}, fmt.Errorf("client: %s must be sent, and have visible ASCII characters only", name)
		}
	}
	if !sentAsGiven(c.base, question.target) {
		return Decision{}, fmt.Errorf("client: the path %q must be one, percent-encoded, and have no ? and no #", q.Path)
	}
	if q.Strict {
		question.headers["X-Consistency"] = "strict"
	}
	got, err := c.ask(ctx, question)
	if err != nil {
		return Decision{}, err
	}
	var body struct {
		Allowed *bool  `json:"allowed"`
		Reason  string `json:"reason"`
	}
	answered := got.status == http.StatusOK || got.status == http.StatusForbidden // --deny-status
	if err := json.Unmarshal(got.body, &body); err != nil || body.Allowed == nil || !answered {
		return Decision{}, got.refusal()
	}
	return Decision{
		Allowed: *body.Allowed && got.status == http.StatusOK, Reason: body.Reason, ID: got.header.Get("X-Decision-ID"),
		PolicyRevision: got.header.Get("X-Policy-Revision"), AccountRevision: got.header.Get("X-Account-Revision"),
	}, nil
}

// plain reports whether a header's value arrives as it is: the server or this library would take
// spaces away.
func plain(value string) bool {
	return value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}

// sentAsGiven reports whether the target behind the base is sent byte by byte. Another path would be another question.
func sentAsGiven(base, target string) bool {
	u, err := url.Parse(base + target)
	return err == nil && strings.HasSuffix(u.RequestURI(), target) && u.RawQuery == "" && !u.ForceQuery
}
