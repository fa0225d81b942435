package access

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Judge judges by policy (gateway/verdict). Handlers call it inside a transaction, so it must not wait for
// callers that may wait for the transaction.
type Judge interface {
	// Decide decides whether the caller may do the action.
	Decide(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Grantable decides whether the caller holds all that the question's grant gives.
	Grantable(ctx context.Context, q resources.Question) (resources.Decision, error)
}

// Occupant is an area that may have records in a project, in this process or in another one.
type Occupant interface {
	// CloseProject says whether the project has records of the area. If it has none, the area
	// refuses to make any there for a time, for requests that were authorized before the
	// project was marked too. An error keeps the project.
	CloseProject(ctx context.Context, closing resources.Closing) (occupied bool, err error)
	// OpenProject undoes CloseProject for a project that is not deleted.
	OpenProject(ctx context.Context, closing resources.Closing) error
}

// Config holds what the handlers work with. Occupants, Invite and Release are optional.
type Config struct {
	Store       store.Store
	Collections records.Collections
	Judge       Judge
	// SystemRoles returns the system roles in force.
	SystemRoles func() []resources.Role
	// Actions returns the actions that the policy tree in force lists.
	Actions func() []resources.ActionUse
	Tokens  wire.PageTokens
	// Idempotency runs the creating handlers.
	Idempotency *idempotency.Keeper
	IDs         resources.IDs
	Now         func() time.Time
	// ChangeRetention is how long change records are kept; 0 is for ever.
	ChangeRetention time.Duration
	// Scans is passed by searches among changes and by previews, which read many records; nil has no bounds.
	Scans *gate.Gate
	// Occupants are asked before a project is deleted.
	Occupants []Occupant
	// Invite stores the mail to an admin before their first sign-in, in the transaction of the new user; nil sends
	// none.
	Invite func(ctx context.Context, tx store.Tx, account resources.Account, user resources.User) error
	// Release ends the membership of a user with an expired invitation, in the given transaction. It changes user and
	// does not store it. It returns false for a user who stays a member; a nil Release keeps everybody.
	Release func(ctx context.Context, tx store.Tx, user *resources.User) (bool, error)
}

// Service holds the handlers of access management.
type Service struct {
	Config
	c records.Collections
}

// New makes the handlers of the area.
func New(cfg Config) *Service { return &Service{Config: cfg, c: cfg.Collections} }

// Routes returns all handlers of the area.
func (s *Service) Routes() wire.Routes {
	out := wire.Routes{}
	for _, part := range []wire.Routes{s.accountRoutes(), s.roleRoutes(), s.groupRoutes(), s.agentRoutes()} {
		maps.Copy(out, part)
	}
	return out
}

// now returns the time of the clock.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// beginChange begins every change in the account of the path: it bumps the account's revision
// before anything is read, authorizes the caller again, and returns the caller's facts.
func (s *Service) beginChange(ctx context.Context, tx store.Tx, r *wire.Request, action string) (resources.Facts, error) {
	account := r.Params["accountId"]
	if _, err := tx.Bump(ctx, account); err != nil {
		return resources.Facts{}, err
	}
	return s.reauthorize(ctx, tx, r.Principal, account, action)
}

// reauthorize checks two things on the facts of the transaction: the caller's credential is still valid, and policy
// lets them do the action at account level. It returns those facts. Policy is not asked for a service: its permissions
// are in its token.
func (s *Service) reauthorize(ctx context.Context, tx store.Tx, p resources.Principal, account, action string) (resources.Facts, error) {
	facts, err := s.c.LoadCaller(ctx, tx, account, p, s.now())
	if err != nil || p.Kind == resources.PrincipalService {
		return facts, err
	}
	parsed, err := resources.ParseAction(action)
	if err != nil {
		return resources.Facts{}, err
	}
	decision, err := s.Judge.Decide(ctx, resources.Question{
		Principal: p, Action: parsed, AccountID: account, Facts: facts, Now: s.now(),
	})
	if err != nil {
		return resources.Facts{}, err
	}
	if !decision.Allowed {
		return resources.Facts{}, resources.Denied(decision.Reason)
	}
	return facts, nil
}

// Reauthorize does what each handler does in its transaction, for the handlers of areas without one: it refuses a caller
// who may not do the action at account level any more.
func (s *Service) Reauthorize(ctx context.Context, p resources.Principal, account, action string) error {
	return s.Store.View(ctx, func(tx store.Tx) error {
		_, err := s.reauthorize(ctx, tx, p, account, action)
		return err
	})
}

// mayGrant refuses with FORBIDDEN a caller who does not hold all permissions of the grant at its
// place and until its end. It refuses an agent that acts for such a caller, since the grant could
// be more than the agent has. It asks policy about as many different patterns at a time as a role
// may have, and about a grant without patterns once.
func (s *Service) mayGrant(ctx context.Context, q resources.Question) error {
	if q.Principal.Client.HasActor() {
		return resources.Forbidden("An agent grants no permissions for its user.")
	}
	q.Now = s.now()
	rest := slices.Compact(slices.Sorted(slices.Values(q.Grant.Permissions)))
	for {
		n := min(len(rest), maxRolePatterns)
		q.Grant, rest = &resources.Grant{Permissions: rest[:n], Until: q.Grant.Until}, rest[n:]
		decision, err := s.Judge.Grantable(ctx, q)
		if err != nil {
			return err
		}
		if !decision.Allowed {
			return resources.Forbidden("You cannot grant more than you have: %s", decision.Reason)
		}
		if len(rest) == 0 {
			return nil
		}
	}
}

// doneBody is the body of a response that has nothing to show.
type doneBody struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// done returns the response to a change that has nothing to show.
func done(message string, err error) (wire.Response, error) {
	return wire.Answer(doneBody{Success: true, Message: message}, err)
}
