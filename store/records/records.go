package records

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// KeyUse is when an API key was last used. It is apart from the key: a use conflicts with no change, and moves no
// revision.
type KeyUse struct {
	KeyID      string         `json:"key_id"`
	LastUsedAt resources.Time `json:"last_used_at"`
}

// Answer is the stored success of a request with an Idempotency-Key (API contract, 6).
type Answer struct {
	// ID is a hash of the caller, its account and the key.
	ID string `json:"id"`
	// Request is a hash of route, path, query and body.
	Request string `json:"request"`
	Status  int    `json:"status"`
	// Body is the body of the answer, "" for a body shown once; Made is the id of the new record.
	Body      string         `json:"body,omitempty"`
	Made      string         `json:"made,omitempty"`
	ExpiresAt resources.Time `json:"expires_at"`
}

// Seal is the fingerprint of the master key of the secrets in the store.
type Seal struct {
	// ID is SealID: there is one seal.
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
}

// SealID is the key of the one Seal.
const SealID = "master_key"

func seals() store.Collection[Seal] {
	return store.NewCollection(store.Schema{Name: "seals"}, func(s *Seal) string { return s.ID }, func(*Seal) []store.Value { return nil })
}

// Copy marks an unfinished copy of another store. No gateway serves it.
type Copy struct {
	// ID is CopyID: a store is a copy of one other store.
	ID string `json:"id"`
	// Source names the copied store.
	Source string `json:"source"`
}

// CopyID is the key of the one Copy.
const CopyID = "unfinished"

func copies() store.Collection[Copy] {
	return store.NewCollection(store.Schema{Name: "copies"}, func(c *Copy) string { return c.ID }, func(*Copy) []store.Value { return nil })
}

func apiKeys() store.Collection[resources.APIKey] {
	return store.NewCollection(store.Schema{
		Name:    "api_keys",
		Columns: append(text("account", "user_id"), createdColumn()),
		Indexes: []store.Index{{Name: ByUser, Columns: []string{"account", "user_id", "created"}, Descending: true}},
	}, func(k *resources.APIKey) string { return k.ID }, func(k *resources.APIKey) []store.Value {
		return []store.Value{store.String(k.AccountID), store.String(k.UserID), created(k.CreatedAt)}
	})
}

func keyUses() store.Collection[KeyUse] {
	return store.NewCollection(store.Schema{Name: "api_key_uses"}, func(u *KeyUse) string { return u.KeyID }, func(*KeyUse) []store.Value { return nil })
}

func outbox() store.Collection[resources.Message] {
	return store.NewCollection(store.Schema{
		Name:    "outbox",
		Columns: append(text("state"), store.Column{Name: "next", Kind: store.KindInt}),
		Indexes: []store.Index{{Name: ByDue, Columns: []string{"state", "next"}}},
	}, func(m *resources.Message) string { return m.ID }, func(m *resources.Message) []store.Value {
		return []store.Value{store.String(m.State), store.Int(int64(m.NextAt))}
	})
}

func answers() store.Collection[Answer] {
	return store.NewCollection(store.Schema{
		Name:    "idempotency",
		Columns: []store.Column{{Name: "expires", Kind: store.KindInt}},
		Indexes: []store.Index{{Name: ByExpiry, Columns: []string{"expires"}}},
	}, func(a *Answer) string { return a.ID }, func(a *Answer) []store.Value {
		return []store.Value{store.Int(int64(a.ExpiresAt))}
	})
}
