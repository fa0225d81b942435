package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// maxRemoved bounds the old records that a new one deletes.
const maxRemoved = 16

// Recorder writes records. Every field is required.
type Recorder struct {
	Collections records.Collections
	Shown       Shown
	// Action returns the action of a route of the catalogue, "" for none.
	Action func(route string) string
	IDs    resources.IDs
	Now    func() time.Time
	// Retention is how long a record is kept; 0 is for ever.
	Retention time.Duration
}

// Wrap returns the store for the areas: each of its transactions leaves its record.
func (r *Recorder) Wrap(s store.Store) store.Store {
	return &recorded{Store: s, recorder: r, kinds: r.kinds()}
}

type recorded struct {
	store.Store
	recorder *Recorder
	kinds    map[string]kind
}

// Transact implements store.Store.
func (s *recorded) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Transact(ctx, func(tx store.Tx) error {
		w := watch(tx, s.kinds)
		if err := fn(w); err != nil {
			return err
		}
		return s.recorder.record(ctx, tx, w.written)
	})
}

// record writes the record of what was written, if it changed anything.
func (r *Recorder) record(ctx context.Context, tx store.Tx, written []*write) error {
	attribution := attributionOf(ctx)
	changed, err := r.changed(written, attribution.route)
	if err != nil || len(changed) == 0 {
		return err
	}
	account := cmp.Or(changed[0].after.account, changed[0].before.account)
	id := r.IDs.New(resources.PrefixChange)
	made, _ := resources.MadeAt(resources.PrefixChange, id) // by it readers find the record
	c := resources.Change{
		ID: id, At: made, AccountID: account,
		Actor: attribution.actor, RequestID: attribution.requestID, Action: r.action(attribution.route),
		Subject: resources.ChangeSubject{Type: changed[0].kind.name, ID: cmp.Or(changed[0].after.id, changed[0].before.id)},
	}
	if c.Before, err = side(changed, account, func(d difference) item { return d.before }); err != nil {
		return err
	}
	if c.After, err = side(changed, account, func(d difference) item { return d.after }); err != nil {
		return err
	}
	if c.AccountRevision, err = tx.Bump(ctx, account); err != nil { // which an area has done already
		return err
	}
	number, err := r.Collections.Changes.Count(ctx, tx, store.Query{
		Index: records.ByAccount, Equal: []store.Value{store.String(account), store.Int(c.AccountRevision)},
	})
	if err != nil {
		return err
	}
	c.Number = int64(number)
	if err := r.removeOld(ctx, tx, account); err != nil {
		return err
	}
	return r.Collections.InsertChange(ctx, tx, c)
}

// removeOld deletes the oldest records of the account, at most maxRemoved that are too old.
func (r *Recorder) removeOld(ctx context.Context, tx store.Tx, account string) error {
	if r.Retention == 0 {
		return nil
	}
	old, err := r.Collections.Changes.Find(ctx, tx, store.Query{
		Index: records.ByAccount, Equal: []store.Value{store.String(account)}, Limit: maxRemoved,
	})
	if err != nil {
		return err
	}
	for _, rec := range old {
		if rec.Value.At >= Horizon(r.Now(), r.Retention) {
			break
		}
		if err := r.Collections.DeleteChange(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}

// Horizon returns the time before which records are removed.
func Horizon(now time.Time, retention time.Duration) resources.Time {
	if retention == 0 {
		return 0
	}
	return resources.At(now.Add(-retention))
}

// difference is a record of the store that a transaction has changed, as the API shows it.
type difference struct {
	kind          kind
	before, after item
}

// changed returns what was changed in the eyes of the API, the subject of the route first.
func (r *Recorder) changed(written []*write, route string) ([]difference, error) {
	var out []difference
	for _, w := range written {
		before, err := w.kind.read(w.before)
		if err != nil {
			return nil, err
		}
		after, err := w.kind.read(w.after)
		if err != nil {
			return nil, err
		}
		if before.account == after.account && before.same(after) {
			continue
		}
		out = append(out, difference{w.kind, before, after})
	}
	noun, _, _ := strings.Cut(route, ".")
	rank := func(d difference) int {
		if d.kind.name == strings.TrimSuffix(noun, "_profile") {
			return -1
		}
		return d.kind.rank
	}
	slices.SortStableFunc(out, func(a, b difference) int { return cmp.Compare(rank(a), rank(b)) })
	return out, nil
}

// side returns one side of a change: the subject, with lists of the account's other records of that
// side. It is nil if the account has none.
func side(changed []difference, account string, pick func(difference) item) (json.RawMessage, error) {
	var subject map[string]json.RawMessage
	rest := map[string][]json.RawMessage{}
	for _, d := range changed {
		one := pick(d)
		switch {
		case one.shown == nil || one.account != account:
		case subject == nil && d.kind.name == changed[0].kind.name:
			if err := json.Unmarshal(one.shown, &subject); err != nil {
				return nil, err
			}
		default:
			rest[d.kind.name+"s"] = append(rest[d.kind.name+"s"], one.shown)
		}
	}
	if subject == nil && len(rest) == 0 {
		return nil, nil
	}
	if subject == nil {
		subject = map[string]json.RawMessage{}
	}
	for name, list := range rest {
		raw, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		subject[name] = raw
	}
	return json.Marshal(subject)
}
