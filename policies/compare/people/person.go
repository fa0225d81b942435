package people

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/resources"
)

// Person is what rules read of a user in the user's own account. A gateway sends it as JSON.
type Person struct {
	// Subject has no more of the user than the id and the status.
	Subject *resources.Subject `json:"subject"`
	// Projects are the states of the projects in which the user holds a role, by their ids.
	Projects map[string]string `json:"projects,omitempty"`
	// Keys are the scopes of the API keys that may be used, those of each joined by +.
	Keys []string `json:"keys,omitempty"`
}

// NewPerson returns the person with these facts.
func NewPerson(s *resources.Subject, projects map[string]string, now resources.Time) Person {
	p := Person{Projects: projects, Subject: &resources.Subject{
		AccountID: s.AccountID, AccountExists: s.AccountExists, AccountStatus: s.AccountStatus,
		UserID: s.UserID, UserExists: s.UserExists, UserStatus: s.UserStatus, Member: s.Member,
	}}
	for _, h := range s.Assignments {
		h.GroupID, h.CreatedAt, h.UpdatedAt = "", 0, 0
		p.Subject.Assignments = append(p.Subject.Assignments, h)
	}
	for _, key := range s.Keys {
		if key.ExpiresAt == 0 || key.ExpiresAt > now {
			p.Keys = append(p.Keys, strings.Join(slices.Sorted(slices.Values(key.Scopes)), "+"))
		}
	}
	slices.Sort(p.Keys)
	p.Keys = slices.Compact(p.Keys)
	return p
}

// place is where users are asked about.
type place struct {
	// kind is what a report calls it.
	kind              string
	project, resource string
	// stranger is for another account than the user's.
	stranger bool
	// id names a place where the user holds a role; it is "" for other places.
	id string
}

// places returns the account, each project and resource with a role of the person, another project, and the same in another
// account.
func (p *Person) places() []place {
	out := []place{
		{kind: "account"},
		{kind: "another account, account", stranger: true},
		{kind: "another account, other project", project: compare.AnyProject, stranger: true},
	}
	if p.Subject.Member {
		out = append(out, place{kind: "other project", project: compare.AnyProject})
	}
	seen := map[string]bool{}
	for i := range p.Subject.Assignments {
		project, resource := p.Subject.Assignments[i].ProjectID, p.Subject.Assignments[i].ResourceID
		if project != "" && !seen[project] {
			out = append(out, place{kind: "project", project: project, id: project})
		}
		if id := project + "/" + resource; project != "" && resource != "" && !seen[id] {
			out = append(out, place{kind: "resource", project: project, resource: resource, id: id})
			seen[id] = true
		}
		seen[project] = true
	}
	return out
}
