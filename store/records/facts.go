package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// LoadFacts reads the facts about a user, an account and, unless it is "", a project, in one snapshot. Absence is a
// fact too, and no error. LoadFactsOf is the one reader of these facts: caches are filled with it, and changes check
// their caller by it.
func (c Collections) LoadFacts(ctx context.Context, tx store.Tx, account, user, project string) (resources.Facts, error) {
	facts, err := c.LoadFactsOf(ctx, tx, account, []resources.About{{UserID: user, ProjectID: project}}, func(int64) ReadThrough { return ReadOnce() })
	if err != nil {
		return resources.Facts{}, err
	}
	return facts[0], nil
}

// LoadFactsOf is LoadFacts for several users and projects of one account. It makes their reads together, with a cache
// of the users' shared facts. It calls caching with the revision of the snapshot, and reads what users share through
// the result.
func (c Collections) LoadFactsOf(
	ctx context.Context, tx store.Tx, account string, pairs []resources.About, caching func(revision int64) ReadThrough,
) ([]resources.Facts, error) {
	starts := map[string]int{} // where a user's reads begin
	reads := make([]store.Read, 0, readsPerUser*len(pairs))
	for _, pair := range pairs {
		if _, ok := starts[pair.UserID]; !ok {
			starts[pair.UserID] = len(reads)
			userReads := c.readsOf(account, pair.UserID)
			reads = append(reads, userReads[:]...)
		}
	}
	revision, rows, err := tx.Together(ctx, account, reads...)
	if err != nil {
		return nil, err
	}
	r := factsReader{Collections: c, tx: tx, account: account, cache: caching(revision)}
	subjects, err := r.subjects(ctx, starts, rows)
	if err != nil {
		return nil, err
	}
	projects := make([]string, len(pairs))
	for i, pair := range pairs {
		projects[i] = pair.ProjectID
	}
	states, err := r.projectStates(ctx, projects)
	if err != nil {
		return nil, err
	}
	out := make([]resources.Facts, len(pairs))
	for i, pair := range pairs {
		out[i] = resources.Facts{Revision: revision, Subject: subjects[pair.UserID], ProjectState: states[pair.ProjectID]}
	}
	return out, r.addAgents(ctx, pairs, out)
}

// readsPerUser is how many reads a user in an account takes.
const readsPerUser = 4

func (c Collections) readsOf(account, user string) [readsPerUser]store.Read {
	query := membershipsOf(account, user)
	return [...]store.Read{
		{Schema: c.Users.Schema(), Key: user},
		{Schema: c.Members.Schema(), Query: query},
		{Schema: c.Assignments.Schema(), Query: assignedTo(account, resources.AssigneeUser, user)},
		{Schema: c.APIKeys.Schema(), Query: query},
	}
}

// ProjectState is ProjectStates of one project.
func (c Collections) ProjectState(ctx context.Context, tx store.Tx, account, project string) (string, error) {
	states, err := c.ProjectStates(ctx, tx, account, []string{project})
	return states[project], err
}

// ProjectStates returns the states of projects by their ids, as in the facts of the account. It leaves out an unknown
// or deleted project and another account's; the state of "" is "".
func (c Collections) ProjectStates(ctx context.Context, tx store.Tx, account string, projects []string) (map[string]string, error) {
	return factsReader{Collections: c, tx: tx, account: account}.projectStates(ctx, projects)
}

// factsReader reads facts from one snapshot, through a cache unless it is nil. It reads what several users need
// together: on some engines each read costs a round trip.
type factsReader struct {
	Collections
	tx      store.Tx
	account string
	cache   ReadThrough
}

// member is what was found of a member of the account.
type member struct {
	subject     *resources.Subject
	memberships []memberFacts
	assigned    []assignmentFacts
}

// subjects returns the subjects of the rows of users: the user, memberships, assignments and keys. The user's own reads
// begin at these places.
func (r factsReader) subjects(ctx context.Context, starts map[string]int, rows [][]store.Row) (map[string]*resources.Subject, error) {
	accounts, err := readThrough(r.cache, SharedAccount, []string{r.account}, func(ids []string) (map[string]*store.Record[resources.Account], error) {
		return pointers(r.Accounts.GetAll(ctx, r.tx, ids))
	})
	if err != nil {
		return nil, err
	}
	out, members := make(map[string]*resources.Subject, len(starts)), make([]*member, 0, len(starts))
	for user, start := range starts {
		s := &resources.Subject{AccountID: r.account, UserID: user}
		if acct := accounts[r.account]; acct != nil {
			s.AccountExists, s.AccountStatus = true, acct.Value.Status
		}
		out[user] = s
		m, err := r.member(s, rows[start:][:readsPerUser])
		if err != nil {
			return nil, err
		}
		if m != nil {
			members = append(members, m)
		}
	}
	return out, r.assign(ctx, members)
}

// member adds a user's rows to the subject; nil for a user outside the account.
func (r factsReader) member(s *resources.Subject, rows [][]store.Row) (*member, error) {
	users, err := decoded[userFacts](r.Users.Schema(), rows[0])
	if err != nil || len(users) == 0 {
		return nil, err
	}
	u := users[0]
	s.UserExists, s.UserUUID, s.UserStatus = true, u.UUID, u.Status
	s.PartnerID, s.HomeID = u.PartnerID, u.AccountID
	s.Member = u.AccountID == r.account && r.account != ""
	if !s.Member {
		return nil, nil
	}
	if s.Keys, err = r.usableKeys(rows[3]); err != nil {
		return nil, err
	}
	return r.holding(s, rows[1], rows[2])
}

// holding returns a member with what was found of their memberships and assignments.
func (r factsReader) holding(s *resources.Subject, memberships, assigned []store.Row) (m *member, err error) {
	m = &member{subject: s}
	if m.memberships, err = decoded[memberFacts](r.Members.Schema(), memberships); err != nil {
		return nil, err
	}
	m.assigned, err = decoded[assignmentFacts](r.Assignments.Schema(), assigned)
	return m, err
}

// usableKeys returns the unrevoked keys. The decision checks whether they have expired.
func (r factsReader) usableKeys(rows []store.Row) ([]resources.KeyFact, error) {
	keys, err := decoded[resources.APIKey](r.APIKeys.Schema(), rows)
	if err != nil {
		return nil, err
	}
	var out []resources.KeyFact
	for _, k := range keys {
		if k.RevokedAt == 0 {
			out = append(out, resources.KeyFact{ID: k.ID, Hash: k.Hash, Scopes: k.Scopes, ExpiresAt: k.ExpiresAt})
		}
	}
	return out, nil
}

// HeldRoles returns the user's assignments in the account, direct ones first, then those through
// groups, each with its role.
func (c Collections) HeldRoles(ctx context.Context, tx store.Tx, account, user string) ([]resources.HeldRole, error) {
	_, rows, err := tx.Together(ctx, account,
		store.Read{Schema: c.Members.Schema(), Query: membershipsOf(account, user)},
		store.Read{Schema: c.Assignments.Schema(), Query: assignedTo(account, resources.AssigneeUser, user)})
	if err != nil {
		return nil, err
	}
	r := factsReader{Collections: c, tx: tx, account: account}
	m, err := r.holding(&resources.Subject{}, rows[0], rows[1])
	if err != nil {
		return nil, err
	}
	err = r.assign(ctx, []*member{m})
	return m.subject.Assignments, err
}

// assign gives members their roles, from assignments to themselves and through groups.
func (r factsReader) assign(ctx context.Context, members []*member) error {
	var groups []string
	var direct []assignmentFacts
	for _, m := range members {
		direct = append(direct, m.assigned...)
		for _, facts := range m.memberships {
			groups = append(groups, facts.GroupID)
		}
	}
	byGroup, err := readThrough(r.cache, SharedGroup, groups, func(ids []string) (map[string][]resources.HeldRole, error) {
		return r.heldByGroups(ctx, ids)
	})
	if err != nil {
		return err
	}
	roles, err := r.roles(ctx, direct)
	if err != nil {
		return err
	}
	for _, m := range members {
		held := r.held("", m.assigned, roles)
		for _, facts := range m.memberships {
			held = append(held, byGroup[facts.GroupID]...)
		}
		m.subject.Assignments = held
	}
	return nil
}

// GroupRoles returns what members hold through each of these groups of the account.
func (c Collections) GroupRoles(ctx context.Context, tx store.Tx, account string, groups []string) (map[string][]resources.HeldRole, error) {
	return factsReader{Collections: c, tx: tx, account: account}.heldByGroups(ctx, groups)
}

// heldByGroups returns the members' roles through each of the groups.
func (r factsReader) heldByGroups(ctx context.Context, groups []string) (map[string][]resources.HeldRole, error) {
	reads := make([]store.Read, len(groups))
	for i, group := range groups {
		reads[i] = store.Read{Schema: r.Assignments.Schema(), Query: assignedTo(r.account, resources.AssigneeGroup, group)}
	}
	results, err := store.ReadAll(ctx, r.tx, reads)
	if err != nil {
		return nil, err
	}
	assigned, all := make([][]assignmentFacts, len(groups)), []assignmentFacts(nil)
	for i, rows := range results {
		if assigned[i], err = decoded[assignmentFacts](r.Assignments.Schema(), rows); err != nil {
			return nil, err
		}
		all = append(all, assigned[i]...)
	}
	roles, err := r.roles(ctx, all)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]resources.HeldRole, len(groups))
	for i, group := range groups {
		out[group] = r.held(group, assigned[i], roles)
	}
	return out, nil
}

// membershipsOf finds the user's memberships in groups of the account.
func membershipsOf(account, user string) store.Query {
	return store.Query{Index: ByUser, Equal: []store.Value{store.String(account), store.String(user)}}
}

// assignedTo finds what is assigned to the user or group itself.
func assignedTo(account, kind, assignee string) store.Query {
	return store.Query{Index: ByAssignee, Equal: []store.Value{store.String(account), store.String(kind), store.String(assignee)}}
}

// roles returns the custom roles of assignments by their ids, nil for an absent one.
func (r factsReader) roles(ctx context.Context, assigned []assignmentFacts) (map[string]*store.Record[resources.Role], error) {
	ids := make([]string, len(assigned))
	for i, a := range assigned {
		ids[i] = a.RoleID
	}
	return readThrough(r.cache, SharedRole, ids, func(ids []string) (map[string]*store.Record[resources.Role], error) {
		return pointers(r.Roles.GetAll(ctx, r.tx, ids))
	})
}

// held returns the roles of a user's own assignments, or of those of a group.
func (r factsReader) held(group string, assigned []assignmentFacts, roles map[string]*store.Record[resources.Role]) []resources.HeldRole {
	out := make([]resources.HeldRole, 0, len(assigned))
	for _, a := range assigned {
		held := resources.HeldRole{
			RoleID: a.RoleID, RoleScope: a.RoleScope, RoleStatus: resources.StatusActive, ProjectID: a.ProjectID, ResourceID: a.ResourceID,
			GroupID: group, Status: a.Status, ExpiresAt: a.ExpiresAt, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		}
		if role := roles[a.RoleID]; role != nil {
			held.Custom, held.RoleScope, held.RoleStatus = true, role.Value.Scope, role.Value.Status
			if role.Value.AccountID == r.account {
				held.Permissions = role.Value.Permissions
			}
		}
		out = append(out, held)
	}
	return out
}

// projectStates returns the states of projects of the account. It leaves out a deleted project and another account's.
func (r factsReader) projectStates(ctx context.Context, projects []string) (map[string]string, error) {
	return readThrough(r.cache, SharedProject, projects, func(ids []string) (map[string]string, error) {
		records, err := r.Projects.GetAll(ctx, r.tx, ids)
		if err != nil {
			return nil, err
		}
		out := make(map[string]string, len(ids))
		for _, id := range ids {
			p, exists := records[id]
			if out[id] = p.Value.State; !exists || p.Value.AccountID != r.account || p.Value.State == resources.ProjectDeleted {
				out[id] = resources.ProjectAbsent
			}
		}
		return out, nil
	})
}

// pointers returns records by pointer: an absent one is nil.
func pointers[T any](records map[string]store.Record[T], err error) (map[string]*store.Record[T], error) {
	out := make(map[string]*store.Record[T], len(records))
	for id, rec := range records {
		out[id] = &rec
	}
	return out, err
}
