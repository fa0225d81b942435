package clusters

import (
	"context"
	"math"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// The kinds of cluster, as claims name them.
const (
	kindKubernetes = "kubernetes"
	kindGPU        = "gpu"
)

// scanned is how many clusters of an account are looked at in one step.
const scanned = 100

// task is a cluster that has an intent and no live claim.
type task struct {
	kind, account, cluster string
	created                int64
}

// claimable is a kind of cluster, as claims see it.
type claimable interface {
	// schema is that of its records.
	schema() *store.Schema
	take(ctx context.Context, tx store.Tx, claim records.ClusterClaim) (claimBody, error)
	report(ctx context.Context, tx store.Tx, claim store.Record[records.ClusterClaim], r report) (reportBody, error)
}

// next returns the oldest task of the next account with tasks, in turn after the given account. It returns nil without
// any task.
func (s *Service) next(ctx context.Context, tx store.Tx, kinds []string, after string) (*task, error) {
	if free, err := s.anyFree(ctx, tx, kinds); err != nil || !free {
		return nil, err
	}
	place, wrapped := after, false
	for {
		account, err := s.accountAfter(ctx, tx, kinds, place)
		switch {
		case err != nil || wrapped && (account == "" || account > after):
			return nil, err
		case account == "":
			wrapped = true
		default:
			if t, err := s.oldest(ctx, tx, kinds, account); err != nil || t != nil {
				return t, err
			}
		}
		place = account
	}
}

// anyFree reports whether a cluster of any account has an intent and no live claim.
func (s *Service) anyFree(ctx context.Context, tx store.Tx, kinds []string) (bool, error) {
	for _, q := range queues(kinds) {
		first, err := tx.Scan(ctx, s.kinds[q.kind].schema(), store.Query{
			Index: records.ByLease, Equal: []store.Value{store.String(q.intent)}, Limit: 1,
		})
		if err != nil || len(first) > 0 && s.free(first[0].Values[0]) {
			return err == nil, err
		}
	}
	return false, nil
}

// free says whether a lease has ended by the clock of this process. Clocks that run apart make leases
// shorter or longer, and never two claims live at once: a report names its claim, and the cluster
// names the newest one.
func (s *Service) free(lease store.Value) bool { return lease.Number() <= int64(s.now()) }

// accountAfter returns the first account behind another one in which a cluster has an intent, "" for
// none.
func (s *Service) accountAfter(ctx context.Context, tx store.Tx, kinds []string, after string) (least string, err error) {
	for _, q := range queues(kinds) {
		query := store.Query{Index: records.ByIntent, Equal: []store.Value{store.String(q.intent)}, Limit: 1}
		if after != "" {
			last := store.Int(math.MaxInt64)
			query.After = &store.Cursor{Values: []store.Value{store.String(after), last, last}, Key: after}
		}
		first, err := tx.Scan(ctx, s.kinds[q.kind].schema(), query)
		if err != nil {
			return "", err
		}
		if len(first) > 0 && (least == "" || first[0].Values[0].Text() < least) {
			least = first[0].Values[0].Text()
		}
	}
	return least, nil
}

// oldest returns the oldest task of the account, nil if it has none. In a suspended account
// nothing is made.
func (s *Service) oldest(ctx context.Context, tx store.Tx, kinds []string, account string) (t *task, err error) {
	suspended, err := s.Suspended(ctx, tx, account)
	if err != nil {
		return nil, err
	}
	for _, q := range queues(kinds) {
		if suspended && q.intent == resources.IntentProvision {
			continue
		}
		one, err := s.oldestOf(ctx, tx, q, account)
		if err != nil {
			return nil, err
		}
		if one != nil && (t == nil || one.created < t.created) {
			t = one
		}
	}
	return t, nil
}

// oldestOf returns the oldest task of one kind and intent.
func (s *Service) oldestOf(ctx context.Context, tx store.Tx, claims queue, account string) (*task, error) {
	q := store.Query{Index: records.ByIntent, Equal: []store.Value{store.String(claims.intent), store.String(account)}, Limit: scanned}
	for {
		page, err := tx.Scan(ctx, s.kinds[claims.kind].schema(), q)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(page, func(c store.Cursor) bool { return s.free(c.Values[1]) }); i >= 0 {
			return &task{kind: claims.kind, account: account, cluster: page[i].Key, created: page[i].Values[0].Number()}, nil
		}
		if len(page) < scanned {
			return nil, nil
		}
		q.After = &page[len(page)-1]
	}
}

// queue is the tasks of one kind and intent.
type queue struct{ kind, intent string }

// queues returns the queues of those kinds.
func queues(kinds []string) (all []queue) {
	for _, kind := range kinds {
		all = append(all, queue{kind, resources.IntentProvision}, queue{kind, resources.IntentDelete})
	}
	return all
}

// schema implements claimable.
func (k kind[T]) schema() *store.Schema { return k.records.Schema() }

// take implements claimable.
func (k kind[T]) take(ctx context.Context, tx store.Tx, claim records.ClusterClaim) (claimBody, error) {
	rec, err := k.records.Get(ctx, tx, claim.ClusterID)
	if err != nil {
		return claimBody{}, err
	}
	h := k.head(&rec.Value)
	state := resources.ClusterStateOf(k.status, *h.status)
	if next := k.status(claimed(state)); next != *h.status {
		*h.status, *h.updatedAt = next, k.s.now()
	}
	*h.task = resources.ClusterTask{ClaimID: claim.ID, Attempt: h.task.Attempt + 1, LeaseUntil: claim.LeaseUntil}
	return claimBody{
		ID: claim.ID, Kind: claim.Kind, Intent: state.Intent(), Cluster: k.shown(rec.Value), Spec: k.spec(rec.Value),
		Attempt: h.task.Attempt, LeaseUntil: claim.LeaseUntil,
	}, k.records.Replace(ctx, tx, rec)
}
