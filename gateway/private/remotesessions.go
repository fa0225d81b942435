package private

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// sessionsWithin is the deadline of an operation on sessions. maxSessionReply limits its response, in bytes.
const (
	sessionsWithin  = 10 * time.Second
	maxSessionReply = 64 << 10
)

var errSessionReply = errors.New("the gateway's response about sessions is malformed: is it of the console's version?")

// RemoteSessions reads and changes the sessions of a gateway through its private listener. It is safe for concurrent use.
type RemoteSessions struct {
	// URL is the listener's URL, without a trailing slash.
	URL string
	// Transport sends the requests. It must follow no redirect, which could lead the secrets to another server.
	Transport http.RoundTripper
	// Token returns the token of a service with console:sessions. Each call asks for it.
	Token func() (string, error)
}

// Begin implements console.Sessions.
func (s *RemoteSessions) Begin(ctx context.Context, token string) (secret string, err error) {
	return s.begin(ctx, doBegin, sessionAsk{Token: token})
}

// Redeem implements console.Sessions.
func (s *RemoteSessions) Redeem(ctx context.Context, code string) (secret string, err error) {
	return s.begin(ctx, doRedeem, sessionAsk{Code: code})
}

// begin runs an operation that begins a session, and returns the session's secret.
func (s *RemoteSessions) begin(ctx context.Context, do string, ask sessionAsk) (string, error) {
	reply, err := s.ask(ctx, do, ask)
	switch {
	case err != nil:
		return "", err
	case reply.Refused != "":
		return "", resources.Forbidden("%s", reply.Refused)
	case reply.Secret == "":
		return "", errSessionReply
	}
	return reply.Secret, nil
}

// Session implements console.Sessions.
func (s *RemoteSessions) Session(ctx context.Context, secret string, used bool) (*resources.ConsoleSession, error) {
	reply, err := s.ask(ctx, doRead, sessionAsk{Secret: secret, Used: used})
	if err != nil || reply.Session == nil {
		return nil, err
	}
	one := reply.Session
	if one.UserID == "" || one.AccountID == "" || one.Token == "" {
		return nil, errSessionReply
	}
	return &resources.ConsoleSession{UserID: one.UserID, AccountID: one.AccountID, Token: one.Token, EndsAt: one.EndsAt}, nil
}

// End implements console.Sessions.
func (s *RemoteSessions) End(ctx context.Context, secret string) error {
	_, err := s.ask(ctx, doEnd, sessionAsk{Secret: secret})
	return err
}

// EndAll implements console.Sessions.
func (s *RemoteSessions) EndAll(ctx context.Context, secret string) error {
	_, err := s.ask(ctx, doEndAll, sessionAsk{Secret: secret})
	return err
}

// ask sends an operation to the gateway. A status other than 200 is a fault of the installation. The gateway returns
// a person's fault in the body of a 200.
func (s *RemoteSessions) ask(ctx context.Context, do string, ask sessionAsk) (reply sessionReply, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessionsWithin)
	defer cancel()
	token, err := s.Token()
	if err != nil {
		return reply, err
	}
	body, err := json.Marshal(ask) //nolint:gosec // the secret is for the gateway
	if err != nil {
		return reply, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+sessionsPath+do, bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.Transport.RoundTrip(req)
	if err != nil {
		return reply, fmt.Errorf("the private listener does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxSessionReply))
	switch {
	case err != nil:
		return reply, err
	case resp.StatusCode != http.StatusOK:
		return reply, fmt.Errorf("the private listener returned %s: %s", resp.Status, resources.OneLine(string(raw[:min(len(raw), maxRefusal)])))
	case json.Unmarshal(raw, &reply) != nil:
		return sessionReply{}, errSessionReply
	}
	return reply, nil
}
