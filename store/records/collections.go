package records

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Collections are the records shared by several areas. NewCollections makes them once, for all readers and writers.
type Collections struct {
	Accounts    store.Collection[resources.Account]
	Projects    store.Collection[resources.Project]
	Users       store.Collection[resources.User]
	Roles       store.Collection[resources.Role]
	Assignments store.Collection[resources.Assignment]
	Groups      store.Collection[resources.Group]
	Members     store.Collection[resources.GroupMember]
	Agents      store.Collection[resources.Agent]
	Delegations store.Collection[resources.Delegation]
	Approvals   store.Collection[resources.Approval]
	APIKeys     store.Collection[resources.APIKey]
	KeyUses     store.Collection[KeyUse]
	Outbox      store.Collection[resources.Message]
	Answers     store.Collection[Answer]
	Occupancies store.Collection[Occupancy]
	Seals       store.Collection[Seal]
	Copies      store.Collection[Copy]
	LogHeads    store.Collection[LogHead]
	PolicyTrees store.Collection[PolicyTree]

	// AgentClients finds the agent of a client.
	AgentClients store.Collection[AgentClient]

	ConsoleSessions store.Collection[ConsoleSession]
	ConsoleCodes    store.Collection[ConsoleCode]

	KubernetesClusters store.Collection[resources.KubernetesRecord]
	GPUClusters        store.Collection[resources.GPURecord]
	// Changes and ChangeParts are written by resources/changes alone.
	Changes     store.Collection[resources.Change]
	ChangeParts store.Collection[ChangePart]

	ClusterClaims store.Collection[ClusterClaim]
	ClusterTurns  store.Collection[ClusterTurn]

	SecurityGroups          store.Collection[resources.SecurityGroup]
	DeletedSecurityGroups   store.Collection[resources.SecurityGroup]
	SecurityGroupReferences store.Collection[SecurityGroupReference]
}

// The names of indexes, for queries and for errors about duplicates.
const (
	ByName     = "by_name"
	ByCreated  = "by_created"
	ByAccount  = "by_account"
	ByUUID     = "by_uuid"
	ByEmail    = "by_email"
	ByPartner  = "by_partner"
	ByRole     = "by_role"
	ByAssignee = "by_assignee"
	ByProject  = "by_project"
	ByGroup    = "by_group"
	ByUser     = "by_user"
	ByAgent    = "by_agent"
	ByDue      = "by_due"
	ByExpiry   = "by_expiry"
	ByStatus   = "by_status"
	ByPlace    = "by_place"
	ByHolder   = "by_holder"
	ByMember   = "by_member"
	ByNewest   = "by_newest"
	ByActor    = "by_actor"
	BySubject  = "by_subject"
	ByIntent   = "by_intent"
	ByLease    = "by_lease"
	ByHeld     = "by_held"
	ByCall     = "by_call"

	ByMemberEmail = "by_member_email"
	ByMemberName  = "by_member_name"
	ByMemberID    = "by_member_id"
)

// NewCollections declares all collections.
func NewCollections() Collections {
	return Collections{
		Accounts:    accounts(),
		Projects:    projects(),
		Users:       users(),
		Roles:       roles(),
		Assignments: assignments(),
		Groups:      groups(),
		Members:     members(),
		Agents:      agents(),
		Delegations: delegations(),
		Approvals:   approvals(),
		APIKeys:     apiKeys(),
		KeyUses:     keyUses(),
		Outbox:      outbox(),
		Answers:     answers(),
		Occupancies: occupancies(),
		Seals:       seals(),
		Copies:      copies(),
		LogHeads:    logHeads(),
		PolicyTrees: policyTrees(),

		AgentClients: agentClients(),

		ConsoleSessions: consoleSessions(),
		ConsoleCodes:    consoleCodes(),

		KubernetesClusters: kubernetesClusters(),
		GPUClusters:        gpuClusters(),
		Changes:            changes(),
		ChangeParts:        changeParts(),
		ClusterClaims:      clusterClaims(),
		ClusterTurns:       clusterTurns(),

		SecurityGroups:          securityGroups(),
		DeletedSecurityGroups:   deletedSecurityGroups(),
		SecurityGroupReferences: securityGroupReferences(),
	}
}

// Schemas returns the schemas of all collections, for an engine.
func (c Collections) Schemas() []*store.Schema {
	return []*store.Schema{
		c.Accounts.Schema(), c.Projects.Schema(), c.Users.Schema(), c.Roles.Schema(),
		c.Assignments.Schema(), c.Groups.Schema(), c.Members.Schema(), c.APIKeys.Schema(), c.KeyUses.Schema(), c.Outbox.Schema(), c.Answers.Schema(),
		c.Occupancies.Schema(), c.Seals.Schema(), c.LogHeads.Schema(), c.PolicyTrees.Schema(), c.Copies.Schema(), c.ConsoleSessions.Schema(), c.ConsoleCodes.Schema(),
		c.KubernetesClusters.Schema(), c.GPUClusters.Schema(), c.ClusterClaims.Schema(), c.ClusterTurns.Schema(), c.Changes.Schema(), c.ChangeParts.Schema(),
		c.SecurityGroups.Schema(), c.DeletedSecurityGroups.Schema(), c.SecurityGroupReferences.Schema(),
		c.Agents.Schema(), c.AgentClients.Schema(), c.Delegations.Schema(), c.Approvals.Schema(),
	}
}

func text(names ...string) []store.Column {
	out := make([]store.Column, len(names))
	for i, n := range names {
		out[i] = store.Column{Name: n, Kind: store.KindString}
	}
	return out
}

func createdColumn() store.Column          { return store.Column{Name: "created", Kind: store.KindInt} }
func created(t resources.Time) store.Value { return store.Int(int64(t)) }
func compositeKey(parts ...string) string  { return strings.Join(parts, "|") }

func accounts() store.Collection[resources.Account] {
	return store.NewCollection(store.Schema{
		Name:    "accounts",
		Columns: []store.Column{createdColumn()},
		Indexes: []store.Index{{Name: ByCreated, Columns: []string{"created"}}},
	}, func(a *resources.Account) string { return a.ID }, func(a *resources.Account) []store.Value {
		return []store.Value{created(a.CreatedAt)}
	})
}

// projects declares the projects. A deleted project keeps its key, because its id is never used again,
// and leaves every index.
func projects() store.Collection[resources.Project] {
	return store.NewCollection(store.Schema{
		Name:    "projects",
		Columns: append(text("account", "name"), createdColumn()),
		Indexes: []store.Index{
			{Name: ByName, Columns: []string{"account", "name"}, Unique: true},
			{Name: ByAccount, Columns: []string{"account", "created"}},
			{Name: ByPlace, Columns: []string{"account"}},
		},
	}, func(p *resources.Project) string { return p.ID }, func(p *resources.Project) []store.Value {
		if p.State == resources.ProjectDeleted {
			return []store.Value{{}, {}, created(p.CreatedAt)}
		}
		return []store.Value{store.String(p.AccountID), store.String(p.Name), created(p.CreatedAt)}
	})
}

// users returns the collection of users. The columns email, name and ident are folded, for searches.
func users() store.Collection[resources.User] {
	return store.NewCollection(store.Schema{
		Name:    "users",
		Columns: append(text("uuid", "email", "partner", "account", "name", "ident"), store.Column{Name: "since", Kind: store.KindInt}),
		Indexes: []store.Index{
			{Name: ByUUID, Columns: []string{"uuid"}, Unique: true},
			{Name: ByEmail, Columns: []string{"email"}, Unique: true},
			{Name: ByPartner, Columns: []string{"partner"}, Unique: true},
			{Name: ByAccount, Columns: []string{"account", "since"}},
			{Name: ByMemberEmail, Columns: []string{"account", "email"}},
			{Name: ByMemberName, Columns: []string{"account", "name"}},
			{Name: ByMemberID, Columns: []string{"account", "ident"}},
		},
	}, func(u *resources.User) string { return u.ExternalID }, func(u *resources.User) []store.Value {
		return []store.Value{
			store.String(u.UUID), store.String(resources.FoldASCII(u.Email)), store.OptionalString(u.AuthenticationPartnerID), store.OptionalString(u.AccountID),
			store.String(resources.FoldASCII(u.Name)), store.String(resources.FoldASCII(u.ExternalID)), store.Int(int64(u.MemberSince)),
		}
	})
}

func roles() store.Collection[resources.Role] {
	return store.NewCollection(store.Schema{
		Name:    "roles",
		Columns: text("account", "name"),
		Indexes: []store.Index{{Name: ByName, Columns: []string{"account", "name"}, Unique: true}},
	}, func(r *resources.Role) string { return r.ID }, func(r *resources.Role) []store.Value {
		return []store.Value{store.String(r.AccountID), store.String(r.Name)}
	})
}

// AssignmentID returns the key of an assignment, made of what it assigns. No part contains the separator.
func AssignmentID(a resources.Assignment) string {
	return compositeKey(a.AccountID, a.RoleID, a.AssigneeType, a.AssigneeID, a.ProjectID, a.ResourceID)
}

// assignments returns the collection of role assignments. One without an end is not in ByExpiry.
func assignments() store.Collection[resources.Assignment] {
	return store.NewCollection(store.Schema{
		Name:    "role_assignments",
		Columns: append(text("account", "role", "type", "assignee", "project", "place"), createdColumn(), store.Column{Name: "expires", Kind: store.KindInt}),
		Indexes: []store.Index{
			{Name: ByRole, Columns: []string{"account", "role", "created"}},
			{Name: ByAssignee, Columns: []string{"account", "type", "assignee", "created"}},
			{Name: ByProject, Columns: []string{"account", "project", "created"}},
			{Name: ByHolder, Columns: []string{"account", "role", "place", "type", "assignee"}},
			{Name: ByHeld, Columns: []string{"account", "assignee", "created"}},
			{Name: ByExpiry, Columns: []string{"account", "expires"}},
		},
	}, func(a *resources.Assignment) string { return AssignmentID(*a) }, func(a *resources.Assignment) []store.Value {
		var expires store.Value
		if a.ExpiresAt != 0 {
			expires = store.Int(int64(a.ExpiresAt))
		}
		return []store.Value{
			store.String(a.AccountID), store.String(a.RoleID), store.String(a.AssigneeType), store.String(a.AssigneeID), store.OptionalString(a.ProjectID),
			store.String(compositeKey(a.ProjectID, a.ResourceID)), created(a.CreatedAt), expires,
		}
	})
}

func groups() store.Collection[resources.Group] {
	return store.NewCollection(store.Schema{
		Name:    "groups",
		Columns: append(text("account", "name"), createdColumn()),
		Indexes: []store.Index{
			{Name: ByName, Columns: []string{"account", "name"}, Unique: true},
			{Name: ByAccount, Columns: []string{"account", "created"}},
		},
	}, func(g *resources.Group) string { return g.ID }, func(g *resources.Group) []store.Value {
		return []store.Value{store.String(g.AccountID), store.String(g.Name), created(g.CreatedAt)}
	})
}

// MemberID returns the key of a membership.
func MemberID(group, user string) string { return compositeKey(group, user) }

func members() store.Collection[resources.GroupMember] {
	return store.NewCollection(store.Schema{
		Name:    "group_members",
		Columns: append(text("account", "group_id", "user_id"), store.Column{Name: "added", Kind: store.KindInt}),
		Indexes: []store.Index{
			{Name: ByGroup, Columns: []string{"group_id", "added"}},
			{Name: ByUser, Columns: []string{"account", "user_id", "added"}},
			{Name: ByMember, Columns: []string{"group_id", "user_id"}},
		},
	}, func(m *resources.GroupMember) string { return MemberID(m.GroupID, m.UserID) },
		func(m *resources.GroupMember) []store.Value {
			return []store.Value{store.String(m.AccountID), store.String(m.GroupID), store.String(m.UserID), store.Int(int64(m.AddedAt))}
		})
}
