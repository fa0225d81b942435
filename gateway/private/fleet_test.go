package private_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// log is the log of a gateway.
type log func(q *decisions.Question) (*decisions.Answer, error)

// Ask implements decisions.Source.
func (l log) Ask(_ context.Context, q *decisions.Question) (*decisions.Answer, error) { return l(q) }

func keysOf(t *testing.T, secret byte) *assertion.Keys {
	t.Helper()
	bytes := make([]byte, 32)
	for i := range bytes {
		bytes[i] = byte(i) ^ secret<<6
	}
	master := must.Get(resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(bytes))))(t)
	return must.Get(assertion.NewKeys(master, time.Now))(t)
}

// TestGatewaysAnswerEachOther guarantees answers to gateways with the same master key, and to nobody else.
func TestGatewaysAnswerEachOther(t *testing.T) {
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	var got *decisions.Question
	fails := false
	l := private.Listener{Assertions: keysOf(t, 0), IDs: ids, History: &private.History{}, Metrics: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler)}
	l.Decisions.Own = log(func(q *decisions.Question) (*decisions.Answer, error) {
		got = q
		if fails {
			return nil, errors.New("disk")
		}
		return &decisions.Answer{Rows: []decisions.Row{{ID: "d", Event: []byte(`{"a":1}`)}}, More: true}, nil
	})
	server := httptest.NewServer(l.Server().Handler)
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	question := &decisions.Question{Filter: decisionlog.Filter{Account: "acct-a-v1"}, Size: 10}
	ask := func(keys *assertion.Keys) (*decisions.Answer, error) {
		all := private.NewFleet([]string{address}, keys, ids).Others(t.Context())
		return all[address].Ask(t.Context(), question)
	}
	a, err := ask(keysOf(t, 0))
	if err != nil || len(a.Rows) != 1 || a.Rows[0].ID != "d" || !a.More || got.Filter.Account != "acct-a-v1" {
		t.Fatalf("%+v %v, asked %+v", a, err, got)
	}
	if a, err := ask(keysOf(t, 1)); err == nil {
		t.Errorf("with another master key: %+v", a)
	}
	fails = true
	if a, err := ask(keysOf(t, 0)); err == nil {
		t.Errorf("a log that fails: %+v", a)
	}
	server.Close()
	if a, err := ask(keysOf(t, 0)); err == nil {
		t.Errorf("a gateway that is gone: %+v", a)
	}
}

// TestAGatewayWithAZoneAnswers guarantees the decisions of a gateway at a link-local address of IPv6. It listens on IPv4: some
// machines have no IPv6.
func TestAGatewayWithAZoneAnswers(t *testing.T) {
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	one := private.Listener{Assertions: keysOf(t, 0), IDs: ids, History: &private.History{}, Metrics: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler)}
	one.Decisions.Own = log(func(*decisions.Question) (*decisions.Answer, error) { return &decisions.Answer{}, nil })
	server := httptest.NewServer(one.Server().Handler)
	defer server.Close()
	const address = "[fe80::1%lo]:9002"
	fleet, called := private.NewFleet([]string{address}, keysOf(t, 0), ids), ""
	private.ConnectBy(fleet, func(ctx context.Context, network, place string) (net.Conn, error) {
		called = place
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	})
	_, err := fleet.Others(t.Context())[address].Ask(t.Context(), &decisions.Question{Filter: decisionlog.Filter{Account: "acct-a-v1"}, Size: 10})
	if err != nil || called != address {
		t.Errorf("%q was called: %v", called, err)
	}
}

// TestQuestionsOfOthersAreRefused guarantees 401 for a forged question: unsigned, about another account than the signed
// one, with another body, of a caller who is not a gateway. A question with a filter of a newer gateway is refused as a
// whole: decisions that the filter leaves out would come as its answer.
func TestQuestionsOfOthersAreRefused(t *testing.T) {
	keys := keysOf(t, 0)
	l := private.Listener{Assertions: keys, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, History: &private.History{}, Metrics: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler)}
	l.Decisions.Own = log(func(*decisions.Question) (*decisions.Answer, error) {
		return &decisions.Answer{}, nil
	})
	server := httptest.NewServer(l.Server().Handler)
	defer server.Close()
	const (
		body  = `{"filter":{"Account":"acct-a-v1"},"size":1}`
		newer = `{"filter":{"Account":"acct-a-v1","Effect":"write"},"size":1}`
		later = `{"filter":{"Account":"acct-a-v1"},"size":1,"latest":true}`
	)
	for name, c := range map[string]struct {
		change func(*assertion.Statement)
		sent   string
		tokens int
		status int
	}{
		"a gateway":        {func(*assertion.Statement) {}, body, 1, 200},
		"unsigned":         {func(*assertion.Statement) {}, body, 0, 401},
		"signed twice":     {func(*assertion.Statement) {}, body, 2, 401},
		"another account":  {func(s *assertion.Statement) { s.Account = "acct-b-v1" }, body, 1, 401},
		"no account":       {func(s *assertion.Statement) { s.Account, s.Body = "", []byte(`{"size":1}`) }, `{"size":1}`, 1, 401},
		"another body":     {func(*assertion.Statement) {}, `{"filter":{"Account":"acct-b-v1"},"size":1}`, 1, 401},
		"a newer filter":   {func(s *assertion.Statement) { s.Body = []byte(newer) }, newer, 1, 401},
		"a newer member":   {func(s *assertion.Statement) { s.Body = []byte(later) }, later, 1, 401},
		"a user":           {func(s *assertion.Statement) { s.Principal.Kind = resources.PrincipalUser }, body, 1, 401},
		"another receiver": {func(s *assertion.Statement) { s.Upstream = "firewall" }, body, 1, 401},
		"another method":   {func(s *assertion.Statement) { s.Method = "GET" }, body, 1, 401},
		"too long":         {func(*assertion.Statement) {}, strings.Repeat(" ", 70<<10), 1, 413},
	} {
		said := assertion.Statement{
			Upstream: "gateways", RequestID: "r-1", Method: "POST", Target: "/decisions/page", Body: []byte(body), Account: "acct-a-v1",
			Principal: resources.Principal{Kind: resources.PrincipalGateway, ID: assertion.Issuer, Credential: resources.CredentialNone},
		}
		c.change(&said)
		token := must.Get(keys.Sign(said))(t)
		req := must.Get(http.NewRequestWithContext(t.Context(), "POST", server.URL+"/decisions/page", strings.NewReader(c.sent)))(t)
		req.Header.Set("X-Request-ID", "r-1")
		for range c.tokens {
			req.Header.Add(assertion.Header, token)
		}
		resp := must.Get(http.DefaultClient.Do(req))(t)
		text, _ := io.ReadAll(resp.Body)
		if _ = resp.Body.Close(); resp.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
}
