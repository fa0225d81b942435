package users

import (
	"context"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// DefaultInvitationTTL is how long an invitation binds where nothing else is configured.
const DefaultInvitationTTL = 14 * 24 * time.Hour

// Judge is what this area asks of policy inside a transaction. It waits for nobody who may
// wait for that transaction.
type Judge interface {
	// Decide says whether the question's subject may do its action.
	Decide(ctx context.Context, q resources.Question) (resources.Decision, error)
}

// Config is what the area works with; every field but InvitationTTL is needed.
type Config struct {
	Store       store.Store
	Collections records.Collections
	Judge       Judge
	// Idempotency runs the creating handlers.
	Idempotency *idempotency.Keeper
	Tokens      wire.PageTokens
	IDs         resources.IDs
	Now         func() time.Time
	// IdentityProvider is the one value of authentication_partner, in upper case.
	IdentityProvider string
	// InvitationTTL is how long an invitation binds; zero is DefaultInvitationTTL.
	InvitationTTL time.Duration
	// Invite makes the mail to a user who was invited to the account; it stores nothing.
	Invite func(account resources.Account, user resources.User, now resources.Time) resources.Message
}

// Service holds the handlers of users.
type Service struct {
	Config
	c records.Collections
}

// New makes the area's handlers.
func New(cfg Config) *Service {
	if cfg.InvitationTTL == 0 {
		cfg.InvitationTTL = DefaultInvitationTTL
	}
	return &Service{Config: cfg, c: cfg.Collections}
}

// Routes are all of the area's handlers.
func (s *Service) Routes() wire.Routes {
	return wire.Named("users", wire.Routes{
		"user.update":            s.updateUser,
		"user_profile.update":    s.updateProfile,
		"user_profile.get":       s.getProfile,
		"user.invite":            s.Idempotency.Create("user.invite", s.inviting),
		"user.list":              s.listUsers,
		"user.create":            s.Idempotency.Create("user.create", s.creating),
		"user.find":              s.findUsers,
		"user.remove":            s.removeMember,
		"user.resend_invitation": s.Idempotency.Create("user.resend_invitation", s.reinviting),
	})
}

// now is the clock in the domain's form.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// bump moves the revision of each account, in their order, as every change of several
// accounts does.
func bump(ctx context.Context, tx store.Tx, accounts ...string) error {
	slices.Sort(accounts)
	for _, account := range slices.Compact(accounts) {
		if _, err := tx.Bump(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

// messageBody is the success of a change that has nothing to show.
type messageBody struct {
	Message string `json:"message"`
}
