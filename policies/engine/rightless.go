package engine

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// rightless is a question that any policy has to deny.
type rightless struct {
	// who finishes "… allows".
	who       string
	principal resources.Principal
	subject   *resources.Subject
}

// Names that no record has.
const (
	probeAccount = "acct-probe-v0"
	probeUser    = "user-probe-v0"
	probeRole    = "role-probe-v0"
	probeAction  = "project:nothing:probe"
	probeNow     = resources.Time(1_000_000) // ms, as everywhere
)

// rightless asks as those who have no rights, or none any more. But for one thing each of
// the people is an active member who holds the action that is asked about, by a custom role:
// a tree that forgets to ask for that thing is found here, and not by whom it lets in.
func (to *prober) rightless(ctx context.Context) {
	action, _ := resources.ParseAction(probeAction) // it is one
	for _, r := range rightlessPeople() {
		facts := resources.Facts{Subject: r.subject}
		to.question(ctx, r.who, &resources.Question{
			Principal: r.principal, AccountID: probeAccount, Facts: facts, Action: action, Now: probeNow,
		}, entryDecision, entryAccess)
		to.grant(ctx, r.who, &resources.Grant{
			Principal: r.principal, AccountID: probeAccount, Facts: facts, Permissions: []string{probeAction}, Now: probeNow,
		})
	}
	service := resources.Principal{
		Kind: resources.PrincipalService, ID: resources.ServicePrefix + "probe", Credential: resources.CredentialToken,
	}
	for _, route := range to.set.of.Routes {
		if slices.Contains(route.Access, "public") {
			continue
		}
		action, _ := resources.ParseAction(route.Action) // the zero one for a row without
		q := resources.Question{AccountID: probeAccount, Action: action, Route: route, Now: probeNow}
		to.question(ctx, "a caller without a credential on "+route.Name, &q, entryAccess)
		q.Principal = service
		to.question(ctx, "a service without a scope on "+route.Name, &q, entryAccess)
	}
}

func rightlessPeople() []rightless {
	person := func(who string, without func(r *rightless, held *resources.HeldRole)) rightless {
		r := rightless{
			who: who,
			principal: resources.Principal{
				Kind: resources.PrincipalUser, ID: probeUser, UUID: "probe", AccountID: probeAccount, Credential: resources.CredentialToken,
			},
			subject: &resources.Subject{
				AccountID: probeAccount, AccountExists: true, AccountStatus: resources.StatusActive,
				UserID: probeUser, UserUUID: "probe", UserExists: true, UserStatus: resources.StatusActive, Member: true,
				Assignments: []resources.HeldRole{{
					RoleID: probeRole, RoleScope: resources.RoleScopeAccount, RoleStatus: resources.StatusActive, Custom: true,
					Permissions: []string{probeAction}, Status: resources.StatusActive,
				}},
			},
		}
		without(&r, &r.subject.Assignments[0])
		return r
	}
	return []rightless{
		person("a member who holds no role", func(r *rightless, _ *resources.HeldRole) { r.subject.Assignments = nil }),
		person("a user who is not known", func(r *rightless, _ *resources.HeldRole) { r.subject.UserExists, r.subject.UserStatus = false, "" }),
		person("a suspended user", func(r *rightless, _ *resources.HeldRole) { r.subject.UserStatus = resources.StatusSuspended }),
		person("a user who is no member of the account", func(r *rightless, _ *resources.HeldRole) { r.subject.Member = false }),
		person("a user of an account that is deleted", func(r *rightless, _ *resources.HeldRole) {
			r.subject.AccountExists, r.subject.AccountStatus = false, ""
		}),
		person("a user whose only assignment has ended", func(_ *rightless, held *resources.HeldRole) { held.ExpiresAt = probeNow - 1 }),
		person("a user whose only assignment is not active", func(_ *rightless, held *resources.HeldRole) { held.Status = resources.StatusInactive }),
		person("a user whose only role is not active", func(_ *rightless, held *resources.HeldRole) { held.RoleStatus = resources.StatusInactive }),
		person("an API key without a scope", func(r *rightless, _ *resources.HeldRole) { r.principal.Credential = resources.CredentialKey }),
	}
}
