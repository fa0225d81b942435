package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// The times of sessions and codes.
const (
	// Idle is after which time without a use a session ends.
	Idle = 30 * time.Minute
	// Longest is how long a session lasts at most.
	Longest = 12 * time.Hour
	// CodeLife is how long a code can be redeemed.
	CodeLife = time.Minute
)

const (
	// secretSize is the size of a secret in bytes.
	secretSize = 32
	// noted is how far the stored last use of a session may be behind.
	noted = resources.Time(60_000)
	// maxSwept bounds the records of ended sessions that one sign-in deletes.
	maxSwept = 100
)

// ErrNone says that there is no such session or code: it never was, it has ended, or the code was redeemed.
var ErrNone = errors.New("sessions: no such session or code")

// Config holds what a Service works with. Every field is required.
type Config struct {
	Store       store.Store
	Collections records.Collections
	Master      resources.MasterKey
	Now         func() time.Time
	Random      io.Reader
	// Identify returns who sends the access token, and the token's end. An error is that the gateway refuses the token.
	Identify func(ctx context.Context, token string) (resources.Principal, time.Time, error)
	// Sign makes an access token of a user; its error is that an outside issuer makes them.
	Sign func(user string, life time.Duration) (string, error)
}

// Service begins, finds and ends sessions.
type Service struct {
	cfg Config
	// Sealer seals the tokens of sessions, and what the console keeps in a browser.
	resources.Sealer
}

// New makes a service.
func New(cfg Config) (*Service, error) {
	sealer, err := resources.NewSealer(cfg.Master.Derive(resources.PurposeConsole))
	return &Service{cfg, sealer}, err
}

// Begin keeps a session for a user's access token, and returns the secret for the browser. The error is a
// *resources.Error: the gateway refuses the token, or it is not the token of a user with an account.
func (s *Service) Begin(ctx context.Context, token string) (secret string, err error) {
	caller, ends, err := s.cfg.Identify(ctx, token)
	if err != nil {
		return "", err
	}
	if caller.Kind != resources.PrincipalUser || caller.AccountID == "" {
		return "", resources.Forbidden("the console is for active members of an account")
	}
	now := s.cfg.Now()
	if last := now.Add(Longest); ends.After(last) {
		ends = last
	}
	secret, err = s.newSecret()
	if err != nil {
		return "", err
	}
	id := hashOf(secret)
	session := records.ConsoleSession{
		ID: id, UserID: caller.ID, AccountID: caller.AccountID, Token: s.Seal([]byte(token), id),
		SeenAt: resources.At(now), EndsAt: resources.At(ends),
	}
	return secret, s.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		if err := s.mayBegin(ctx, tx, caller); err != nil {
			return err
		}
		if err := s.sweep(ctx, tx); err != nil {
			return err
		}
		return s.cfg.Collections.ConsoleSessions.Insert(ctx, tx, session)
	})
}

// mayBegin refuses a user who is not an active member of the account now. Their sessions have ended, and a sign-in
// under way must not begin another one. The bump lets no suspension and no removal run beside it.
func (s *Service) mayBegin(ctx context.Context, tx store.Tx, caller resources.Principal) error {
	if _, err := tx.Bump(ctx, caller.AccountID); err != nil {
		return err
	}
	rec, err := s.cfg.Collections.Users.Get(ctx, tx, caller.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err != nil || rec.Value.AccountID != caller.AccountID || rec.Value.Status != resources.StatusActive {
		return resources.Forbidden("the console is for active members of an account")
	}
	return nil
}

// Session returns a session that has not ended. With used its idle time begins anew, unless the store takes no writes: on
// a full disk reads go on. The error is ErrNone, or a failure of the store.
func (s *Service) Session(ctx context.Context, secret string, used bool) (*resources.ConsoleSession, error) {
	var rec store.Record[records.ConsoleSession]
	err := s.cfg.Store.View(ctx, func(tx store.Tx) (err error) {
		rec, err = s.find(ctx, tx, secret)
		return err
	})
	if err != nil {
		return nil, err
	}
	now := resources.At(s.cfg.Now())
	if used && now-rec.Value.SeenAt > noted {
		if err := s.note(ctx, secret, now); err != nil && !resources.IsKind(err, resources.KindUnavailable) {
			return nil, err
		}
	}
	token, ok := s.Open(rec.Value.Token, rec.Value.ID)
	if !ok { // sealed with a master key that was removed
		return nil, ErrNone
	}
	return &resources.ConsoleSession{
		UserID: rec.Value.UserID, AccountID: rec.Value.AccountID, Token: string(token), EndsAt: rec.Value.EndsAt,
	}, nil
}

// find reads a session that has not ended.
func (s *Service) find(ctx context.Context, tx store.Tx, secret string) (store.Record[records.ConsoleSession], error) {
	rec, err := s.cfg.Collections.ConsoleSessions.Get(ctx, tx, hashOf(secret))
	if errors.Is(err, store.ErrNotFound) {
		return rec, ErrNone
	}
	now := resources.At(s.cfg.Now())
	if err == nil && (now >= rec.Value.EndsAt || now-rec.Value.SeenAt >= resources.Time(Idle.Milliseconds())) {
		return rec, ErrNone
	}
	return rec, err
}

// note writes the use of a session, unless it ends at the same time.
func (s *Service) note(ctx context.Context, secret string, now resources.Time) error {
	return s.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		rec, err := s.find(ctx, tx, secret)
		if err != nil {
			return err
		}
		rec.Value.SeenAt = max(now, rec.Value.SeenAt)
		return s.cfg.Collections.ConsoleSessions.Replace(ctx, tx, rec)
	})
}

// End ends a session. A session that has ended already is not an error.
func (s *Service) End(ctx context.Context, secret string) error {
	return s.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		rec, err := s.cfg.Collections.ConsoleSessions.Get(ctx, tx, hashOf(secret))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.cfg.Collections.ConsoleSessions.Delete(ctx, tx, rec)
	})
}

// EndAll ends all sessions of the user of a session, also after that session's idle time. The error is ErrNone for one that
// was ended or deleted.
func (s *Service) EndAll(ctx context.Context, secret string) error {
	return s.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		rec, err := s.cfg.Collections.ConsoleSessions.Get(ctx, tx, hashOf(secret))
		if errors.Is(err, store.ErrNotFound) {
			return ErrNone
		}
		if err != nil {
			return err
		}
		return s.cfg.Collections.EndConsoleSessions(ctx, tx, rec.Value.UserID)
	})
}

// sweep deletes some records of sessions and codes that have ended.
func (s *Service) sweep(ctx context.Context, tx store.Tx) error {
	now := resources.At(s.cfg.Now())
	err := sweepOf(ctx, tx, s.cfg.Collections.ConsoleSessions, func(r *records.ConsoleSession) bool { return now >= r.EndsAt })
	if err != nil {
		return err
	}
	return sweepOf(ctx, tx, s.cfg.Collections.ConsoleCodes, func(r *records.ConsoleCode) bool { return now >= r.EndsAt })
}

func sweepOf[T any](ctx context.Context, tx store.Tx, c store.Collection[T], ended func(*T) bool) error {
	recs, err := c.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: maxSwept})
	for _, rec := range recs {
		if err != nil || !ended(&rec.Value) {
			break
		}
		err = c.Delete(ctx, tx, rec)
	}
	return err
}

func (s *Service) newSecret() (string, error) {
	raw := make([]byte, secretSize)
	if _, err := io.ReadFull(s.cfg.Random, raw); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// hashOf returns the id of the record of a secret. The secret has 256 random bits, so a plain hash holds.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
