package store

import "github.com/portcullis-authz/portcullis/resources"

// KeyUse is when an API key was last used. It stands apart from the key, so that a
// use never competes with a change, and moves no revision.
type KeyUse struct {
	KeyID      string         `json:"key_id"`
	LastUsedAt resources.Time `json:"last_used_at"`
}

// Answer is the kept success of a request with an Idempotency-Key (API contract, 6).
type Answer struct {
	// ID names caller, its account and key, by a hash.
	ID string `json:"id"`
	// Request is a hash of route, path, query and body.
	Request string `json:"request"`
	Status  int    `json:"status"`
	// Body is the answer; "" for one that is shown once, of which Made names what it made.
	Body      string         `json:"body,omitempty"`
	Made      string         `json:"made,omitempty"`
	ExpiresAt resources.Time `json:"expires_at"`
}

// Seal says with which master key the secrets in the store were made.
type Seal struct {
	// ID is SealID: there is one.
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
}

// SealID is the key of the one Seal.
const SealID = "master_key"

func seals() Collection[Seal] {
	return NewCollection(Schema{Name: "seals"}, func(s *Seal) string { return s.ID }, func(*Seal) []Value { return nil })
}

func apiKeys() Collection[resources.APIKey] {
	return NewCollection(Schema{
		Name:    "api_keys",
		Columns: append(text("account", "user_id"), createdColumn()),
		Indexes: []Index{{Name: ByUser, Columns: []string{"account", "user_id", "created"}, Descending: true}},
	}, func(k *resources.APIKey) string { return k.ID }, func(k *resources.APIKey) []Value {
		return []Value{String(k.AccountID), String(k.UserID), created(k.CreatedAt)}
	})
}

func keyUses() Collection[KeyUse] {
	return NewCollection(Schema{Name: "api_key_uses"},
		func(u *KeyUse) string { return u.KeyID }, func(*KeyUse) []Value { return nil })
}

func outbox() Collection[resources.Message] {
	return NewCollection(Schema{
		Name:    "outbox",
		Columns: append(text("state"), Column{Name: "next", Kind: KindInt}),
		Indexes: []Index{{Name: ByDue, Columns: []string{"state", "next"}}},
	}, func(m *resources.Message) string { return m.ID }, func(m *resources.Message) []Value {
		return []Value{String(m.State), Int(int64(m.NextAt))}
	})
}

func answers() Collection[Answer] {
	return NewCollection(Schema{
		Name:    "idempotency",
		Columns: []Column{{Name: "expires", Kind: KindInt}},
		Indexes: []Index{{Name: ByExpiry, Columns: []string{"expires"}}},
	}, func(a *Answer) string { return a.ID }, func(a *Answer) []Value {
		return []Value{Int(int64(a.ExpiresAt))}
	})
}
