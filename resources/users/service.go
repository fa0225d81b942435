package users

import (
	"cmp"
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/memo"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// DefaultInvitationTTL is how long an invitation is valid by default.
const DefaultInvitationTTL = 14 * 24 * time.Hour

// Config holds what the handlers work with. InvitationTTL is optional.
type Config struct {
	Store       store.Store
	Collections records.Collections
	// Judge decides by policy whether the caller may do the action. Handlers call it inside a transaction, so it must not
	// wait for callers that may wait for the transaction.
	Judge func(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Idempotency runs the creating handlers.
	Idempotency *idempotency.Keeper
	Tokens      wire.PageTokens
	IDs         resources.IDs
	Now         func() time.Time
	// IdentityProvider is the only value of authentication_partner, in upper case.
	IdentityProvider string
	// InvitationTTL is how long an invitation is valid; zero is DefaultInvitationTTL.
	InvitationTTL time.Duration
	// Invite makes the mail that invites the user to the account, and does not store it.
	Invite func(account resources.Account, user resources.User, now resources.Time) resources.Message
}

// Service holds the handlers of users.
type Service struct {
	Config
	c      records.Collections
	totals *memo.Table[membership, int]
}

// New makes the handlers of the area.
func New(cfg Config) *Service {
	cfg.InvitationTTL = cmp.Or(cfg.InvitationTTL, DefaultInvitationTTL)
	return &Service{Config: cfg, c: cfg.Collections, totals: memo.New[membership, int](maxTotals)}
}

// Routes returns all handlers of the area.
func (s *Service) Routes() wire.Routes {
	return wire.Named("users", wire.Routes{
		"user.update":            s.updateUser,
		"user_profile.update":    s.updateProfile,
		"user_profile.get":       s.getProfile,
		"user.invite":            s.Idempotency.Create("user.invite", s.inviteUser),
		"user.list":              s.listUsers,
		"user.create":            s.Idempotency.Create("user.create", s.createUser),
		"user.find":              s.findUsers,
		"user.remove":            s.removeMember,
		"user.resend_invitation": s.Idempotency.Create("user.resend_invitation", s.resendInvitation),
	})
}

// now returns the time of the clock.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// messageBody is the response to a change that has nothing to show.
type messageBody struct {
	Message string `json:"message"`
}
