package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// LoadFacts reads the facts about a user, an account and, where it is not "", a project, in one
// snapshot. Absence is a fact too, and no error. LoadFactsOf is the one reader of these facts: caches are
// filled with it, and changes check their caller by it.
func (c Collections) LoadFacts(ctx context.Context, tx store.Tx, account, user, project string) (resources.Facts, error) {
	facts, err := c.LoadFactsOf(ctx, tx, account, []resources.About{{UserID: user, ProjectID: project}}, func(int64) ReadThrough { return ReadOnce() })
	if err != nil {
		return resources.Facts{}, err
	}
	return facts[0], nil
}

// LoadFactsOf is LoadFacts for several users and projects of one account, whose reads are made together, with
// a cache of what the users of an account share. It calls caching with the revision of the snapshot, and reads
// what users share through the result.
func (c Collections) LoadFactsOf(
	ctx context.Context, tx store.Tx, account string, of []resources.About, caching func(revision int64) ReadThrough,
) ([]resources.Facts, error) {
	at := map[string]int{} // where a user's reads begin
	reads := make([]store.Read, 0, readsPerUser*len(of))
	for _, about := range of {
		if _, known := at[about.UserID]; !known {
			at[about.UserID] = len(reads)
			mine := c.readsOf(account, about.UserID)
			reads = append(reads, mine[:]...)
		}
	}
	revision, found, err := tx.Together(ctx, account, reads...)
	if err != nil {
		return nil, err
	}
	r := factsReader{Collections: c, tx: tx, account: account, through: caching(revision)}
	subjects := map[string]*resources.Subject{}
	out := make([]resources.Facts, len(of))
	for i, about := range of {
		if subjects[about.UserID] == nil {
			if subjects[about.UserID], err = r.subject(ctx, about.UserID, found[at[about.UserID]:][:readsPerUser]); err != nil {
				return nil, err
			}
		}
		out[i] = resources.Facts{Revision: revision, Subject: subjects[about.UserID]}
		if out[i].ProjectState, err = r.projectState(ctx, about.ProjectID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readsPerUser is how many reads tell about a user in an account.
const readsPerUser = 4

func (c Collections) readsOf(account, user string) [readsPerUser]store.Read {
	own := membershipsOf(account, user)
	return [...]store.Read{
		{Schema: c.Users.Schema(), Key: user},
		{Schema: c.Members.Schema(), Query: own},
		{Schema: c.Assignments.Schema(), Query: assignedTo(account, resources.AssigneeUser, user)},
		{Schema: c.APIKeys.Schema(), Query: own},
	}
}

// ProjectState returns the project's state as the facts of the account have it: absent where there is
// none, or a deleted one, or another account's; "" for no project.
func (c Collections) ProjectState(ctx context.Context, tx store.Tx, account, project string) (string, error) {
	return factsReader{Collections: c, tx: tx, account: account}.projectState(ctx, project)
}

// factsReader reads facts from one snapshot, through a cache where that is not nil.
type factsReader struct {
	Collections
	tx      store.Tx
	account string
	through ReadThrough
}

// subject returns the subject of what was found: the user, memberships, assignments and keys.
func (r factsReader) subject(ctx context.Context, user string, found [][]store.Row) (*resources.Subject, error) {
	s := &resources.Subject{AccountID: r.account, UserID: user}
	acct, err := readThrough(r.through, SharedAccount, r.account, func() (*store.Record[resources.Account], error) {
		return store.Lookup(r.Accounts.Get(ctx, r.tx, r.account))
	})
	if err != nil {
		return nil, err
	}
	if acct != nil {
		s.AccountExists, s.AccountStatus = true, acct.Value.Status
	}
	users, err := decoded[userFacts](r.Users.Schema(), found[0])
	if err != nil || len(users) == 0 {
		return s, err
	}
	u := users[0]
	s.UserExists, s.UserUUID, s.UserStatus = true, u.UUID, u.Status
	s.PartnerID, s.HomeID = u.PartnerID, u.AccountID
	s.Member = u.AccountID == r.account && r.account != ""
	if !s.Member {
		return s, nil
	}
	if s.Assignments, err = r.heldRoles(ctx, user, found[1], found[2]); err != nil {
		return nil, err
	}
	s.Keys, err = r.usableKeys(found[3])
	return s, err
}

// usableKeys returns the keys that were not revoked. The decision checks whether they have expired.
func (r factsReader) usableKeys(rows []store.Row) ([]resources.KeyFact, error) {
	found, err := decoded[resources.APIKey](r.APIKeys.Schema(), rows)
	if err != nil {
		return nil, err
	}
	var out []resources.KeyFact
	for _, k := range found {
		if k.RevokedAt == 0 {
			out = append(out, resources.KeyFact{ID: k.ID, Hash: k.Hash, Scopes: k.Scopes, ExpiresAt: k.ExpiresAt})
		}
	}
	return out, nil
}

// HeldRoles returns the user's assignments in the account, direct ones first, then those through
// groups, each with its role.
func (c Collections) HeldRoles(ctx context.Context, tx store.Tx, account, user string) ([]resources.HeldRole, error) {
	_, found, err := tx.Together(ctx, account,
		store.Read{Schema: c.Members.Schema(), Query: membershipsOf(account, user)},
		store.Read{Schema: c.Assignments.Schema(), Query: assignedTo(account, resources.AssigneeUser, user)})
	if err != nil {
		return nil, err
	}
	return factsReader{Collections: c, tx: tx, account: account}.heldRoles(ctx, user, found[0], found[1])
}

// heldRoles returns the roles that a user holds by themselves and through groups.
func (r factsReader) heldRoles(ctx context.Context, user string, members, assigned []store.Row) ([]resources.HeldRole, error) {
	memberships, err := decoded[memberFacts](r.Members.Schema(), members)
	if err != nil {
		return nil, err
	}
	held, err := r.held(ctx, resources.AssigneeUser, user, assigned)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		group, err := readThrough(r.through, SharedGroup, m.GroupID, func() ([]resources.HeldRole, error) {
			return r.heldByGroup(ctx, m.GroupID)
		})
		if err != nil {
			return nil, err
		}
		held = append(held, group...)
	}
	return held, nil
}

func (r factsReader) heldByGroup(ctx context.Context, group string) ([]resources.HeldRole, error) {
	rows, err := r.tx.Find(ctx, r.Assignments.Schema(), assignedTo(r.account, resources.AssigneeGroup, group))
	if err != nil {
		return nil, err
	}
	return r.held(ctx, resources.AssigneeGroup, group, rows)
}

// membershipsOf finds the user's memberships in groups of the account.
func membershipsOf(account, user string) store.Query {
	return store.Query{Index: ByUser, Equal: []store.Value{store.String(account), store.String(user)}}
}

// assignedTo finds what is assigned to the user or group itself.
func assignedTo(account, kind, assignee string) store.Query {
	return store.Query{Index: ByAssignee, Equal: []store.Value{store.String(account), store.String(kind), store.String(assignee)}}
}

// held returns the roles of an assignee's own assignments.
func (r factsReader) held(ctx context.Context, kind, assignee string, assigned []store.Row) ([]resources.HeldRole, error) {
	found, err := decoded[assignmentFacts](r.Assignments.Schema(), assigned)
	if err != nil {
		return nil, err
	}
	out := make([]resources.HeldRole, 0, len(found))
	for _, a := range found {
		held := resources.HeldRole{
			RoleID: a.RoleID, RoleScope: a.RoleScope, RoleStatus: resources.StatusActive, ProjectID: a.ProjectID, ResourceID: a.ResourceID,
			Status: a.Status, ExpiresAt: a.ExpiresAt, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		}
		if kind == resources.AssigneeGroup {
			held.GroupID = assignee
		}
		role, err := readThrough(r.through, SharedRole, a.RoleID, func() (*store.Record[resources.Role], error) {
			return store.Lookup(r.Roles.Get(ctx, r.tx, a.RoleID))
		})
		if err != nil {
			return nil, err
		}
		if role != nil {
			held.Custom, held.RoleScope, held.RoleStatus = true, role.Value.Scope, role.Value.Status
			if role.Value.AccountID == r.account {
				held.Permissions = role.Value.Permissions
			}
		}
		out = append(out, held)
	}
	return out, nil
}

// projectState returns the state of a project of the account, absent for one that is deleted or another account's.
func (r factsReader) projectState(ctx context.Context, project string) (string, error) {
	if project == "" {
		return "", nil
	}
	return readThrough(r.through, SharedProject, project, func() (string, error) {
		p, err := store.Lookup(r.Projects.Get(ctx, r.tx, project))
		if err != nil {
			return "", err
		}
		if p == nil || p.Value.AccountID != r.account || p.Value.State == resources.ProjectDeleted {
			return resources.ProjectAbsent, nil
		}
		return p.Value.State, nil
	})
}
