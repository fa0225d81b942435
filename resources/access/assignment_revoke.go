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
	gone, err := readRevocation(r)
	if err != nil {
		return wire.Response{}, err
	}
	err = s.changeRoles(ctx, r, "account:role_assignment:delete", func(tx store.Tx, _ resources.Facts) error {
		rec, err := store.Lookup(s.c.Assignments.Get(ctx, tx, records.AssignmentID(gone)))
		if err != nil {
			return err
		}
		if rec == nil {
			return resources.NotFound(nounRoleAssignment)
		}
		of := records.RoleChange{AccountID: gone.AccountID, Caller: r.Principal, Now: s.now(), RoleIDs: []string{gone.RoleID}}
		return s.c.KeepAdmins(ctx, tx, of, func() error {
			return s.c.Assignments.Delete(ctx, tx, *rec)
		})
	})
	if err != nil {
		return wire.Response{}, err
	}
	return done("The role assignment is revoked.")
}

// readRevocation names the assignment that role_assignment.revoke ends.
func readRevocation(r *wire.Request) (resources.Assignment, error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	a := resources.Assignment{
		AccountID: r.Params["accountId"], RoleID: r.Params["roleId"], AssigneeID: r.Params["assigneeId"],
		AssigneeType: q.OneOf("assigneeType", resources.AssigneeUser, resources.AssigneeUser, resources.AssigneeGroup),
		ProjectID:    q.ID("projectId"), ResourceID: q.Text("resourceId"),
	}
	if a.ResourceID != "" && !validResource(a.ResourceID) {
		p.Add("resourceId", resourceForm)
	}
	q.Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done() // an empty object asks for nothing
	}
	return a, p.Err()
}
