package policytest

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

func (a *Asker) subject() *resources.Subject {
	s := &resources.Subject{AccountID: a.id("acct-demo-v1"), AccountExists: true, AccountStatus: resources.StatusActive}
	s.UserID, s.UserUUID, s.UserExists, s.UserStatus, s.Member = a.id("user-bob-v1"), a.id("b0b"), true, resources.StatusActive, true
	switch a.IntN(10) {
	case 0:
		s.AccountStatus = resources.StatusSuspended
	case 1:
		s.AccountExists, s.AccountStatus, s.Member = false, "", false
	case 2:
		s.AccountID, s.AccountExists, s.AccountStatus, s.Member = "", false, "", false
	}
	switch a.IntN(10) {
	case 0:
		s.UserExists, s.UserStatus, s.Member = false, "", false
	case 1:
		s.UserStatus = One(a.Rand, resources.StatusInactive, resources.StatusSuspended, resources.StatusInvited)
	case 2:
		s.Member = false
	}
	for range One(a.Rand, 0, 0, 1, 1, 1, 2, 2, 3) {
		if s.Member {
			s.Assignments = append(s.Assignments, a.assignment())
		}
	}
	return s
}

func (a *Asker) assignment() resources.HeldRole {
	status := func() string {
		return One(a.Rand, "ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE", "UNHEARD")
	}
	h := resources.HeldRole{RoleID: resources.RoleAccountAdmin, RoleStatus: "ACTIVE", Status: "ACTIVE", RoleScope: resources.RoleScopeAccount}
	switch a.IntN(6) {
	case 0, 1:
		return h
	case 2, 3:
		h.RoleID, h.Custom, h.Permissions = a.id("role-a-v1"), true, a.held()
	default:
		h.RoleID = One(a.Rand, One(a.Rand, a.roles[:]...)...)
	}
	h.RoleStatus, h.Status = status(), status()
	if !strings.HasPrefix(h.RoleID, "account") && a.IntN(2) == 0 {
		h.ProjectID, h.RoleScope = a.id("proj-demo-v1"), resources.RoleScopeProject
		if a.IntN(3) == 0 {
			h.ResourceID, h.RoleScope = located(resources.Target{Rest: a.text("instances/i-1")}).Resource, resources.RoleScopeResource
		}
		if h.ResourceID == "" {
			h.RoleScope = resources.RoleScopeProject
		}
	}
	if a.IntN(8) == 0 {
		h.RoleScope = One(a.Rand, resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource)
	}
	h.ExpiresAt = One(a.Rand, 0, 0, 0, 0, a.time(Start-1, Start+1000, Start+2000))
	return h
}

// held returns permissions: half of the time from the patterns in the words of the change, if there are any.
func (a *Asker) held() []string {
	if len(a.named) > 0 && a.IntN(2) == 0 {
		return a.some(a.named)
	}
	return a.some(a.patterns)
}

// some returns up to three of the strings, sorted, each once.
func (a *Asker) some(all []string) (out []string) {
	for range One(a.Rand, 0, 1, 1, 1, 2, 3) {
		out = append(out, One(a.Rand, all...))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (a *Asker) caller(s *resources.Subject, entry string) resources.Principal {
	user := resources.Principal{Kind: resources.PrincipalUser, ID: s.UserID, UUID: s.UserUUID, Credential: resources.CredentialToken}
	if s.Member {
		user.AccountID = s.AccountID
	}
	n := a.IntN(10)
	if entry == "decision" && (n == 9 || !s.UserExists) {
		user.ID, user.UUID, user.AccountID = a.id("user-eve-v1"), a.id("e5e"), a.id("acct-demo-v1", "acct-other-v1")
	}
	switch {
	case n < 3 || !s.UserExists && entry != "decision":
		p := resources.Principal{Kind: resources.PrincipalService, ID: resources.ServicePrefix + "x", Credential: resources.CredentialToken}
		p.Scopes = a.some(append(resources.ServiceScopes(), a.text("")))
		p.Scopes = slices.DeleteFunc(p.Scopes, func(scope string) bool { return scope == "" })
		return p
	case n == 3 && entry == "decision":
		user.Kind, user.ID = resources.PrincipalAgent, s.UserID
	case n < 6:
		user.Credential, user.KeyScopes = resources.CredentialKey, One(a.Rand, nil, []string{"read"}, []string{"write"}, []string{"read", "write"})
	}
	return user
}
