package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	// kept is how long an answer is given again.
	kept = 24 * time.Hour
	// sweep is how many ended answers go with each new one.
	sweep = 16
	// maxKey bounds the header's value.
	maxKey = 255
)

// Commit makes the change and its answer, inside a transaction; it may run again.
type Commit func(ctx context.Context, tx store.Tx) (wire.Response, error)

// Creating reads a request (400) and gives what is to be committed.
type Creating func(ctx context.Context, r *wire.Request) (Commit, error)

// Keeper runs creating handlers.
type Keeper struct {
	store   store.Store
	answers store.Collection[records.Answer]
	now     func() time.Time

	mu      sync.Mutex
	running map[string]bool
}

// New makes a keeper on the store.
func New(s store.Store, c records.Collections, now func() time.Time) *Keeper {
	return &Keeper{store: s, answers: c.Answers, now: now, running: map[string]bool{}}
}

// Create makes a handler of a creating request. Without the header it is one
// transaction; with it, the first success is kept in that transaction and given again.
func (k *Keeper) Create(route string, creating Creating) wire.Handler {
	return func(ctx context.Context, r *wire.Request) (wire.Response, error) {
		if err := checkKey(r.IdempotencyKey); err != nil {
			return wire.Response{}, err
		}
		commit, err := creating(ctx, r)
		if err != nil {
			return wire.Response{}, err
		}
		if r.IdempotencyKey == "" {
			return k.run(ctx, commit)
		}
		return k.once(ctx, answerOf(route, r), commit)
	}
}

func (k *Keeper) run(ctx context.Context, commit Commit) (response wire.Response, err error) {
	err = k.store.Transact(ctx, func(tx store.Tx) (err error) {
		response, err = commit(ctx, tx)
		return err
	})
	return response, err
}

// once commits unless the same was committed before.
func (k *Keeper) once(ctx context.Context, want records.Answer, commit Commit) (response wire.Response, err error) {
	if !k.begin(want.ID) {
		return wire.Response{}, resources.Conflict("The first request with this Idempotency-Key is still running.")
	}
	defer k.end(want.ID)
	err = k.store.Transact(ctx, func(tx store.Tx) error {
		known, err := k.known(ctx, tx, want)
		if err != nil || known != nil {
			if known != nil {
				response, err = replay(*known, want)
			}
			return err
		}
		if response, err = commit(ctx, tx); err != nil {
			return err
		}
		return k.keep(ctx, tx, want, response)
	})
	if store.IsDuplicate(err, "") { // another replica was first
		err = resources.Conflict("The first request with this Idempotency-Key is still running.")
	}
	return response, err
}

// known is the kept answer, nil where there is none that still holds.
func (k *Keeper) known(ctx context.Context, tx store.Tx, want records.Answer) (*records.Answer, error) {
	rec, err := k.answers.Get(ctx, tx, want.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if rec.Value.ExpiresAt <= resources.At(k.now()) {
		return nil, k.answers.Delete(ctx, tx, rec)
	}
	return &rec.Value, nil
}

// replay gives a kept answer again.
func replay(known, want records.Answer) (wire.Response, error) {
	if known.Request != want.Request {
		return wire.Response{}, resources.Conflict("This Idempotency-Key was used for another request; use a new one.")
	}
	if known.Body == "" {
		return wire.Response{}, resources.Conflict(
			"This was done already, and what it made is shown once only: its id is %s. To have another one, use a new Idempotency-Key.", known.Made)
	}
	return wire.Response{Status: known.Status, Body: json.RawMessage(known.Body)}, nil
}

// keep stores a success; of one that is shown once, only what it made.
func (k *Keeper) keep(ctx context.Context, tx store.Tx, want records.Answer, response wire.Response) error {
	if err := k.sweep(ctx, tx); err != nil {
		return err
	}
	want.Status, want.Made = response.Status, response.ShownOnce
	want.ExpiresAt = resources.At(k.now().Add(kept))
	if response.ShownOnce == "" {
		body, err := wire.Render(response.Body)
		if err != nil {
			return err
		}
		want.Body = string(body)
	}
	return k.answers.Insert(ctx, tx, want)
}

// sweep removes some of the answers that have ended.
func (k *Keeper) sweep(ctx context.Context, tx store.Tx) error {
	old, err := k.answers.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: sweep})
	if err != nil {
		return err
	}
	for _, rec := range old {
		if rec.Value.ExpiresAt > resources.At(k.now()) {
			break
		}
		if err := k.answers.Delete(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) begin(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running[id] {
		return false
	}
	k.running[id] = true
	return true
}

func (k *Keeper) end(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.running, id)
}

// answerOf names the answer by caller, credential's account and key: a caller has one
// request for a key, and anything else with it is another request.
func answerOf(route string, r *wire.Request) records.Answer {
	return records.Answer{
		ID:      digest(r.Principal.Kind, r.Principal.ID, r.Principal.AccountID, r.IdempotencyKey),
		Request: digest(route, r.Path, r.Query, string(r.Body)),
	}
}

// digest hashes its parts so that no two lists of parts share a hash.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkKey holds the header to 1 to 255 visible ASCII characters.
func checkKey(key string) error {
	if len(key) > maxKey {
		return resources.BadRequest(resources.Problem{Field: "Idempotency-Key", Text: "must be at most 255 characters"})
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return resources.BadRequest(resources.Problem{Field: "Idempotency-Key", Text: "must be visible ASCII characters"})
		}
	}
	return nil
}
