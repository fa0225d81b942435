package people

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Person is what is known of a user: what rules read, in the account of which the user is a member. It is what a
// gateway sends of one.
type Person struct {
	User          string `json:"user"`
	Status        string `json:"status"`
	Account       string `json:"account,omitempty"`
	AccountStatus string `json:"account_status,omitempty"`
	// Keys are the scopes of the API keys that may be used, those of each joined by +.
	Keys []string `json:"keys,omitempty"`
	Held []Held   `json:"held,omitempty"`
}

// Held is one assignment of a person.
type Held struct {
	Role        string         `json:"role"`
	RoleScope   string         `json:"role_scope"`
	RoleStatus  string         `json:"role_status"`
	Custom      bool           `json:"custom,omitempty"`
	Permissions []string       `json:"permissions,omitempty"`
	Project     string         `json:"project,omitempty"`
	State       string         `json:"state,omitempty"`
	Resource    string         `json:"resource,omitempty"`
	Status      string         `json:"status"`
	Expires     resources.Time `json:"expires,omitzero"`
}

// Of returns the person whose facts these are, with the states of the projects in which they hold a role.
func Of(s *resources.Subject, projects map[string]string, now resources.Time) Person {
	p := Person{User: s.UserID, Status: s.UserStatus}
	if !s.Member {
		return p
	}
	p.Account, p.AccountStatus = s.AccountID, s.AccountStatus
	for _, key := range s.Keys {
		if key.ExpiresAt != 0 && key.ExpiresAt <= now {
			continue
		}
		scopes := slices.Sorted(slices.Values(key.Scopes))
		p.Keys = append(p.Keys, strings.Join(scopes, "+"))
	}
	slices.Sort(p.Keys)
	p.Keys = slices.Compact(p.Keys)
	for i := range s.Assignments {
		h := &s.Assignments[i]
		p.Held = append(p.Held, Held{
			Role: h.RoleID, RoleScope: h.RoleScope, RoleStatus: h.RoleStatus, Custom: h.Custom, Permissions: h.Permissions,
			Project: h.ProjectID, State: projects[h.ProjectID], Resource: h.ResourceID, Status: h.Status, Expires: h.ExpiresAt,
		})
	}
	return p
}
