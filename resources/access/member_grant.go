package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// grantPlace is where an assignment grants and when it ends.
type grantPlace struct {
	project, resource string
	until             resources.Time
	// empty says that the role has no permissions. Policy denies every grant of such a role,
	// so it is a question of its own.
	empty bool
}

// mayShare refuses with FORBIDDEN a caller without everything that is assigned to a group or an agent: a new member of the
// group gets all of it, and so does a new client of the agent.
//
// Inactive assignments and roles count too: somebody may activate them later without a look at
// the members.
//
// A group may have thousands of assignments. mayShare asks policy once for each place, and reads
// the roles together, and the projects.
func (s *Service) mayShare(
	ctx context.Context, tx store.Tx, caller resources.Principal, actor resources.Facts, account, kind, assignee string,
) error {
	held, err := s.c.Assignments.Find(ctx, tx, store.Query{
		Index: records.ByAssignee,
		Equal: []store.Value{store.String(account), store.String(kind), store.String(assignee)},
	})
	if err != nil {
		return err
	}
	places, granted, err := s.byPlace(ctx, tx, account, held)
	if err != nil {
		return err
	}
	projects := make([]string, len(places))
	for i, place := range places {
		projects[i] = place.project
	}
	states, err := s.c.ProjectStates(ctx, tx, account, projects)
	if err != nil {
		return err
	}
	for _, place := range places {
		actor.ProjectState = states[place.project]
		err := s.mayGrant(ctx, resources.Question{
			Principal: caller, AccountID: account, Facts: actor, Target: resources.TargetAt(place.project, place.resource),
			Grant: &resources.Grant{Permissions: granted[place], Until: place.until},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// byPlace returns the places of the assignments in their order, and the patterns that are granted
// at each place. A role that does not exist has none.
func (s *Service) byPlace(
	ctx context.Context, tx store.Tx, account string, held []store.Record[resources.Assignment],
) (places []grantPlace, granted map[grantPlace][]string, err error) {
	ids := make([]string, len(held))
	for i, rec := range held {
		ids[i] = rec.Value.RoleID
	}
	roles, err := s.findRoles(ctx, tx, account, ids)
	if err != nil {
		return nil, nil, err
	}
	granted = map[grantPlace][]string{}
	for _, rec := range held {
		a, permissions := rec.Value, roles[rec.Value.RoleID].Permissions
		place := grantPlace{a.ProjectID, a.ResourceID, a.ExpiresAt, len(permissions) == 0}
		if _, ok := granted[place]; !ok {
			places = append(places, place)
		}
		granted[place] = append(granted[place], permissions...)
	}
	return places, granted, nil
}
