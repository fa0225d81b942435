package changes

import (
	"bytes"
	"encoding/json"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Shown says how the API shows what it does not show as it is stored.
type Shown struct {
	Assignment func(resources.Assignment) any
	Project    func(resources.Project) any
	User       func(resources.User) any
	APIKey     func(resources.APIKey) any
}

// kind is a collection with recorded changes.
type kind struct {
	name string
	// rank orders the kinds of one change: its subject is the first, unless the route names another.
	rank int
	// read returns a stored body as an item; no body is none.
	read func(body []byte) (item, error)
}

// item is a record as the API shows it. shown is nil for one that the API does not show.
type item struct {
	account, id string
	shown       json.RawMessage
}

// kinds returns the kinds by the names of their collections.
func (r *Recorder) kinds() map[string]kind {
	c := r.Collections
	return map[string]kind{
		c.Accounts.Schema().Name: kindOf("account", 0, func(a resources.Account) (string, string, any) { return a.ID, a.ID, a }),
		c.Users.Schema().Name: kindOf("user", 1, func(u resources.User) (string, string, any) {
			return u.AccountID, u.ExternalID, r.Shown.User(u)
		}),
		c.Projects.Schema().Name: kindOf("project", 2, func(p resources.Project) (string, string, any) {
			if p.State == resources.ProjectDeleted {
				return p.AccountID, p.ID, nil
			}
			return p.AccountID, p.ID, r.Shown.Project(p)
		}),
		c.Roles.Schema().Name: kindOf("role", 3, func(o resources.Role) (string, string, any) { return o.AccountID, o.ID, o }),
		c.Groups.Schema().Name: kindOf("group", 4, func(g resources.Group) (string, string, any) {
			return g.AccountID, g.ID, g
		}),
		c.Agents.Schema().Name: kindOf("agent", 4, func(a resources.Agent) (string, string, any) {
			return a.AccountID, a.ID, a
		}),
		c.Assignments.Schema().Name: kindOf("role_assignment", 5, func(a resources.Assignment) (string, string, any) {
			return a.AccountID, a.AssigneeID, r.Shown.Assignment(a)
		}),
		c.Members.Schema().Name: kindOf("group_member", 6, func(m resources.GroupMember) (string, string, any) {
			return m.AccountID, m.UserID, memberBody{m.GroupID, m.UserID, m.AddedAt}
		}),
		c.Delegations.Schema().Name: kindOf("delegation", 6, func(d resources.Delegation) (string, string, any) {
			return d.AccountID, d.UserID, d
		}),
		c.Approvals.Schema().Name: kindOf("approval", 6, func(a resources.Approval) (string, string, any) {
			a.ArgumentsHash = "" // somebody could guess the arguments from it
			return a.AccountID, a.ID, a.WithoutArguments()
		}),
		c.APIKeys.Schema().Name: kindOf("api_key", 7, func(k resources.APIKey) (string, string, any) {
			return k.AccountID, k.ID, r.Shown.APIKey(k)
		}),
	}
}

// memberBody is a membership; the API shows the group in the path.
type memberBody struct {
	GroupID string         `json:"group_id"`
	UserID  string         `json:"user_id"`
	AddedAt resources.Time `json:"added_at"`
}

// kindOf returns the kind of records whose bodies are a T; show returns of one what a change tells.
func kindOf[T any](name string, rank int, show func(T) (account, id string, shown any)) kind {
	return kind{name, rank, func(body []byte) (item, error) {
		if body == nil {
			return item{}, nil
		}
		var v T
		if err := json.Unmarshal(body, &v); err != nil {
			return item{}, err
		}
		account, id, shown := show(v)
		if shown == nil {
			return item{account: account, id: id}, nil
		}
		raw, err := json.Marshal(shown)
		return item{account, id, raw}, err
	}}
}

// same says whether the API shows both alike, but for the time of the last update.
func (i item) same(other item) bool {
	if i.shown == nil || other.shown == nil {
		return i.shown == nil && other.shown == nil
	}
	return bytes.Equal(withoutUpdate(i.shown), withoutUpdate(other.shown))
}

// withoutUpdate returns an object without the time of its last update.
func withoutUpdate(object json.RawMessage) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return object
	}
	delete(fields, "updated_at")
	delete(fields, "updatedAt")
	out, err := json.Marshal(fields)
	if err != nil {
		return object
	}
	return out
}

var _ store.Store = (*recorded)(nil)
