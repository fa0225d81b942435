package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// mayShare refuses with FORBIDDEN a caller who does not hold everything that the group
// holds: who adds a member grants all of it.
//
// Assignments count whatever their status: one that is INACTIVE or whose role is can be
// made active again by somebody who doesn't know that a member was added meanwhile.
func (s *Service) mayShare(ctx context.Context, tx store.Tx, caller resources.Principal, g resources.Group) error {
	held, err := s.c.Assignments.Find(ctx, tx, store.Query{
		Index: store.ByAssignee,
		Equal: []store.Value{store.String(g.AccountID), store.String(resources.AssigneeGroup), store.String(g.ID)},
	})
	if err != nil {
		return err
	}
	facts := map[string]resources.Facts{} // by project: the caller's facts carry its state
	for _, rec := range held {
		a := rec.Value
		if _, ok := facts[a.ProjectID]; !ok {
			facts[a.ProjectID], err = s.c.LoadFacts(ctx, tx, g.AccountID, caller.ID, a.ProjectID)
			if err != nil {
				return err
			}
		}
		permissions, err := s.permissions(ctx, tx, g.AccountID, a.RoleID)
		if err != nil {
			return err
		}
		err = s.mayGrant(ctx, resources.Grant{
			Principal: caller, AccountID: g.AccountID, Facts: facts[a.ProjectID], Permissions: permissions,
			ProjectID: a.ProjectID, ResourceID: a.ResourceID, Until: a.ExpiresAt,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// permissions are a role's patterns. A role that is not there has none, and nobody can
// grant none: what it will mean is not known.
func (s *Service) permissions(ctx context.Context, tx store.Tx, account, role string) ([]string, error) {
	rec, err := s.findRole(ctx, tx, account, role)
	if err != nil || rec == nil {
		return nil, err
	}
	return rec.Value.Permissions, nil
}
