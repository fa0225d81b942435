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

// Quotas where nothing else is set (API contract, E1).
const (
	DefaultMaxGroups = 100
	DefaultMaxRules  = 200
)

// Config is what the area works with; every field is needed.
type Config struct {
	Store       store.Store
	Collections records.Collections
	// CheckCaller refuses, in the transaction of a change in the account, a caller whose
	// credential is not valid any more.
	CheckCaller func(ctx context.Context, tx store.Tx, account string, caller resources.Principal) error
	Tokens      wire.PageTokens
	// Idempotency runs what creates.
	Idempotency *idempotency.Keeper
	IDs         resources.IDs
	Now         func() time.Time
	// MaxGroups is how many groups a project may have, MaxRules how many rules a group;
	// what is past them stays and grows no further.
	MaxGroups int
	MaxRules  int
}

// Service holds the handlers of security groups.
type Service struct {
	Config
	c records.Collections
}

// New makes the area's handlers.
func New(cfg Config) *Service { return &Service{Config: cfg, c: cfg.Collections} }

// Routes are the area's handlers.
func (s *Service) Routes() wire.Routes {
	return wire.Named("firewall", wire.Routes{
		"security_group.create":      s.Idempotency.Create("security_group.create", s.createGroup),
		"security_group.list":        s.listGroups,
		"security_group.get":         s.getGroup,
		"security_group.update":      s.patchGroup,
		"security_group.delete":      s.deleteGroup,
		"security_group_rule.create": s.Idempotency.Create("security_group_rule.create", s.createRule),
		"security_group_rule.delete": s.deleteRule,
	})
}

// now is the clock in the domain's form.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// place is the project that a request is about.
type place struct{ account, project string }

func placeOf(r *wire.Request) place {
	return place{account: r.Params["accountId"], project: r.Params["projectId"]}
}

// values are the place's columns, with which every index of groups begins.
func (p place) values(more ...string) []store.Value {
	out := []store.Value{store.String(p.account), store.String(p.project)}
	for _, v := range more {
		out = append(out, store.String(v))
	}
	return out
}

// holds says whether the group is one of the place.
func (p place) holds(g resources.SecurityGroup) bool {
	return g.AccountID == p.account && g.ProjectID == p.project
}

// checkCaller begins every change: it may have waited in line since its caller was
// authenticated.
func (s *Service) checkCaller(ctx context.Context, tx store.Tx, r *wire.Request) error {
	return s.CheckCaller(ctx, tx, r.Params["accountId"], r.Principal)
}

// enter is called in every transaction that makes something in the project or takes a
// group away: no two of them run at once.
func (s *Service) enter(ctx context.Context, tx store.Tx, at place) error {
	return s.c.EnterProject(ctx, tx, resources.AreaFirewall, at.account, at.project, s.now())
}

// pathGroup reads the group in the path; one that is deleted, or another project's, is
// answered like none.
func (s *Service) pathGroup(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[resources.SecurityGroup], error) {
	rec, err := s.c.SecurityGroups.Get(ctx, tx, r.Params["id"])
	if errors.Is(err, store.ErrNotFound) || err == nil && !placeOf(r).holds(rec.Value) {
		return store.Record[resources.SecurityGroup]{}, resources.NotFound("security group")
	}
	return rec, err
}

// groupBody is what one group is answered in.
type groupBody struct {
	Group   resources.SecurityGroup `json:"security_group"`
	Message string                  `json:"message"`
}

// doneBody is the answer of what has nothing to show.
type doneBody struct {
	Message string `json:"message"`
}
