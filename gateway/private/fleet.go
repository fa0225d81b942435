package private

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
)

const (
	// pageTarget is where gateways ask each other for decisions. pageAudience is the receiver in the assertion.
	pageTarget   = "/decisions/page"
	pageAudience = "gateways"
	// maxQuestion and maxPage bound a question of a gateway and its answer, in bytes.
	maxQuestion = 64 << 10
	maxPage     = 64 << 20
	// dialTime bounds a connection to a gateway, pageTime its answer: more than a search takes.
	dialTime = time.Second
	pageTime = 4 * time.Second
)

// Fleet is the other gateways of an installation, by the addresses of their private listeners. It is safe for concurrent
// use.
type Fleet struct {
	// Addresses are host:port. A host that resolves to several addresses stands for the gateways at all of them.
	Addresses []string
	Keys      *assertion.Keys
	IDs       resources.IDs
	client    http.Client
}

// NewFleet returns the gateways at these addresses.
func NewFleet(addresses []string, keys *assertion.Keys, ids resources.IDs) *Fleet {
	dialer := &net.Dialer{Timeout: dialTime}
	return &Fleet{Addresses: addresses, Keys: keys, IDs: ids, client: http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Others returns the gateways by their addresses. An unresolved name is a source with an error.
func (f *Fleet) Others(ctx context.Context) map[string]decisions.Source {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	all := map[string]decisions.Source{}
	for _, address := range f.Addresses {
		host, port, err := net.SplitHostPort(address)
		var hosts []string
		if err == nil {
			hosts, err = net.DefaultResolver.LookupHost(ctx, host)
		}
		if err != nil {
			all[address] = unresolved{err}
			continue
		}
		for _, one := range hosts {
			resolved := net.JoinHostPort(one, port)
			all[resolved] = member{f, resolved}
		}
	}
	return all
}

// unresolved is a gateway whose name does not resolve.
type unresolved struct{ err error }

// Ask implements decisions.Source.
func (u unresolved) Ask(context.Context, *decisions.Question) (*decisions.Answer, error) {
	return nil, u.err
}

// member is one other gateway.
type member struct {
	fleet   *Fleet
	address string
}

// Ask implements decisions.Source. An assertion vouches for the question.
func (m member) Ask(ctx context.Context, q *decisions.Question) (*decisions.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	said := vouched(m.fleet.IDs.ULID(), body)
	said.Account = q.Filter.Account
	said.Principal = resources.Principal{Kind: resources.PrincipalGateway, ID: assertion.Issuer, Credential: resources.CredentialNone}
	token, err := m.fleet.Keys.Sign(said)
	if err != nil {
		return nil, err
	}
	target := url.URL{Scheme: "http", Host: m.address, Path: pageTarget}
	req, err := http.NewRequestWithContext(ctx, said.Method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-ID", said.RequestID)
	req.Header.Set(assertion.Header, token)
	resp, err := m.fleet.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err != nil {
		return nil, err
	}
	var a decisions.Answer
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", m.address, resp.Status)
	}
	return &a, json.Unmarshal(raw, &a)
}

// vouched is what an assertion says of a question.
func vouched(requestID string, body []byte) assertion.Statement {
	return assertion.Statement{Upstream: pageAudience, RequestID: requestID, Method: http.MethodPost, Target: pageTarget, Body: body}
}

var errNotGateway = errors.New("this is for the gateways of the installation")

// page answers another gateway's question: POST /decisions/page. Its caller has authorized the reader.
func (l *Listener) page(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
	if err != nil {
		http.Error(w, "the question is too long", http.StatusRequestEntityTooLarge)
		return
	}
	q, err := l.question(r, body)
	if err != nil {
		l.Log.Warn("a question for decisions was refused", "error", err.Error())
		http.Error(w, errNotGateway.Error(), http.StatusUnauthorized)
		return
	}
	if l.Decisions.Own == nil {
		http.Error(w, "there is no decision log in this process", http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	a, err := l.Decisions.Own.Ask(ctx, q)
	if err != nil {
		l.Log.Warn("decisions could not be read for another gateway", "error", err.Error())
		http.Error(w, "the decision log can't be read now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // a gateway that is gone needs no answer
}

// question returns a gateway's question, about the account in its assertion. It refuses one with an unknown member: a
// newer gateway may have a filter that this one would leave out.
func (l *Listener) question(r *http.Request, body []byte) (*decisions.Question, error) {
	tokens := r.Header.Values(assertion.Header)
	if len(tokens) != 1 {
		return nil, errNotGateway
	}
	said, err := l.Assertions.Verify(tokens[0], vouched(r.Header.Get("X-Request-ID"), body))
	if err != nil {
		return nil, err
	}
	var q decisions.Question
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&q); err != nil {
		return nil, err
	}
	if strict.More() {
		return nil, errNotGateway
	}
	if said.Principal.Kind != resources.PrincipalGateway || q.Filter.Account == "" || said.Account != q.Filter.Account || q.Size < 1 {
		return nil, errNotGateway
	}
	return &q, nil
}
