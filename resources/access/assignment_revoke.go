package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// revokeAssignment answers role_assignment.revoke (E7).
func (s *Service) revokeAssignment(ctx context.Context, r *wire.Request) (wire.Response, error) {
	revoked, err := readRevocation(r)
	if err != nil {
		return wire.Response{}, err
	}
	err = s.changeRoles(ctx, r, "account:role_assignment:delete", func(tx store.Tx, _ resources.Facts) error {
		rec, err := store.Lookup(s.c.Assignments.Get(ctx, tx, records.AssignmentID(revoked)))
		if err != nil {
			return err
		}
		if rec == nil {
			return resources.NotFound(nounRoleAssignment)
		}
		change := records.RoleChange{AccountID: revoked.AccountID, Caller: r.Principal, Now: s.now(), RoleIDs: []string{revoked.RoleID}}
		return s.c.KeepAdmins(ctx, tx, change, func() error {
			return s.c.Assignments.Delete(ctx, tx, *rec)
		})
	})
	return done("The role assignment is revoked.", err)
}

// readRevocation reads which assignment role_assignment.revoke deletes.
func readRevocation(r *wire.Request) (resources.Assignment, error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	a := resources.Assignment{
		AccountID: r.Params["accountId"], RoleID: r.Params["roleId"], AssigneeID: r.Params["assigneeId"],
		AssigneeType: q.OneOf("assigneeType", resources.AssigneeUser, resources.AssigneeTypes()...),
		ProjectID:    q.ID("projectId"), ResourceID: q.Text("resourceId"),
	}
	if a.ResourceID != "" && !validResource(a.ResourceID) {
		p.Add("resourceId", resourceForm)
	}
	q.Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done() // an empty object is fine
	}
	return a, p.Err()
}
