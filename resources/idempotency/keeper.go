package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	// lifetime is how long a stored response answers repeated requests.
	lifetime = 24 * time.Hour
	// maxExpired bounds how many expired responses are deleted with each new one.
	maxExpired = 16
	// maxKey bounds the value of the header in bytes.
	maxKey = 255
)

// Commit is the second step of a creating handler: it makes the change and the response in a
// transaction. It runs again when the transaction does.
type Commit func(ctx context.Context, tx store.Tx) (wire.Response, error)

// Creating is the first step of a creating handler: it reads a request and returns its change; 400 for a wrong request.
type Creating func(ctx context.Context, r *wire.Request) (Commit, error)

// Keeper runs creating handlers and stores their responses. It is safe for concurrent use.
type Keeper struct {
	store   store.Store
	answers store.Collection[records.Answer]
	now     func() time.Time

	mu      sync.Mutex
	running map[string]bool // ids of the responses whose requests run in this process
}

// New makes a keeper on the store.
func New(s store.Store, c records.Collections, now func() time.Time) *Keeper {
	return &Keeper{store: s, answers: c.Answers, now: now, running: map[string]bool{}}
}

// Create returns the handler of a creating route. It runs each request in one transaction. For a
// request with an Idempotency-Key, it stores the response to the first success and replays it.
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
		return k.once(ctx, newAnswer(route, r), commit)
	}
}

// run runs the commit in a transaction.
func (k *Keeper) run(ctx context.Context, commit Commit) (response wire.Response, err error) {
	err = k.store.Transact(ctx, func(tx store.Tx) (err error) {
		response, err = commit(ctx, tx)
		return err
	})
	return response, err
}

// once runs the commit in a transaction and stores its response, or replays the stored response.
func (k *Keeper) once(ctx context.Context, want records.Answer, commit Commit) (response wire.Response, err error) {
	if !k.begin(want.ID) {
		return wire.Response{}, resources.Conflict("The first request with this Idempotency-Key is still running.")
	}
	defer k.end(want.ID)
	err = k.store.Transact(ctx, func(tx store.Tx) error {
		answer, err := k.find(ctx, tx, want.ID)
		if err != nil {
			return err
		}
		if answer != nil {
			response, err = replay(*answer, want)
			return err
		}
		if response, err = commit(ctx, tx); err != nil {
			return err
		}
		return k.put(ctx, tx, want, response)
	})
	if store.IsDuplicate(err, "") { // another replica has stored its response first
		err = resources.Conflict("The first request with this Idempotency-Key is still running.")
	}
	return response, err
}

// find reads a stored response, nil for none. It deletes an expired one.
func (k *Keeper) find(ctx context.Context, tx store.Tx, id string) (*records.Answer, error) {
	rec, err := store.Lookup(k.answers.Get(ctx, tx, id))
	if err != nil || rec == nil {
		return nil, err
	}
	if rec.Value.ExpiresAt <= resources.At(k.now()) {
		return nil, k.answers.Delete(ctx, tx, *rec)
	}
	return &rec.Value, nil
}

// replay returns the stored response. It refuses another request with the same key, and a response with a body shown
// once.
func replay(answer, want records.Answer) (wire.Response, error) {
	if answer.Request != want.Request {
		return wire.Response{}, resources.Conflict("This Idempotency-Key was used for another request; use a new one.")
	}
	if answer.Body == "" {
		return wire.Response{}, resources.Conflict(
			"This was done already, and what it made is shown once only: its id is %s. To have another one, use a new Idempotency-Key.", answer.Made)
	}
	return wire.Response{Status: answer.Status, Body: json.RawMessage(answer.Body)}, nil
}

// put stores a response. For a body shown once it stores the id of the new record instead.
func (k *Keeper) put(ctx context.Context, tx store.Tx, want records.Answer, response wire.Response) error {
	if err := k.deleteExpired(ctx, tx); err != nil {
		return err
	}
	want.Status, want.Made = response.Status, response.ShownOnce
	want.ExpiresAt = resources.At(k.now().Add(lifetime))
	if response.ShownOnce == "" {
		body, err := wire.Render(response.Body)
		if err != nil {
			return err
		}
		want.Body = string(body)
	}
	return k.answers.Insert(ctx, tx, want)
}

// deleteExpired deletes the oldest expired responses, at most maxExpired of them.
func (k *Keeper) deleteExpired(ctx context.Context, tx store.Tx) error {
	old, err := k.answers.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: maxExpired})
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

// begin notes the running request, and returns false if it runs already.
func (k *Keeper) begin(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running[id] {
		return false
	}
	k.running[id] = true
	return true
}

// end notes the end of the request.
func (k *Keeper) end(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.running, id)
}

// newAnswer returns the id of the response and the digest of the request. The id is made of the
// caller, the account of their credential and the key, so one key of a caller names one request.
func newAnswer(route string, r *wire.Request) records.Answer {
	return records.Answer{
		ID:      digest(r.Principal.Kind, r.Principal.ID, r.Principal.AccountID, r.IdempotencyKey),
		Request: digest(route, r.Path, r.Query, string(r.Body)),
	}
}

// digest returns the SHA-256 of the parts with their lengths, so different lists of parts have
// different digests.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkKey refuses a key of more than 255 characters, or with other characters than visible ASCII. An empty one means
// no key, and passes.
func checkKey(key string) error {
	if len(key) > maxKey {
		return resources.BadRequest(resources.Problem{Field: "Idempotency-Key", Text: "must be at most 255 characters"})
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return resources.BadRequest(resources.Problem{Field: "Idempotency-Key", Text: "must have visible ASCII characters only"})
		}
	}
	return nil
}
