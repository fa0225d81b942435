package policytest

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Start is the time about which random questions are asked: a Thursday, at midnight.
const Start resources.Time = 1_767_225_600_000

// never is the last time that an input can name.
const never resources.Time = 253_402_300_799_999

// Ask is one thing to ask: at grantable the grant, at decision and access the question.
type Ask struct {
	// Entry is decision, access or grantable.
	Entry    string
	Question resources.Question
	// Permissions and Until are those of the grant.
	Permissions []string
	Until       resources.Time
}

// Asked returns what the engine is asked: at grantable about the grant, by the question's caller, at its target.
func (a *Ask) Asked() resources.Question {
	q := a.Question
	if a.Entry == "grantable" {
		q.Action, q.Route = resources.Action{}, nil
		q.Target, q.Grant = resources.TargetAt(q.Target.ProjectID, q.Target.Resource), &resources.Grant{Permissions: a.Permissions, Until: a.Until}
	}
	return q
}

// Random draws what there is to ask in a small world, where much is equal by chance. It fills each value with
// what the gateway gives, and with what the gateway never gives.
type Random struct{ *rand.Rand }

// NewRandom returns the one of a seed.
func NewRandom(seed, stream uint64) Random { return Random{rand.New(rand.NewPCG(seed, stream))} } //nolint:gosec // a test repeats it

// One returns one of those given.
func One[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// Ask returns something to ask, most often about the account of the facts, and about a place in it.
func (r Random) Ask() Ask {
	var a Ask
	for _, value := range values() {
		value(r, &a)
	}
	if s := a.Question.Facts.Subject; s != nil && r.IntN(4) > 0 {
		s = ActiveSubject()
		s.Assignments = r.roles(r.IntN(7))
		a.Question.Facts.Subject = s
		a.Question.AccountID = s.AccountID
		if p := &a.Question.Principal; r.IntN(2) > 0 {
			p.Kind, p.ID, p.UUID, p.AccountID = resources.PrincipalUser, s.UserID, s.UserUUID, s.AccountID
		}
		if t := &a.Question.Target; r.IntN(3) > 0 {
			*t = resources.Target{AccountID: s.AccountID, UserID: t.UserID}
			if a.Question.Facts.ProjectState = ""; a.Question.Action.Scope != resources.ScopeAccount {
				r.place(&a)
			}
		}
	}
	return a
}

// Mutate returns what is asked with one value changed, or a few. What was given stays as it is.
func (r Random) Mutate(from Ask) Ask {
	for {
		a := from
		a.unshare()
		for range One(r.Rand, 1, 1, 1, 1, 2, 2, 3, 5) {
			One(r.Rand, r.changes()...)(r, &a)
		}
		a.share(&from)
		if !reflect.DeepEqual(a, from) {
			return a
		}
	}
}

// unshare has the subject and its list of assignments be what is asked's own, to be changed.
func (a *Ask) unshare() {
	if s := a.Question.Facts.Subject; s != nil {
		copied := s.Clone()
		copied.Assignments = slices.Clone(copied.Assignments)
		a.Question.Facts.Subject = copied
	}
}

// share has the other's subject where it is an equal one, as the gateway's cache of facts has it.
func (a *Ask) share(other *Ask) {
	if s, was := a.Question.Facts.Subject, other.Question.Facts.Subject; s != nil && was != nil && reflect.DeepEqual(s, was.Clone()) {
		a.Question.Facts.Subject = was
	}
}

// change sets something of what is asked. A subject and its list of assignments are a.Question's own; what is in the
// lists is replaced, never written to.
type change = func(r Random, a *Ask)

// changes are all that Mutate draws from. Facts and places are many values each, and so come more often.
func (r Random) changes() []change {
	switch r.IntN(4) {
	case 0:
		return ofSubject()
	case 1:
		return ofWorld()
	}
	return values()
}

// values has one for each value of a question or a grant, which it draws anew.
func values() []change {
	return []change{
		func(r Random, a *Ask) { a.Entry = One(r.Rand, "decision", "access", "grantable") },
		func(r Random, a *Ask) {
			a.Question.Principal.Kind = One(r.Rand, "user", "user", "service", "service", "none", "", "robot")
		},
		func(r Random, a *Ask) { a.Question.Principal.ID = r.user() },
		func(r Random, a *Ask) { a.Question.Principal.UUID = One(r.Rand, "b0b", "e5e", "", "user-bob-v1") },
		func(r Random, a *Ask) { a.Question.Principal.AccountID = r.account() },
		func(r Random, a *Ask) {
			a.Question.Principal.Credential = One(r.Rand, "token", "key", "key", "none", "", "cookie")
		},
		func(r Random, a *Ask) {
			a.Question.Principal.Scopes = r.some("authz:check", "platform:admin", "users:sync", "other")
		},
		func(r Random, a *Ask) { a.Question.Principal.KeyScopes = r.some("read", "write", "admin") },
		func(r Random, a *Ask) { a.Question.Principal.KeyID = One(r.Rand, "", "key-a-v1", "key-b-v1") },
		func(r Random, a *Ask) { a.Question.Action, _ = resources.ParseAction(One(r.Rand, r.actions()...)) },
		func(r Random, a *Ask) { a.Question.Action.ID = One(r.Rand, r.actions()...) },
		func(r Random, a *Ask) {
			a.Question.Action.Scope = One(r.Rand, "account", "project", "resource", "", "galaxy")
		},
		func(r Random, a *Ask) { a.Question.Action.Resource = One(r.Rand, "user", "instance", "volume", "") },
		func(r Random, a *Ask) { a.Question.Action.Verb = One(r.Rand, "read", "list", "create", "*", "") },
		func(r Random, a *Ask) {
			a.Question.Route = One(r.Rand, nil, &resources.Route{}, r.route(), r.route(), r.route(), r.route())
		},
		func(r Random, a *Ask) { a.row().Name = r.route().Name },
		func(r Random, a *Ask) { a.row().Effect = r.route().Effect },
		func(r Random, a *Ask) { a.row().Access = r.route().Access },
		func(r Random, a *Ask) { a.Question.Target.AccountID = r.account() },
		func(r Random, a *Ask) { a.Question.Target.ProjectID = r.project() },
		func(r Random, a *Ask) {
			a.Question.Facts.ProjectState = One(r.Rand, "active", "active", "deleting", "absent", "", "ACTIVE")
		},
		func(r Random, a *Ask) { a.Question.Agent = r.agent() },
		func(r Random, a *Ask) { a.Question.Target.Resource = r.resource() },
		func(r Random, a *Ask) { a.Question.Target.Rest = r.rest(r.resource()) },
		func(r Random, a *Ask) { a.Question.Target.UserID = One(r.Rand, r.user(), r.user(), "b0b", "e5e") },
		func(r Random, a *Ask) { a.Permissions = r.some(r.patterns()...) },
		func(r Random, a *Ask) { a.Until = r.end() },
		func(r Random, a *Ask) { a.Question.Now = r.now() },
		func(r Random, a *Ask) { a.Question.Facts.Revision = r.Int64N(9) },
		func(r Random, a *Ask) {
			a.Question.Facts.Subject, a.Question.AccountID = nil, r.account()
			if r.IntN(4) > 0 {
				a.Question.Facts.Subject = &resources.Subject{
					AccountID: a.Question.AccountID, AccountExists: r.IntN(2) > 0, AccountStatus: r.status(), UserID: r.user(),
					UserExists: r.IntN(2) > 0, UserStatus: r.status(), Member: r.IntN(2) > 0, Assignments: r.roles(r.IntN(7)),
				}
			}
		},
	}
}

// ofWorld change several values together, so that much of what rules can compare stays as it was.
func ofWorld() []change {
	return []change{
		// Somebody, or some place, by another name.
		func(r Random, a *Ask) {
			a.rename(r, a.Question.Principal.ID, "user-zoe-v1", "user-bob-v1", "user-eve-v1")
		},
		func(r Random, a *Ask) { a.rename(r, a.Question.Principal.UUID, "20e", "b0b") },
		func(r Random, a *Ask) { a.rename(r, a.Question.Target.UserID, "user-zoe-v1", "20e", "user-eve-v1") },
		func(r Random, a *Ask) { a.rename(r, a.Question.AccountID, "acct-zoo-v1", "acct-demo-v1") },
		func(r Random, a *Ask) { a.rename(r, a.Question.Target.ProjectID, "proj-zoo-v1", "proj-other-v1") },
		func(r Random, a *Ask) {
			old := a.Question.Target.Resource
			next := One(r.Rand, "instances/i-9", "instances/i-1", "disks/d-1")
			if a.rename(r, old, next); a.Question.Target.Rest != "" {
				a.Question.Target.Rest = r.rest(next)
			}
		},
		// Somebody else about the same.
		func(r Random, a *Ask) {
			if s := a.Question.Facts.Subject; s != nil {
				s.UserID, s.UserUUID = "user-new-v1", "new"
			}
		},
		func(r Random, a *Ask) {
			p := &a.Question.Principal
			p.ID, p.UUID = One(r.Rand, "user-new-v1", "service-new"), "new"
		},
		// Another place.
		func(r Random, a *Ask) { r.place(a) },
		func(r Random, a *Ask) { a.Question.Target.Rest = r.rest(a.Question.Target.Resource) },
		func(r Random, a *Ask) { a.Question.Target, a.Question.Facts.ProjectState = resources.Target{}, "" },
		// Another time, most often one at which an assignment ends.
		crossEnd, crossEnd, crossEnd,
		func(r Random, a *Ask) { a.Question.Now += resources.Time(r.IntN(3) - 1) },
		func(r Random, a *Ask) { a.Question.Now += resources.Time(r.IntN(30*24)) * 3_600_000 },
	}
}

// crossEnd asks about the time at which an assignment ends.
func crossEnd(r Random, a *Ask) {
	if s := a.Question.Facts.Subject; s != nil && len(s.Assignments) > 0 {
		a.Question.Now = One(r.Rand, s.Assignments...).ExpiresAt + resources.Time(r.IntN(3)-1)
	}
}

// ofSubject change the stored facts.
func ofSubject() []change {
	about := func(do func(r Random, s *resources.Subject)) change {
		return func(r Random, a *Ask) {
			if s := a.Question.Facts.Subject; s != nil {
				do(r, s)
				a.Question.AccountID = s.AccountID
			}
		}
	}
	one := func(do func(r Random, h *resources.HeldRole)) change {
		return about(func(r Random, s *resources.Subject) {
			if len(s.Assignments) > 0 {
				do(r, &s.Assignments[r.IntN(len(s.Assignments))])
			}
		})
	}
	return []change{
		about(func(r Random, s *resources.Subject) { s.AccountID = r.account() }),
		about(func(r Random, s *resources.Subject) { s.AccountExists = !s.AccountExists }),
		about(func(r Random, s *resources.Subject) { s.AccountStatus = r.status() }),
		about(func(r Random, s *resources.Subject) { s.UserID = r.user() }),
		about(func(r Random, s *resources.Subject) { s.UserUUID = One(r.Rand, "b0b", "e5e", "") }),
		about(func(r Random, s *resources.Subject) { s.UserExists = !s.UserExists }),
		about(func(r Random, s *resources.Subject) { s.UserStatus = r.status() }),
		about(func(r Random, s *resources.Subject) { s.Member = !s.Member }),
		about(func(r Random, s *resources.Subject) {
			s.HomeID, s.PartnerID = r.account(), One(r.Rand, "", "partner-a")
		}),
		about(func(r Random, s *resources.Subject) { s.Assignments = r.roles(r.IntN(7)) }),
		about(func(r Random, s *resources.Subject) { s.Assignments = append(s.Assignments, r.role()) }),
		about(func(r Random, s *resources.Subject) { // held twice
			if len(s.Assignments) > 0 {
				s.Assignments = append(s.Assignments, One(r.Rand, s.Assignments...))
			}
		}),
		about(func(r Random, s *resources.Subject) {
			if len(s.Assignments) > 0 {
				s.Assignments = slices.Delete(s.Assignments, 0, 1)
			}
		}),
		about(func(r Random, s *resources.Subject) {
			r.Shuffle(len(s.Assignments), func(i, j int) { s.Assignments[i], s.Assignments[j] = s.Assignments[j], s.Assignments[i] })
		}),
		about(func(r Random, s *resources.Subject) { // elsewhere
			h := r.role()
			h.ProjectID = "proj-elsewhere-v1"
			s.Assignments = append(s.Assignments, h)
		}),
		one(func(r Random, h *resources.HeldRole) { h.RoleID = r.role().RoleID }),
		one(func(r Random, h *resources.HeldRole) { h.Custom = !h.Custom }),
		one(func(r Random, h *resources.HeldRole) { h.Permissions = r.some(r.patterns()...) }),
		one(func(r Random, h *resources.HeldRole) { h.RoleScope = r.role().RoleScope }),
		one(func(r Random, h *resources.HeldRole) { h.RoleStatus = r.status() }),
		one(func(r Random, h *resources.HeldRole) { h.Status = r.status() }),
		one(func(r Random, h *resources.HeldRole) { h.ProjectID = r.project() }),
		one(func(r Random, h *resources.HeldRole) { h.ResourceID = r.resource() }),
		one(func(r Random, h *resources.HeldRole) { h.ExpiresAt = r.end() }),
		one(func(r Random, h *resources.HeldRole) { h.ExpiresAt++ }),
		one(func(r Random, h *resources.HeldRole) { h.GroupID, h.CreatedAt = One(r.Rand, "", "group-a-v1"), r.now() }),
	}
}

// place draws a place in a project, as the gateway makes it of a path.
func (r Random) place(a *Ask) {
	t := &a.Question.Target
	t.ProjectID, t.Resource = One(r.Rand, "proj-demo-v1", "proj-other-v1", "proj-none-v1"), r.resource()
	t.Rest = r.rest(t.Resource)
	a.Question.Facts.ProjectState = One(r.Rand, "active", "active", "active", "deleting", "absent")
}

// agent draws an agent that acts, mostly none.
func (r Random) agent() *resources.ActingAgent {
	if r.IntN(3) > 0 {
		return nil
	}
	return &resources.ActingAgent{ID: "agent-a-v1", Exists: r.IntN(2) == 0, Status: r.status(), Covered: r.IntN(2) == 0}
}

func (r Random) user() string {
	return One(r.Rand, "user-bob-v1", "user-bob-v1", "user-eve-v1", "service-x", "")
}

func (r Random) account() string {
	return One(r.Rand, "acct-demo-v1", "acct-demo-v1", "acct-other-v1", "")
}
func (r Random) project() string { return One(r.Rand, "proj-demo-v1", "proj-other-v1", "") }
func (r Random) status() string {
	return One(r.Rand, "ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE", "SUSPENDED", "", "active", "STRANGE")
}

func (r Random) resource() string {
	return One(r.Rand, "instances/i-1", "instances/i-1", "instances/i-10", "disks/d-1", "")
}

// rest is the path of a resource, or one below it.
func (r Random) rest(resource string) string {
	return resource + One(r.Rand, "", "", "/disks", "/disks/d-2")
}

func (Random) actions() []string {
	return []string{"project:instance:read", "project:instance:create", "resource:volume:list", "account:user:read", "account:role:create", ""}
}

func (Random) patterns() []string {
	return []string{"*:*:*", "project:*:*", "project:instance:read", "project:*:read", "account:*:*", "resource:volume:list", "account:user:read", "odd"}
}

// some returns none, one or a few of those given, now and then one of them twice.
func (r Random) some(of ...string) (out []string) {
	for range One(r.Rand, 0, 1, 1, 2, 3) {
		out = append(out, One(r.Rand, of...))
	}
	return out
}

// row returns the question's route, to be changed.
func (a *Ask) row() *resources.Route {
	row := &resources.Route{}
	if a.Question.Route != nil {
		*row = *a.Question.Route
	}
	a.Question.Route = row
	return row
}

func (r Random) route() *resources.Route {
	return &resources.Route{
		Name:   One(r.Rand, "authorization.check", "role_assignment.list_of_user", "user.get", "cluster.create", ""),
		Effect: One(r.Rand, "read", "read", "write", ""),
		Access: r.some("self", "self_by_token", "asks_self", "member", "public", "service:authz:check", "service:users:sync"),
	}
}

// now is about Start, to the millisecond, or an hour of another day.
func (r Random) now() resources.Time {
	return Start + One[resources.Time](r.Rand, -1000, -1, 0, 1, 999, 1000, 1001, 2000, 5*3_600_000, 100*3_600_000)
}

// end is none, or about Start.
func (r Random) end() resources.Time {
	return One[resources.Time](r.Rand, 0, 0, Start-1000, Start, Start+1, Start+1000, Start+1001, Start+86_400_000, never, -1)
}

func (r Random) roles(n int) (out []resources.HeldRole) {
	for range n {
		out = append(out, r.role())
	}
	return out
}

// role is a system role or a custom one; a custom one may have the id of a system role, and two may have one id.
func (r Random) role() resources.HeldRole {
	id := One(r.Rand, "account_admin", "account_reader", "project_admin", "project_reader", "role-a-v1", "role-b-v1", "role-gone-v1")
	h := resources.HeldRole{
		RoleID: id, RoleStatus: r.status(), Status: r.status(), ExpiresAt: r.end(), Custom: id[:5] == "role-" != (r.IntN(8) == 0),
	}
	switch r.IntN(4) {
	case 0:
		h.RoleScope = resources.RoleScopeAccount
	case 1, 2:
		h.RoleScope, h.ProjectID = resources.RoleScopeProject, One(r.Rand, "proj-demo-v1", "proj-demo-v1", "proj-other-v1")
	case 3:
		h.RoleScope, h.ProjectID, h.ResourceID = resources.RoleScopeResource, One(r.Rand, "proj-demo-v1", "proj-demo-v1", "proj-other-v1", ""), r.resource()
	}
	if r.IntN(8) == 0 {
		h.RoleScope = One(r.Rand, "ACCOUNT", "PROJECT", "RESOURCE", "", "GALAXY")
	}
	if h.Custom {
		h.Permissions = r.some(r.patterns()...)
	}
	return h
}
