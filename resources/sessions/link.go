package sessions

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// NewCode makes a code with which a browser signs in as the user, once, within CodeLife. The error is a
// *resources.Error if there is no such user with an account, or an outside issuer makes the tokens.
func (s *Service) NewCode(ctx context.Context, user string) (code string, err error) {
	if _, err := s.cfg.Sign(user, CodeLife); err != nil {
		return "", resources.Conflict("%s", err)
	}
	if code, err = s.newSecret(); err != nil {
		return "", err
	}
	ends := resources.At(s.cfg.Now().Add(CodeLife))
	return code, s.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		rec, err := s.cfg.Collections.Users.Get(ctx, tx, user)
		if errors.Is(err, store.ErrNotFound) || err == nil && rec.Value.AccountID == "" {
			return resources.NotFound("user")
		}
		if err == nil {
			err = s.sweep(ctx, tx)
		}
		if err != nil {
			return err
		}
		return s.cfg.Collections.ConsoleCodes.Insert(ctx, tx, records.ConsoleCode{ID: hashOf(code), UserID: user, EndsAt: ends})
	})
}

// Redeem exchanges a one-time code for a session of its user. The error is ErrNone for an unknown, used or expired code,
// else the store's, a conflict if no token can be signed for the user, or that of Begin. An expired code, and one whose
// session could not begin, is used up as well.
func (s *Service) Redeem(ctx context.Context, code string) (secret string, err error) {
	var user string
	err = s.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		rec, err := s.cfg.Collections.ConsoleCodes.Get(ctx, tx, hashOf(code))
		if errors.Is(err, store.ErrNotFound) {
			return ErrNone
		}
		if err != nil {
			return err
		}
		user = rec.Value.UserID
		if resources.At(s.cfg.Now()) >= rec.Value.EndsAt {
			user = ""
		}
		return s.cfg.Collections.ConsoleCodes.Delete(ctx, tx, rec)
	})
	if err != nil {
		return "", err
	}
	if user == "" {
		return "", ErrNone
	}
	token, err := s.cfg.Sign(user, Longest)
	if err != nil {
		return "", resources.Conflict("%s", err)
	}
	return s.Begin(ctx, token)
}
