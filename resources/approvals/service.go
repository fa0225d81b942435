package approvals

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// maxExpired bounds the expired records that a new one deletes.
const maxExpired = 16

// Service keeps requests and uses up approvals. Every field is required.
type Service struct {
	Store       store.Store
	Collections records.Collections
	IDs         resources.IDs
}

// Use uses up the approval of a call. The result is ApprovalUsed for a call that may go on. Otherwise it is the user's
// request about the same call, made now if there is none: ApprovalPending or ApprovalDenied. It has no id if the user has
// MaxOpenApprovals open requests, or MaxOpenOfClient of this client. call has no id, agent, status and times.
func (s *Service) Use(ctx context.Context, call resources.Approval) (out resources.Approval, err error) {
	for range 2 { // another process may make the same request meanwhile
		err = s.Store.Transact(ctx, func(tx store.Tx) (err error) {
			out, err = s.use(ctx, tx, call)
			return err
		})
		if !store.IsDuplicate(err, records.ByCall) {
			break
		}
	}
	if err != nil {
		return resources.Approval{}, err
	}
	return out, nil
}

func (s *Service) use(ctx context.Context, tx store.Tx, call resources.Approval) (resources.Approval, error) {
	if err := s.addAgent(ctx, tx, &call); err != nil {
		return resources.Approval{}, err
	}
	now := resources.At(s.IDs.Now())
	rec, err := store.Lookup(s.Collections.Approvals.First(ctx, tx, store.Query{
		Index: records.ByCall, Equal: []store.Value{store.String(records.ApprovalCall(&call))},
	}))
	if err != nil {
		return resources.Approval{}, err
	}
	switch {
	case rec == nil:
		return s.request(ctx, tx, call, now)
	case now >= rec.Value.ExpiresAt:
		if err := s.Collections.Approvals.Delete(ctx, tx, *rec); err != nil {
			return resources.Approval{}, err
		}
		return s.request(ctx, tx, call, now)
	case rec.Value.Status == resources.ApprovalApproved:
		rec.Value = rec.Value.WithoutArguments()
		rec.Value.Status = resources.ApprovalUsed
		return rec.Value, s.Collections.Approvals.Replace(ctx, tx, *rec)
	}
	return rec.Value, nil
}

// Pending reports whether a user's request in an account awaits their decision. An unknown or expired one does not.
func (s *Service) Pending(ctx context.Context, account, user, id string) (pending bool, err error) {
	err = s.Store.View(ctx, func(tx store.Tx) error {
		rec, err := store.Lookup(s.Collections.Approvals.Get(ctx, tx, id))
		if err != nil || rec == nil {
			return err
		}
		a := rec.Value
		pending = a.AccountID == account && a.UserID == user && a.Status == resources.ApprovalPending && resources.At(s.IDs.Now()) < a.ExpiresAt
		return nil
	})
	return pending && err == nil, err
}

// addAgent sets the account's agent with the client of the call.
func (s *Service) addAgent(ctx context.Context, tx store.Tx, call *resources.Approval) error {
	if call.Client == (resources.AgentClient{}) {
		return nil
	}
	client, err := store.Lookup(s.Collections.AgentClients.Get(ctx, tx, records.AgentClientID(call.AccountID, call.Client)))
	if err != nil || client == nil {
		return err
	}
	agent, err := store.Lookup(s.Collections.Agents.Get(ctx, tx, client.Value.AgentID))
	if err != nil || agent == nil {
		return err
	}
	call.AgentID, call.AgentName = agent.Value.ID, agent.Value.Name
	return nil
}

// request stores a request, unless the user has too many. Transactions that run at the same time may exceed the limit by
// their number.
func (s *Service) request(ctx context.Context, tx store.Tx, call resources.Approval, now resources.Time) (resources.Approval, error) {
	if err := s.deleteExpired(ctx, tx, now); err != nil {
		return resources.Approval{}, err
	}
	open, err := s.Collections.Approvals.Find(ctx, tx, records.Unexpired(store.Query{
		Index: records.ByStatus, Equal: []store.Value{store.String(call.AccountID), store.String(call.UserID), store.String(resources.ApprovalPending)},
		Limit: resources.MaxOpenApprovals,
	}, now))
	ofClient := 0
	for _, rec := range open {
		if rec.Value.Client == call.Client {
			ofClient++
		}
	}
	if err != nil || len(open) >= resources.MaxOpenApprovals || ofClient >= resources.MaxOpenOfClient {
		return resources.Approval{}, err
	}
	call.ID, call.Status = s.IDs.New(resources.PrefixApproval), resources.ApprovalPending
	call.CreatedAt, call.ExpiresAt = now, now+resources.Time(resources.ApprovalLife.Milliseconds())
	return call, s.Collections.Approvals.Insert(ctx, tx, call)
}

// deleteExpired deletes the oldest expired records, at most maxExpired.
func (s *Service) deleteExpired(ctx context.Context, tx store.Tx, now resources.Time) error {
	old, err := s.Collections.Approvals.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: maxExpired})
	if err != nil {
		return err
	}
	for _, rec := range old {
		if now < rec.Value.ExpiresAt {
			break
		}
		if err := s.Collections.Approvals.Delete(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}
