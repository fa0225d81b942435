package access

import (
	"context"
	"errors"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// approvalBody is the response with one approval.
type approvalBody struct {
	Approval resources.Approval `json:"approval"`
}

// approvalList is the response of approval.list.
type approvalList struct {
	Approvals []resources.Approval `json:"approvals"`
	listMeta
}

// decides says what routes of approvals do, for refusals.
const decides = "reads and decides approvals"

// listApprovals answers approval.list (N27): the unexpired ones of the caller, in the order of creation.
func (s *Service) listApprovals(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := ownByToken(r, decides); err != nil {
		return wire.Response{}, err
	}
	account, user, now := r.Params["accountId"], pathUser(r), s.now()
	var p wire.Problems
	query := r.ParseQuery(&p)
	status := query.OneOf("status", "", resources.ApprovalPending, resources.ApprovalApproved, resources.ApprovalDenied, resources.ApprovalUsed)
	q := store.Query{Index: records.ByUser, Equal: []store.Value{store.String(account), store.String(user)}}
	if status != "" {
		q.Index, q.Equal = records.ByStatus, append(q.Equal, store.String(status))
	}
	all := records.Unexpired(q, now)
	q = all
	q.Limit = query.PageSize()
	bound := binding("approval.list", account, user, status)
	query.PageToken(s.Tokens, bound, q.From)
	query.Done()
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	var out approvalList
	err := s.Store.View(ctx, func(tx store.Tx) error {
		open, err := tx.Scan(ctx, s.c.Approvals.Schema(), all)
		if err != nil {
			return err
		}
		recs, next, err := s.c.Approvals.Page(ctx, tx, q)
		if err != nil {
			return err
		}
		out = approvalList{Approvals: make([]resources.Approval, 0, len(recs)), listMeta: listMeta{TotalCount: len(open)}}
		for _, rec := range recs {
			if now < rec.Value.ExpiresAt { // a page token may be older
				out.Approvals = append(out.Approvals, rec.Value)
			}
		}
		if next != nil {
			out.NextPageToken = s.Tokens.Seal(next.Marshal(), bound)
		}
		return nil
	})
	return wire.Answer(out, err)
}

// getApproval answers approval.get (N27).
func (s *Service) getApproval(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := ownByToken(r, decides); err != nil {
		return wire.Response{}, err
	}
	return read(ctx, s, r, s.pathApproval, func(one resources.Approval) any { return approvalBody{one} })
}

// updateApproval answers approval.update (N27): the user's decision. There is one decision about a request.
func (s *Service) updateApproval(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := ownByToken(r, decides); err != nil {
		return wire.Response{}, err
	}
	var p wire.Problems
	noQuery(r, &p)
	body := r.ParseObject(&p)
	status := body.Required("status")
	if decisions := []string{resources.ApprovalApproved, resources.ApprovalDenied}; status != "" && !slices.Contains(decisions, status) {
		body.Add("status", "must be one of APPROVED, DENIED")
	}
	body.Done()
	var decided resources.Approval
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if err := s.beginOwn(ctx, tx, r); err != nil {
			return err
		}
		if err := p.Err(); err != nil {
			return err
		}
		rec, err := s.pathApproval(ctx, tx, r)
		if err != nil {
			return err
		}
		if rec.Value.Status != resources.ApprovalPending {
			return resources.Conflict("The request has been decided already: it is %s.", rec.Value.Status)
		}
		if status == resources.ApprovalDenied {
			rec.Value = rec.Value.WithoutArguments()
		}
		rec.Value.Status, rec.Value.DecidedBy = status, r.Principal.ID
		decided = rec.Value
		return s.c.Approvals.Replace(ctx, tx, rec)
	})
	return wire.Answer(approvalBody{decided}, err)
}

// pathApproval reads the approval of the path. It returns 404 for one of another user, and for an expired one.
func (s *Service) pathApproval(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[resources.Approval], error) {
	rec, err := s.c.Approvals.Get(ctx, tx, r.Params["approvalId"])
	a := rec.Value
	if errors.Is(err, store.ErrNotFound) || err == nil && (a.AccountID != r.Params["accountId"] || a.UserID != pathUser(r) || s.now() >= a.ExpiresAt) {
		return store.Record[resources.Approval]{}, resources.NotFound("approval")
	}
	return rec, err
}
