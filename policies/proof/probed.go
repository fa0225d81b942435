package proof

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// probed is a caller whom every policy must deny.
type probed struct {
	// name is the object of the problem "authz.decision allows …".
	name      string
	principal resources.Principal
	subject   *resources.Subject
}

// Names that no store has, and the time of the questions.
const (
	probeAccount = "acct-probe-v0"
	probeUser    = "user-probe-v0"
	probeRole    = "role-probe-v0"
	probeAction  = "project:nothing:probe"
	probeNow     = resources.Time(1_000_000) // milliseconds
)

// withoutRights asks the questions of callersWithoutRights. Each caller lacks one condition, and otherwise is an active
// member who holds the action by a custom role. A policy that allows one of them does not check the condition.
func (p *prober) withoutRights(ctx context.Context) {
	action, _ := resources.ParseAction(probeAction)
	for _, caller := range callersWithoutRights() {
		facts := resources.Facts{Subject: caller.subject}
		p.question(ctx, caller.name, resources.Question{
			Principal: caller.principal, AccountID: probeAccount, Facts: facts, Action: action, Now: probeNow,
		}, engine.EntryDecision, engine.EntryAccess)
		p.question(ctx, caller.name, resources.Question{
			Principal: caller.principal, AccountID: probeAccount, Facts: facts, Grant: &resources.Grant{Permissions: []string{probeAction}}, Now: probeNow,
		}, engine.EntryGrantable)
	}
}

// withoutScopes asks about each route that is not public: as a caller without a credential, and as a service without a
// scope.
func (p *prober) withoutScopes(ctx context.Context, routes []resources.Route) {
	service := resources.Principal{
		Kind: resources.PrincipalService, ID: resources.ServicePrefix + "probe", Credential: resources.CredentialToken,
	}
	for _, route := range routes {
		if slices.Contains(route.Access, "public") {
			continue
		}
		action, _ := resources.ParseAction(route.Action) // the zero action for a row without one
		q := resources.Question{AccountID: probeAccount, Action: action, Route: &route, Now: probeNow}
		p.question(ctx, "a caller without a credential on "+route.Name, q, engine.EntryAccess)
		q.Principal = service
		p.question(ctx, "a service without a scope on "+route.Name, q, engine.EntryAccess)
	}
}

// callersWithoutRights returns callers whom every policy must deny. Each lacks one condition.
func callersWithoutRights() []probed {
	person := func(name string, remove func(caller *probed, held *resources.HeldRole)) probed {
		caller := probed{
			name: name,
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
		remove(&caller, &caller.subject.Assignments[0])
		return caller
	}
	return []probed{
		person("a member who holds no role", func(caller *probed, _ *resources.HeldRole) { caller.subject.Assignments = nil }),
		person("a user who is not known", func(caller *probed, _ *resources.HeldRole) {
			caller.subject.UserExists, caller.subject.UserStatus = false, ""
		}),
		person("a suspended user", func(caller *probed, _ *resources.HeldRole) { caller.subject.UserStatus = resources.StatusSuspended }),
		person("a user who is no member of the account", func(caller *probed, _ *resources.HeldRole) { caller.subject.Member = false }),
		person("a user of an account that is deleted", func(caller *probed, _ *resources.HeldRole) {
			caller.subject.AccountExists, caller.subject.AccountStatus = false, ""
		}),
		person("a user whose only assignment has ended", func(_ *probed, held *resources.HeldRole) { held.ExpiresAt = probeNow - 1 }),
		person("a user whose only assignment is not active", func(_ *probed, held *resources.HeldRole) { held.Status = resources.StatusInactive }),
		person("a user whose only role is not active", func(_ *probed, held *resources.HeldRole) { held.RoleStatus = resources.StatusInactive }),
		person("an API key without a scope", func(caller *probed, _ *resources.HeldRole) { caller.principal.Credential = resources.CredentialKey }),
	}
}
