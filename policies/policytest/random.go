package policytest

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Start is the time near which random questions are asked: a Thursday, at midnight.
const Start resources.Time = 1_767_225_600_000

// never is the last time that an input can have.
const never resources.Time = 253_402_300_799_999

// Ask is an entry point with a question. At grantable, Asked makes a question about the grant of it.
type Ask struct {
	// Entry is decision, access or grantable.
	Entry    string
	Question resources.Question
	// Permissions and Until are of the grant.
	Permissions []string
	Until       resources.Time
}

// Asked returns the question for the engine. At grantable it is about the grant, by the caller and at the target of the
// question.
func (a *Ask) Asked() resources.Question {
	q := a.Question
	if a.Entry == "grantable" {
		q.Action, q.Route = resources.Action{}, nil
		q.Target, q.Grant = resources.TargetAt(q.Target.ProjectID, q.Target.Resource), &resources.Grant{Permissions: a.Permissions, Until: a.Until}
	}
	return q
}

// Random draws questions from few values, so that many values are equal by chance. It also draws values that the
// gateway never sends.
type Random struct{ *rand.Rand }

// NewRandom returns the Random of a seed.
func NewRandom(seed, stream uint64) Random { return Random{rand.New(rand.NewPCG(seed, stream))} } //nolint:gosec // a test repeats it

// One returns one of the choices.
func One[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// Ask draws a question. Most are about the account of the facts, and about a target in it.
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

// Mutate returns a copy of the question with one to five changes. It does not change the argument.
func (r Random) Mutate(ask Ask) Ask {
	for {
		a := ask
		a.unshare()
		for range One(r.Rand, 1, 1, 1, 1, 2, 2, 3, 5) {
			One(r.Rand, r.changes()...)(r, &a)
		}
		a.share(&ask)
		if !reflect.DeepEqual(a, ask) {
			return a
		}
	}
}

// unshare copies the subject and its list of assignments, so that changes do not reach other questions.
func (a *Ask) unshare() {
	if s := a.Question.Facts.Subject; s != nil {
		copied := s.Clone()
		copied.Assignments = slices.Clone(copied.Assignments)
		a.Question.Facts.Subject = copied
	}
}

// share takes the subject of the other question if both are equal: the gateway's cache of facts shares them, too.
func (a *Ask) share(other *Ask) {
	if s, was := a.Question.Facts.Subject, other.Question.Facts.Subject; s != nil && was != nil && reflect.DeepEqual(s, was.Clone()) {
		a.Question.Facts.Subject = was
	}
}

// change changes a question. It may write to the subject and to its list of assignments, which Mutate has copied. It
// must replace other lists, and not write to them.
type change = func(r Random, a *Ask)

// changes returns the changes that Mutate draws from: half of the time any value, else the facts or related values.
func (r Random) changes() []change {
	switch r.IntN(4) {
	case 0:
		return ofSubject()
	case 1:
		return ofWorld()
	}
	return values()
}

// values returns a change for each value of a question or a grant. Each draws its value anew.
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

// ofWorld returns changes of related values together, so that most comparisons in rules keep their result.
func ofWorld() []change {
	return []change{
		// Rename the caller, the account, the project or the resource everywhere.
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
		// Another user or caller for the same action.
		func(r Random, a *Ask) {
			if s := a.Question.Facts.Subject; s != nil {
				s.UserID, s.UserUUID = "user-new-v1", "new"
			}
		},
		func(r Random, a *Ask) {
			p := &a.Question.Principal
			p.ID, p.UUID = One(r.Rand, "user-new-v1", "service-new"), "new"
		},
		// Another target.
		func(r Random, a *Ask) { r.place(a) },
		func(r Random, a *Ask) { a.Question.Target.Rest = r.rest(a.Question.Target.Resource) },
		func(r Random, a *Ask) { a.Question.Target, a.Question.Facts.ProjectState = resources.Target{}, "" },
		// Another time, most often the end of an assignment.
		crossEnd, crossEnd, crossEnd,
		func(r Random, a *Ask) { a.Question.Now += resources.Time(r.IntN(3) - 1) },
		func(r Random, a *Ask) { a.Question.Now += resources.Time(r.IntN(30*24)) * 3_600_000 },
	}
}

// crossEnd sets the time to the end of an assignment, or one millisecond before or after it.
func crossEnd(r Random, a *Ask) {
	if s := a.Question.Facts.Subject; s != nil && len(s.Assignments) > 0 {
		a.Question.Now = One(r.Rand, s.Assignments...).ExpiresAt + resources.Time(r.IntN(3)-1)
	}
}

// ofSubject returns changes of the stored facts.
func ofSubject() []change {
	subjectChange := func(do func(r Random, s *resources.Subject)) change {
		return func(r Random, a *Ask) {
			if s := a.Question.Facts.Subject; s != nil {
				do(r, s)
				a.Question.AccountID = s.AccountID
			}
		}
	}
	roleChange := func(do func(r Random, h *resources.HeldRole)) change {
		return subjectChange(func(r Random, s *resources.Subject) {
			if len(s.Assignments) > 0 {
				do(r, &s.Assignments[r.IntN(len(s.Assignments))])
			}
		})
	}
	return []change{
		subjectChange(func(r Random, s *resources.Subject) { s.AccountID = r.account() }),
		subjectChange(func(r Random, s *resources.Subject) { s.AccountExists = !s.AccountExists }),
		subjectChange(func(r Random, s *resources.Subject) { s.AccountStatus = r.status() }),
		subjectChange(func(r Random, s *resources.Subject) { s.UserID = r.user() }),
		subjectChange(func(r Random, s *resources.Subject) { s.UserUUID = One(r.Rand, "b0b", "e5e", "") }),
		subjectChange(func(r Random, s *resources.Subject) { s.UserExists = !s.UserExists }),
		subjectChange(func(r Random, s *resources.Subject) { s.UserStatus = r.status() }),
		subjectChange(func(r Random, s *resources.Subject) { s.Member = !s.Member }),
		subjectChange(func(r Random, s *resources.Subject) {
			s.HomeID, s.PartnerID = r.account(), One(r.Rand, "", "partner-a")
		}),
		subjectChange(func(r Random, s *resources.Subject) { s.Assignments = r.roles(r.IntN(7)) }),
		subjectChange(func(r Random, s *resources.Subject) { s.Assignments = append(s.Assignments, r.role()) }),
		subjectChange(func(r Random, s *resources.Subject) { // held twice
			if len(s.Assignments) > 0 {
				s.Assignments = append(s.Assignments, One(r.Rand, s.Assignments...))
			}
		}),
		subjectChange(func(r Random, s *resources.Subject) {
			if len(s.Assignments) > 0 {
				s.Assignments = slices.Delete(s.Assignments, 0, 1)
			}
		}),
		subjectChange(func(r Random, s *resources.Subject) {
			r.Shuffle(len(s.Assignments), func(i, j int) { s.Assignments[i], s.Assignments[j] = s.Assignments[j], s.Assignments[i] })
		}),
		subjectChange(func(r Random, s *resources.Subject) { // elsewhere
			h := r.role()
			h.ProjectID = "proj-elsewhere-v1"
			s.Assignments = append(s.Assignments, h)
		}),
		roleChange(func(r Random, h *resources.HeldRole) { h.RoleID = r.role().RoleID }),
		roleChange(func(r Random, h *resources.HeldRole) { h.Custom = !h.Custom }),
		roleChange(func(r Random, h *resources.HeldRole) { h.Permissions = r.some(r.patterns()...) }),
		roleChange(func(r Random, h *resources.HeldRole) { h.RoleScope = r.role().RoleScope }),
		roleChange(func(r Random, h *resources.HeldRole) { h.RoleStatus = r.status() }),
		roleChange(func(r Random, h *resources.HeldRole) { h.Status = r.status() }),
		roleChange(func(r Random, h *resources.HeldRole) { h.ProjectID = r.project() }),
		roleChange(func(r Random, h *resources.HeldRole) { h.ResourceID = r.resource() }),
		roleChange(func(r Random, h *resources.HeldRole) { h.ExpiresAt = r.end() }),
		roleChange(func(r Random, h *resources.HeldRole) { h.ExpiresAt++ }),
		roleChange(func(r Random, h *resources.HeldRole) { h.GroupID, h.CreatedAt = One(r.Rand, "", "group-a-v1"), r.now() }),
	}
}

// place draws a target in a project, as the gateway makes it of a path.
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

// rest returns the path of a resource, or one below it.
func (r Random) rest(resource string) string {
	return resource + One(r.Rand, "", "", "/disks", "/disks/d-2")
}

func (Random) actions() []string {
	return []string{"project:instance:read", "project:instance:create", "resource:volume:list", "account:user:read", "account:role:create", ""}
}

func (Random) patterns() []string {
	return []string{"*:*:*", "project:*:*", "project:instance:read", "project:*:read", "account:*:*", "resource:volume:list", "account:user:read", "odd"}
}

// some returns up to three of the choices, sometimes one of them twice.
func (r Random) some(choices ...string) (out []string) {
	for range One(r.Rand, 0, 1, 1, 2, 3) {
		out = append(out, One(r.Rand, choices...))
	}
	return out
}

// row replaces the question's route by a copy, and returns it.
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

// now returns a time within seconds of Start, or hours or days after it.
func (r Random) now() resources.Time {
	return Start + One[resources.Time](r.Rand, -1000, -1, 0, 1, 999, 1000, 1001, 2000, 5*3_600_000, 100*3_600_000)
}

// end returns the end of an assignment or a grant: none, near Start, or an odd one.
func (r Random) end() resources.Time {
	return One[resources.Time](r.Rand, 0, 0, Start-1000, Start, Start+1, Start+1000, Start+1001, Start+86_400_000, never, -1)
}

func (r Random) roles(n int) (out []resources.HeldRole) {
	for range n {
		out = append(out, r.role())
	}
	return out
}

// role draws a system role or a custom one. A custom role may have the id of a system role, and two roles the same id.
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
