package firewall

import (
	"context"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Default quotas (API contract, E1).
const (
	DefaultMaxGroups = 100
	DefaultMaxRules  = 200
)

// Config holds what the handlers work with. Every field is required.
type Config struct {
	Store       store.Store
	Collections records.Collections
	// CheckCaller refuses a caller whose credential is not valid any more. It reads in the
	// transaction of a change in the account.
	CheckCaller func(ctx context.Context, tx store.Tx, account string, caller resources.Principal) error
	Tokens      wire.PageTokens
	// Idempotency runs the creating handlers.
	Idempotency *idempotency.Keeper
	IDs         resources.IDs
	Now         func() time.Time
	// MaxGroups bounds the groups of a project. Groups beyond it stay.
	MaxGroups int
	// MaxRules bounds the rules of a group. Rules beyond it stay.
	MaxRules int
}

// Service holds the handlers of security groups.
type Service struct {
	Config
	c records.Collections
}

// New makes the handlers of the area.
func New(cfg Config) *Service { return &Service{Config: cfg, c: cfg.Collections} }

// Routes returns the handlers of the area.
func (s *Service) Routes() wire.Routes {
	return wire.Named("firewall", wire.Routes{
		"security_group.create":      s.Idempotency.Create("security_group.create", s.createGroup),
		"security_group.list":        s.listGroups,
		"security_group.get":         s.getGroup,
		"security_group.update":      s.updateGroup,
		"security_group.delete":      s.deleteGroup,
		"security_group_rule.create": s.Idempotency.Create("security_group_rule.create", s.createRule),
		"security_group_rule.delete": s.deleteRule,
	})
}

// now returns the time of the clock.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

type groupPlace struct{ account, project string }

// placeOf returns the project in the path.
func placeOf(r *wire.Request) groupPlace {
	return groupPlace{account: r.Params["accountId"], project: r.Params["projectId"]}
}

// values returns the values with which every index of groups begins, and more after them.
func (p groupPlace) values(more ...string) []store.Value {
	out := []store.Value{store.String(p.account), store.String(p.project)}
	for _, v := range more {
		out = append(out, store.String(v))
	}
	return out
}

// holds says whether the group belongs to the project.
func (p groupPlace) holds(g resources.SecurityGroup) bool {
	return g.AccountID == p.account && g.ProjectID == p.project
}

// checkCaller begins every change, since the transaction may have waited after the authentication
// of its caller.
func (s *Service) checkCaller(ctx context.Context, tx store.Tx, r *wire.Request) error {
	return s.CheckCaller(ctx, tx, r.Params["accountId"], r.Principal)
}

// enter is called by every transaction that makes a group or a rule in the project or deletes a group,
// so two of them conflict.
func (s *Service) enter(ctx context.Context, tx store.Tx, place groupPlace) error {
	return s.c.EnterProject(ctx, tx, resources.AreaFirewall, place.account, place.project, s.now())
}

// pathGroup reads the group in the path; 404 if the path's project does not have it.
func (s *Service) pathGroup(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[resources.SecurityGroup], error) {
	rec, err := s.c.SecurityGroups.Get(ctx, tx, r.Params["id"])
	if errors.Is(err, store.ErrNotFound) || err == nil && !placeOf(r).holds(rec.Value) {
		return store.Record[resources.SecurityGroup]{}, resources.NotFound("security group")
	}
	return rec, err
}

// groupBody is the response with one group.
type groupBody struct {
	Group   resources.SecurityGroup `json:"security_group"`
	Message string                  `json:"message"`
}

// doneBody is the response to a change that has nothing to show.
type doneBody struct {
	Message string `json:"message"`
}
