package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxAnswer bounds an answer in bytes: that of a full batch has less than a tenth.
const maxAnswer = 16 << 20

// firstWait is about the time before the first retry; each further one takes twice as long.
const firstWait = 50 * time.Millisecond

// Error is an answer of the gateway other than a decision.
type Error struct {
	// Status is the HTTP status, Code the gateway's word for it, else that of HTTP.
	Status        int
	Code, Message string
	// Details has one line for each problem of a 400.
	Details []string
	// RequestID finds the call in the gateway's log.
	RequestID string
	// RetryAfter is how long the gateway asks to wait, 0 if it does not say.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("client: the gateway answers %d %s: %s", e.Status, e.Code, e.Message)
	for _, d := range e.Details {
		text += "; " + d
	}
	return text + " (request " + e.RequestID + ")"
}

var (
	errAnswer = errors.New("client: the gateway's answer is not a decision; check the URL of the gateway")
	errLarge  = fmt.Errorf("client: the gateway's answer is longer than %d bytes", maxAnswer)
)

// call is one question on its way to the gateway.
type call struct {
	target  string
	headers map[string]string
	body    []byte
}

// answer is the gateway's, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask sends the call, and again if this is safe and may help. It returns within the client's
// timeout.
func (c *Client) ask(ctx context.Context, question call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	token, err := c.token(ctx)
	if err != nil {
		return answer{}, fmt.Errorf("client: the token can't be had: %w", err)
	}
	for attempt := 1; ; attempt++ {
		got, err := c.send(ctx, question, token)
		wait, again := retry(got, err)
		if !again || attempt == attempts || !pause(ctx, max(wait, backoff(attempt))) {
			return got, err
		}
	}
}

// retry says whether a second call may help, and how long the gateway asks to wait for it.
func retry(got answer, err error) (wait time.Duration, again bool) {
	if err != nil {
		return 0, !errors.Is(err, errLarge)
	}
	switch got.status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(got.header), true
	}
	return 0, false
}

// backoff returns a random time, so that clients do not come again all at once.
func backoff(attempt int) time.Duration {
	longest := firstWait << attempt
	return longest/2 + rand.N(longest/2) //nolint:gosec // it decides when, and no more
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, wait time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// send makes one request, and returns an answer of any status.
func (c *Client) send(ctx context.Context, question call, token string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+question.target, bytes.NewReader(question.body))
	if err != nil {
		return answer{}, fmt.Errorf("client: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for name, value := range question.headers {
		req.Header.Set(name, value)
	}
	if len(question.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("client: the gateway does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("client: the gateway's answer breaks off: %w", err)
	case len(body) > maxAnswer:
		return answer{}, errLarge
	}
	return answer{resp.StatusCode, resp.Header, body}, nil
}

var errUTF8 = errors.New("client: an id, a type, a name or a property is not valid UTF-8")

// valid says whether all text in a value that has been encoded is UTF-8. It leaves to a type's own
// encoder what that writes.
func valid(v reflect.Value) bool {
	if v.IsValid() && v.Type().Implements(reflect.TypeFor[json.Marshaler]()) {
		return true
	}
	switch v.Kind() { //nolint:exhaustive // no other kind holds text
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Interface, reflect.Pointer:
		return valid(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !valid(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			if !valid(each.Key()) || !valid(each.Value()) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i) // one that is not encoded may lead round in a circle
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && !valid(v.Field(i)) {
				return false
			}
		}
	}
	return true
}

// askJSON sends a body and reads the answer of a 200 into out. Any other one is an *Error. It refuses
// text that JSON can't hold: the encoder would replace its bytes, and ask about another.
func (c *Client) askJSON(ctx context.Context, path string, question, out any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if !valid(reflect.ValueOf(question)) {
		return errUTF8
	}
	got, err := c.ask(ctx, call{target: path, body: body})
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return got.refusal()
	}
	if err := json.Unmarshal(got.body, out); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	return nil
}

// refusal returns an answer other than a decision as an error.
func (a answer) refusal() error {
	var body struct {
		Error struct {
			Code    string   `json:"code"`
			Message string   `json:"message"`
			Details []string `json:"details"`
		} `json:"error"`
		Reason string `json:"reason"` // E3's, without a verdict
	}
	e := &Error{Status: a.status, Code: http.StatusText(a.status), RequestID: a.header.Get("X-Request-ID"), RetryAfter: retryAfter(a.header)}
	if json.Unmarshal(a.body, &body) == nil { // a proxy's answer may be anything
		e.Code, e.Message, e.Details = cmp.Or(body.Error.Code, e.Code), cmp.Or(body.Error.Message, body.Reason), body.Error.Details
	}
	return e
}

// retryAfter returns the wait of an answer in seconds, 0 if it has none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 32) // a rate may ask for a day and more
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
