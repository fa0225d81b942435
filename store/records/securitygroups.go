package records

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// The names of indexes of security groups only.
const (
	ByDeletion    = "by_deletion"
	ByRemoteGroup = "by_remote_group"
)

// SecurityGroupReference says that a rule of GroupID names another group, RemoteID. There is one for each such pair,
// written with the rules: one look-up shows whether a group is still named. A group in its own rules has none.
type SecurityGroupReference struct {
	GroupID  string `json:"group_id"`
	RemoteID string `json:"remote_id"`
}

// SecurityGroupReferenceID returns the key of a reference.
func SecurityGroupReferenceID(group, remote string) string { return compositeKey(group, remote) }

// securityGroups declares the groups in use. Rules are part of their group's record: two concurrent changes to one
// group's rules conflict, and a page of groups is one query.
func securityGroups() store.Collection[resources.SecurityGroup] {
	return store.NewCollection(store.Schema{
		Name:    "security_groups",
		Columns: append(text("account", "project", "name", "status"), createdColumn()),
		Indexes: []store.Index{
			{Name: ByName, Columns: []string{"account", "project", "name"}, Unique: true},
			{Name: ByCreated, Columns: []string{"account", "project", "created"}, Descending: true},
			{Name: ByPlace, Columns: []string{"account", "project"}},
			{Name: ByStatus, Columns: []string{"account", "project", "status", "created"}, Descending: true},
		},
	}, func(g *resources.SecurityGroup) string { return g.ID }, func(g *resources.SecurityGroup) []store.Value {
		return []store.Value{store.String(g.AccountID), store.String(g.ProjectID), store.String(g.Name), store.String(g.Status), created(g.CreatedAt)}
	})
}

// deletedSecurityGroups declares the deleted groups. They are apart: no read of a group in use finds one, and no index
// has to leave them out. UpdatedAt is when they were deleted.
func deletedSecurityGroups() store.Collection[resources.SecurityGroup] {
	return store.NewCollection(store.Schema{
		Name:    "security_groups_deleted",
		Columns: append(text("account", "project"), createdColumn(), store.Column{Name: "deleted", Kind: store.KindInt}),
		Indexes: []store.Index{
			{Name: ByCreated, Columns: []string{"account", "project", "created"}, Descending: true},
			{Name: ByDeletion, Columns: []string{"account", "project", "deleted"}},
		},
	}, func(g *resources.SecurityGroup) string { return g.ID }, func(g *resources.SecurityGroup) []store.Value {
		return []store.Value{store.String(g.AccountID), store.String(g.ProjectID), created(g.CreatedAt), store.Int(int64(g.UpdatedAt))}
	})
}

func securityGroupReferences() store.Collection[SecurityGroupReference] {
	return store.NewCollection(store.Schema{
		Name:    "security_group_references",
		Columns: text("remote"),
		Indexes: []store.Index{{Name: ByRemoteGroup, Columns: []string{"remote"}}},
	}, func(r *SecurityGroupReference) string { return SecurityGroupReferenceID(r.GroupID, r.RemoteID) },
		func(r *SecurityGroupReference) []store.Value { return []store.Value{store.String(r.RemoteID)} })
}
