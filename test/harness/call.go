package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/contract"
)

// Reply is an answer, read to its end.
type Reply struct {
	Status int
	Header http.Header
	Raw    []byte
	// Took is from the request to the end of the answer.
	Took time.Duration
	// Body is the JSON object of the answer, nil if it is none.
	Body map[string]any
	// Last says that the server ends the connection with this answer.
	Last bool
	// Tries is how often it was asked; all but the last time nothing was decided.
	Tries int
}

// Call makes one request. body is JSON text, or "" for none; headers are name, value pairs.
//
// On a busy machine a decision may take more than its 50 ms, or the read of the store before it
// more than its 250 ms. Call repeats such a 503, since nothing was done.
func Call(t testing.TB, method, url, token, body string, headers ...string) Reply {
	t.Helper()
	for try := 1; ; try++ {
		r, peer, err := exchanged(method, url, token, body, headers...)
		if err != nil {
			t.Fatalf("%s %s: %v", method, url, err)
		}
		for _, text := range peer {
			t.Error(text)
		}
		r.Tries = try
		if !r.Undecided() || try == 20 {
			return r
		}
	}
}

// Undecided reports whether no decision was made in time. A change that loses to others for five
// seconds has the same text as a slow read of the store; this is never excused.
func (r Reply) Undecided() bool {
	return r.Status == 503 && (SaysUndecided(r.Raw) ||
		bytes.Contains(r.Raw, []byte("store is not available now")) && r.Took < 3*time.Second)
}

// SaysUndecided finds the texts that stand for no decision in time, and for nothing else.
func SaysUndecided(text []byte) bool {
	return bytes.Contains(text, []byte("authorization state unavailable")) || bytes.Contains(text, []byte("policy evaluation took too long")) || bytes.Contains(text, []byte("decision could not be made"))
}

// TryCall is Call for a server that may be gone.
func TryCall(method, url, token, body string, headers ...string) (Reply, error) {
	r, peer, err := exchanged(method, url, token, body, headers...)
	if len(peer) > 0 {
		listeners.Lock()
		defer listeners.Unlock()
		listeners.untold = append(listeners.untold, peer...)
	}
	return r, err
}

// exchanged returns the answer to a request, and what the OpenAPI document has against the two.
func exchanged(method, url, token, body string, headers ...string) (r Reply, peer []string, err error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return Reply{}, nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header[http.CanonicalHeaderKey(headers[i])] = append(req.Header.Values(headers[i]), headers[i+1])
	}
	began := time.Now()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return Reply{}, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	r = Reply{Status: resp.StatusCode, Header: resp.Header, Last: resp.Close}
	if r.Raw, err = io.ReadAll(resp.Body); err != nil {
		return Reply{}, nil, err
	}
	r.Took = time.Since(began)
	dec := json.NewDecoder(bytes.NewReader(r.Raw))
	dec.UseNumber()
	_ = dec.Decode(&r.Body)
	if key, made := At(r.Body, "data", "raw_key").(string); made {
		theSecrets.Key(key)
	}
	scheme, rest, _ := strings.Cut(url, "://")
	host, target, _ := strings.Cut(rest, "/")
	x := contract.Exchange{Method: method, Target: "/" + target, Header: req.Header, Body: []byte(body), Answer: contract.Answer{Status: r.Status, Header: r.Header, Raw: r.Raw}}
	return r, againstDocument(scheme+"://"+host, x), nil
}
