package store

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Collections are the records that several areas share. Build it once
// (NewCollections) and hand it to whoever reads or writes.
type Collections struct {
	Accounts    Collection[resources.Account]
	Projects    Collection[resources.Project]
	Users       Collection[resources.User]
	Roles       Collection[resources.Role]
	Assignments Collection[resources.Assignment]
	Groups      Collection[resources.Group]
	Members     Collection[resources.GroupMember]
	APIKeys     Collection[resources.APIKey]
	KeyUses     Collection[KeyUse]
	Outbox      Collection[resources.Message]
	Answers     Collection[Answer]
	Occupancies Collection[Occupancy]
	Seals       Collection[Seal]

	KubernetesClusters Collection[resources.KubernetesRecord]
	GPUClusters        Collection[resources.GPURecord]

	SecurityGroups          Collection[resources.SecurityGroup]
	DeletedSecurityGroups   Collection[resources.SecurityGroup]
	SecurityGroupReferences Collection[SecurityGroupReference]
}

// Names of indexes, for queries and for telling duplicates apart.
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
	ByDue      = "by_due"
	ByExpiry   = "by_expiry"
	ByStatus   = "by_status"
)

// NewCollections declares all of them.
func NewCollections() Collections {
	return Collections{
		Accounts:    accounts(),
		Projects:    projects(),
		Users:       users(),
		Roles:       roles(),
		Assignments: assignments(),
		Groups:      groups(),
		Members:     members(),
		APIKeys:     apiKeys(),
		KeyUses:     keyUses(),
		Outbox:      outbox(),
		Answers:     answers(),
		Occupancies: occupancies(),
		Seals:       seals(),

		KubernetesClusters: kubernetesClusters(),
		GPUClusters:        gpuClusters(),

		SecurityGroups:          securityGroups(),
		DeletedSecurityGroups:   deletedSecurityGroups(),
		SecurityGroupReferences: securityGroupReferences(),
	}
}

// Schemas lists what an engine has to make room for.
func (c Collections) Schemas() []*Schema {
	return []*Schema{
		c.Accounts.Schema(), c.Projects.Schema(), c.Users.Schema(), c.Roles.Schema(),
		c.Assignments.Schema(), c.Groups.Schema(), c.Members.Schema(), c.APIKeys.Schema(), c.KeyUses.Schema(), c.Outbox.Schema(), c.Answers.Schema(),
		c.Occupancies.Schema(), c.Seals.Schema(),
		c.KubernetesClusters.Schema(), c.GPUClusters.Schema(),
		c.SecurityGroups.Schema(), c.DeletedSecurityGroups.Schema(), c.SecurityGroupReferences.Schema(),
	}
}

func text(names ...string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		out[i] = Column{Name: n, Kind: KindString}
	}
	return out
}

func createdColumn() Column               { return Column{Name: "created", Kind: KindInt} }
func created(t resources.Time) Value      { return Int(int64(t)) }
func compositeKey(parts ...string) string { return strings.Join(parts, "|") }

func accounts() Collection[resources.Account] {
	return NewCollection(Schema{
		Name:    "accounts",
		Columns: []Column{createdColumn()},
		Indexes: []Index{{Name: ByCreated, Columns: []string{"created"}}},
	}, func(a *resources.Account) string { return a.ID }, func(a *resources.Account) []Value {
		return []Value{created(a.CreatedAt)}
	})
}

// projects: a deleted project keeps its key, since its id is never given again, and
// leaves every index.
func projects() Collection[resources.Project] {
	return NewCollection(Schema{
		Name:    "projects",
		Columns: append(text("account", "name"), createdColumn()),
		Indexes: []Index{
			{Name: ByName, Columns: []string{"account", "name"}, Unique: true},
			{Name: ByAccount, Columns: []string{"account", "created"}},
		},
	}, func(p *resources.Project) string { return p.ID }, func(p *resources.Project) []Value {
		if p.State == resources.ProjectDeleted {
			return []Value{{}, {}, created(p.CreatedAt)}
		}
		return []Value{String(p.AccountID), String(p.Name), created(p.CreatedAt)}
	})
}

func users() Collection[resources.User] {
	return NewCollection(Schema{
		Name:    "users",
		Columns: append(text("uuid", "email", "partner", "account"), Column{Name: "since", Kind: KindInt}),
		Indexes: []Index{
			{Name: ByUUID, Columns: []string{"uuid"}, Unique: true},
			{Name: ByEmail, Columns: []string{"email"}, Unique: true},
			{Name: ByPartner, Columns: []string{"partner"}, Unique: true},
			{Name: ByAccount, Columns: []string{"account", "since"}},
		},
	}, func(u *resources.User) string { return u.ExternalID }, func(u *resources.User) []Value {
		return []Value{
			String(u.UUID), String(resources.FoldEmail(u.Email)), OptionalString(u.AuthenticationPartnerID),
			OptionalString(u.AccountID), Int(int64(u.MemberSince)),
		}
	})
}

func roles() Collection[resources.Role] {
	return NewCollection(Schema{
		Name:    "roles",
		Columns: text("account", "name"),
		Indexes: []Index{{Name: ByName, Columns: []string{"account", "name"}, Unique: true}},
	}, func(r *resources.Role) string { return r.ID }, func(r *resources.Role) []Value {
		return []Value{String(r.AccountID), String(r.Name)}
	})
}

// AssignmentID names an assignment by what it is; no part can hold the separator.
func AssignmentID(a resources.Assignment) string {
	return compositeKey(a.AccountID, a.RoleID, a.AssigneeType, a.AssigneeID, a.ProjectID, a.ResourceID)
}

func assignments() Collection[resources.Assignment] {
	return NewCollection(Schema{
		Name:    "role_assignments",
		Columns: append(text("account", "role", "type", "assignee", "project"), createdColumn()),
		Indexes: []Index{
			{Name: ByRole, Columns: []string{"account", "role", "created"}},
			{Name: ByAssignee, Columns: []string{"account", "type", "assignee", "created"}},
			{Name: ByProject, Columns: []string{"account", "project", "created"}},
		},
	}, func(a *resources.Assignment) string { return AssignmentID(*a) }, func(a *resources.Assignment) []Value {
		return []Value{
			String(a.AccountID), String(a.RoleID), String(a.AssigneeType), String(a.AssigneeID),
			OptionalString(a.ProjectID), created(a.CreatedAt),
		}
	})
}

func groups() Collection[resources.Group] {
	return NewCollection(Schema{
		Name:    "groups",
		Columns: append(text("account", "name"), createdColumn()),
		Indexes: []Index{
			{Name: ByName, Columns: []string{"account", "name"}, Unique: true},
			{Name: ByAccount, Columns: []string{"account", "created"}},
		},
	}, func(g *resources.Group) string { return g.ID }, func(g *resources.Group) []Value {
		return []Value{String(g.AccountID), String(g.Name), created(g.CreatedAt)}
	})
}

// MemberID names a membership by group and user.
func MemberID(group, user string) string { return compositeKey(group, user) }

func members() Collection[resources.GroupMember] {
	return NewCollection(Schema{
		Name:    "group_members",
		Columns: append(text("account", "group_id", "user_id"), Column{Name: "added", Kind: KindInt}),
		Indexes: []Index{
			{Name: ByGroup, Columns: []string{"group_id", "added"}},
			{Name: ByUser, Columns: []string{"account", "user_id", "added"}},
		},
	}, func(m *resources.GroupMember) string { return MemberID(m.GroupID, m.UserID) },
		func(m *resources.GroupMember) []Value {
			return []Value{String(m.AccountID), String(m.GroupID), String(m.UserID), Int(int64(m.AddedAt))}
		})
}
