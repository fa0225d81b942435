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

// Config holds what the handlers work with. Every field is required.
type Config struct {
	Store       store.Store
	Collections records.Collections
	// Judge decides by policy whether the caller may do the action. Handlers call it inside a transaction, so it must not
	// wait for callers that may wait for the transaction.
	Judge func(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Idempotency runs the creating handler.
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

// New makes the handlers of the area.
func New(cfg Config) *Service { return &Service{Config: cfg, c: cfg.Collections} }

// Routes returns the handlers of the area.
func (s *Service) Routes() wire.Routes {
	return wire.Named("apikeys", wire.Routes{
		"api_key.create": s.Idempotency.Create("api_key.create", s.createKey),
		"api_key.list":   s.listKeys,
		"api_key.revoke": s.revokeKey,
	})
}

// now returns the time of the clock.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// keyOwner is the account and the user whose keys a request is about.
type keyOwner struct{ account, user string }

// placeOf returns the place in the path.
func placeOf(r *wire.Request) keyOwner {
	return keyOwner{account: r.Params["account_id"], user: r.Params["user_id"]}
}

// keysOf returns the query for the keys of the user, newest first.
func keysOf(p keyOwner) store.Query {
	return store.Query{Index: records.ByUser, Equal: []store.Value{store.String(p.account), store.String(p.user)}}
}

// dataBody is a response about keys (specification, "Errors", user service).
type dataBody[T any] struct {
	Success bool `json:"success"`
	Data    T    `json:"data"`
}

// bodyOf returns the response with the data.
func bodyOf[T any](data T) dataBody[T] { return dataBody[T]{Success: true, Data: data} }
