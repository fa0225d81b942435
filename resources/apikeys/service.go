package apikeys

import (
	"context"
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
}

// Config is what the area works with; every field is needed.
type Config struct {
	Store       store.Store
	Collections records.Collections
	Judge       Judge
	// Idempotency runs what creates.
	Idempotency *idempotency.Keeper
	// Keys makes keys and hashes them.
	Keys resources.APIKeys
	IDs  resources.IDs
	Now  func() time.Time
}

// Service holds the handlers of API keys.
type Service struct {
	Config
	c records.Collections
}

// New makes the area's handlers.
func New(cfg Config) *Service { return &Service{Config: cfg, c: cfg.Collections} }

// Routes are the area's handlers.
func (s *Service) Routes() wire.Routes {
	return wire.Named("apikeys", wire.Routes{
		"api_key.create": s.Idempotency.Create("api_key.create", s.creating),
		"api_key.list":   s.listKeys,
		"api_key.revoke": s.revokeKey,
	})
}

// now is the clock in the domain's form.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// place is whose keys a request is about.
type place struct{ account, user string }

func placeOf(r *wire.Request) place {
	return place{account: r.Params["account_id"], user: r.Params["user_id"]}
}

// keysOf asks for a user's keys in the account, newest first.
func keysOf(p place) store.Query {
	return store.Query{Index: records.ByUser, Equal: []store.Value{store.String(p.account), store.String(p.user)}}
}

// dataBody is the success of a request about keys (specification, "Errors", user service).
type dataBody[T any] struct {
	Success bool `json:"success"`
	Data    T    `json:"data"`
}

func bodyOf[T any](data T) dataBody[T] { return dataBody[T]{Success: true, Data: data} }
