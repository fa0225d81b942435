package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
)

// maxAnswer limits a response of the API, in bytes.
const maxAnswer = 8 << 20

// client calls the API as the signed-in user.
type client struct {
	api       http.RoundTripper
	token     string
	requestID string
}

// apiError is an error response of the API.
type apiError struct {
	Status  int
	Message string
	// Details are further sentences. Those of a bad request have the form `field: problem`.
	Details []string
}

func (e *apiError) Error() string { return fmt.Sprintf("the API returned %d: %s", e.Status, e.Message) }

// Field returns the API's problem with a field of the request, or "".
func (e *apiError) Field(name string) string {
	if e == nil {
		return ""
	}
	for _, detail := range e.Details {
		if text, ok := strings.CutPrefix(detail, name+": "); ok {
			return text
		}
	}
	return ""
}

func (c *client) get(ctx context.Context, path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.call(ctx, http.MethodGet, path, nil, nil, out)
}

// errNoAnswer is the error for a silent gateway, and for a response of another server.
var errNoAnswer = errors.New("the gateway did not answer")

// call sends a request and decodes the response into out if out is not nil. An error response is an *apiError. Without a
// response of the API the error wraps errNoAnswer.
func (c *client) call(ctx context.Context, method, path string, header http.Header, body, out any) error {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, sent)
	if err != nil {
		return err
	}
	for name, values := range header {
		if strings.ContainsFunc(strings.Join(values, ""), unicode.IsControl) {
			return &apiError{Status: http.StatusBadRequest, Message: "A field contains a control character. Remove it, and send the form again."}
		}
		req.Header[name] = values
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("X-Request-ID", c.requestID)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.api.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	case len(raw) > maxAnswer:
		return fmt.Errorf("the response of the API exceeds %d bytes", maxAnswer)
	case resp.StatusCode >= 400:
		return refusedBy(resp.StatusCode, raw)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return fmt.Errorf("%w: a server before it returned %s; --url must be the gateway's own address", errNoAnswer, resp.Status)
	case out == nil:
		return nil
	}
	if whole, ok := out.(*json.RawMessage); ok {
		*whole = raw // the caller parses it, or knows it
		return nil
	}
	return parse(raw, out)
}

// parse parses JSON. Fields have members of their own names in any case, as ID has id.
func parse(raw []byte, out any) error {
	return jsonv2.Unmarshal(raw, out, jsonv2.MatchCaseInsensitiveNames(true))
}

// refusedBy parses an error response in any of the API's three forms.
func refusedBy(status int, raw []byte) *apiError {
	var body, nested struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	}
	e := &apiError{Status: status}
	if json.Unmarshal(raw, &body) == nil {
		if json.Unmarshal(body.Error, &nested) == nil && nested.Message != "" {
			e.Message, e.Details = nested.Message, detailsOf(nested.Details)
		} else if json.Unmarshal(body.Error, &e.Message) == nil {
			e.Details = detailsOf(body.Details)
		}
	}
	e.Message = cmp.Or(e.Message, http.StatusText(status))
	return e
}

// detailsOf parses a list of sentences, an object with one sentence per field, or a text that joins them.
func detailsOf(raw json.RawMessage) (out []string) {
	var fields map[string]string
	var text string
	if json.Unmarshal(raw, &out) == nil {
		return out
	}
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil
		}
		return strings.Split(text, "; ")
	}
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	for name, text := range fields {
		out = append(out, name+": "+text)
	}
	sort.Strings(out)
	return out
}

// may returns which actions the user may do in a project, or in the account if project is "".
func (p *page) may(project string, actions ...string) (map[string]bool, error) {
	place := &entity{Type: "account", ID: p.session.AccountID}
	if project != "" {
		place = &entity{"project", project, map[string]string{"account_id": p.session.AccountID}}
	}
	questions := make([]tuple, len(actions))
	for i, action := range actions {
		questions[i] = tuple{Subject: &entity{Type: "user", ID: p.session.UserID}, Action: &actionName{action}, Resource: place}
	}
	answers, err := p.evaluate(questions)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i, action := range actions { // evaluate returns an answer to each
		out[action] = answers[i].Allowed
	}
	return out, nil
}

// isRefusal returns an error response of the API if its status is one of these.
func isRefusal(err error, statuses ...int) (*apiError, bool) {
	refused, ok := errors.AsType[*apiError](err)
	if !ok || !slices.Contains(statuses, refused.Status) {
		return nil, false
	}
	return refused, true
}
