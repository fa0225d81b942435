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

// sessionsWithin bounds one operation on sessions, maxSessionReply its answer in bytes.
const (
	sessionsWithin  = 10 * time.Second
	maxSessionReply = 64 << 10
)

var errSessionReply = errors.New("the gateway's answer about sessions can't be read")

// RemoteSessions are the sessions that the gateway behind a private listener keeps. It is safe for concurrent use.
type RemoteSessions struct {
	// URL is the listener's, without a slash at its end.
	URL    string
	Client *http.Client
	// Token returns the token of a service with console:sessions, for each call.
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

// begin returns the secret of a session that an operation has begun.
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

// ask has the gateway do an operation. An answer other than 200 is an error: of the operator's, not of a person.
func (s *RemoteSessions) ask(ctx context.Context, do string, ask sessionAsk) (reply sessionReply, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessionsWithin)
	defer cancel()
	token, err := s.Token()
	if err != nil {
		return reply, err
	}
	body, err := json.Marshal(ask) //nolint:gosec // the gateway is to get the secret
	if err != nil {
		return reply, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+sessionsPath+do, bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.Client.Do(req)
	if err != nil {
		return reply, fmt.Errorf("the gateway does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxSessionReply))
	switch {
	case err != nil:
		return reply, err
	case resp.StatusCode != http.StatusOK:
		return reply, fmt.Errorf("the gateway answers %s: %s", resp.Status, resources.OneLine(string(raw[:min(len(raw), maxRefusal)])))
	case json.Unmarshal(raw, &reply) != nil:
		return sessionReply{}, errSessionReply
	}
	return reply, nil
}
