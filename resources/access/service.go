package access

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Judge is what this area asks of policy inside a transaction. It waits for nobody who may
// wait for that transaction.
type Judge interface {
	// Decide says whether the question's subject may do its action.
	Decide(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Grantable says whether the caller holds all of what is to be granted.
	Grantable(ctx context.Context, g resources.Grant) (resources.Decision, error)
	// Roles are the system roles.
	Roles() []resources.Role
}

// Occupant is an area that may hold something in a project, in this process or in
// another one.
type Occupant interface {
	// CloseProject says whether anything is left in the project. Where nothing is,
	// nothing can be made there from then on for a time, also by a request that was
	// authorized before the project was marked. An error keeps the project.
	CloseProject(ctx context.Context, by resources.Closing) (occupied bool, err error)
	// OpenProject takes that back, when the project is kept after all.
	OpenProject(ctx context.Context, by resources.Closing) error
}

// Config is what the area works with; every field but Occupants, Invite
// and Release is needed.
type Config struct {
	Store       store.Store
	Collections records.Collections
	Judge       Judge
	Tokens      wire.PageTokens
	// Idempotency runs what creates.
	Idempotency *idempotency.Keeper
	IDs         resources.IDs
	Now         func() time.Time
	// Occupants are asked before a project is deleted.
	Occupants []Occupant
	// Invite stores, in the transaction that made the user, the mail for an admin who
	// still has to sign in; nil sends none.
	Invite func(ctx context.Context, tx store.Tx, account resources.Account, user resources.User) error
	// Release ends, in the caller's transaction, the membership of a user whose invitation
	// has run out, but does not store the user; false where they stay a member. nil ends none.
	Release func(ctx context.Context, tx store.Tx, user *resources.User) (bool, error)
}

// Service holds the handlers of access management.
type Service struct {
	Config
	c records.Collections
}

// New makes the area's handlers.
func New(cfg Config) *Service { return &Service{Config: cfg, c: cfg.Collections} }

// Routes are all of the area's handlers.
func (s *Service) Routes() wire.Routes {
	out := wire.Routes{}
	for _, part := range []wire.Routes{s.AccountRoutes(), s.RoleRoutes(), s.GroupRoutes()} {
		maps.Copy(out, part)
	}
	return out
}

// now is the clock in the domain's form.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// changing starts a change in the path's account: it moves the revision before anything is
// read, asks whether the caller's credential is valid and the caller may, still, and gives
// the caller's facts.
func (s *Service) changing(ctx context.Context, tx store.Tx, r *wire.Request, action string) (resources.Facts, error) {
	account := r.Params["accountId"]
	if _, err := tx.Bump(ctx, account); err != nil {
		return resources.Facts{}, err
	}
	return s.stillMay(ctx, tx, r.Principal, account, action)
}

// stillMay asks again, on the transaction's own facts, for the caller's credential and
// whether policy lets them do the action at account level, and gives those facts. A
// service's rights are in its token, which has been judged.
func (s *Service) stillMay(ctx context.Context, tx store.Tx, p resources.Principal, account, action string) (resources.Facts, error) {
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
		return resources.Facts{}, resources.Forbidden("%s", decision.Reason)
	}
	return facts, nil
}

// mayGrant refuses with FORBIDDEN when the caller does not hold, at that place and
// for that long, all of the permissions (no escalation). Policy is asked once about each
// pattern, and about no more at a time than a role may have; about none it is asked too.
func (s *Service) mayGrant(ctx context.Context, g resources.Grant) error {
	g.Now = s.now()
	left := slices.Compact(slices.Sorted(slices.Values(g.Permissions)))
	for {
		n := min(len(left), maxRolePatterns)
		g.Permissions, left = left[:n], left[n:]
		decision, err := s.Judge.Grantable(ctx, g)
		if err != nil {
			return err
		}
		if !decision.Allowed {
			return resources.Forbidden("You cannot grant more than you have: %s", decision.Reason)
		}
		if len(left) == 0 {
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
func done(message string) (wire.Response, error) {
	return wire.OK(doneBody{Success: true, Message: message})
}
