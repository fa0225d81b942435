package compare_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// asker asks two trees random questions that the gateway can ask, with OPA and without the table.
type asker struct {
	*rand.Rand
	sets   [2]*engine.Set
	routes [2]map[string]*resources.Route
	names  []string // of rows
	ids    []string // of actions
	roles  []string
	// unlikeRows and unlikeIDs are the routes and actions that differ between the trees. They are asked about more
	// often.
	unlikeRows, unlikeIDs []string
}

func newAsker(seed uint64, old, next *engine.Set) *asker {
	a := &asker{Rand: rand.New(rand.NewPCG(seed, 2)), sets: [2]*engine.Set{old, next}}
	for side, set := range a.sets {
		a.routes[side] = map[string]*resources.Route{}
		for _, row := range set.Routes() {
			a.routes[side][row.Name] = &row
			a.names = append(a.names, row.Name)
		}
		for _, listed := range set.Actions() {
			a.ids = append(a.ids, listed.ID)
		}
		for _, role := range set.Roles() {
			a.roles = append(a.roles, role.ID)
		}
	}
	a.ids = append(a.ids, "project:thing:delete", "resource:thing:read", "resource:thing:start", "account:thing:update")
	for _, list := range []*[]string{&a.names, &a.ids, &a.roles} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	for _, name := range a.names {
		if old, next := a.routes[0][name], a.routes[1][name]; old == nil || next == nil || old.Path != next.Path || old.Action != next.Action ||
			old.Effect != next.Effect || !slices.Equal(old.Access, next.Access) {
			a.unlikeRows = append(a.unlikeRows, name)
		}
	}
	for _, id := range a.ids {
		if granting(old, id) != granting(next, id) {
			a.unlikeIDs = append(a.unlikeIDs, id)
		}
	}
	return a
}

// granting returns the roles of a tree that grant an action, with their scopes.
func granting(set *engine.Set, id string) (out string) {
	action, _ := resources.ParseAction(id)
	for _, role := range set.Roles() {
		for _, pattern := range action.Patterns() {
			if slices.Contains(role.Permissions, pattern) {
				out += role.ID + " " + role.Scope + "\n"
				break
			}
		}
	}
	return out
}

// either returns one of the list or, as often, one of those that differ between the trees.
func (a *asker) either(unlike, list []string) string {
	if len(unlike) > 0 && a.IntN(2) == 0 {
		return a.one(unlike...)
	}
	return a.one(list...)
}

func (a *asker) one(list ...string) string { return list[a.IntN(len(list))] }

func (a *asker) often() bool { return a.IntN(5) > 0 }

// directions returns the directions in which answers to n questions at each entry point differ.
func (a *asker) directions(tb testing.TB, n int) string {
	tb.Helper()
	set := map[string]bool{}
	for _, entry := range engine.EntryPoints() {
		for range n {
			old, next := a.ask(tb, entry)
			switch {
			case next.Allowed && !old.Allowed:
				set["+"] = true
			case old.Allowed && !next.Allowed:
				set["-"] = true
			case old.Reason != next.Reason || old.Code != next.Code:
				set["~"] = true
			}
		}
	}
	return signs(set)
}

func signs(directions map[string]bool) (out string) {
	for _, sign := range []string{"+", "-", "~"} {
		if directions[sign] {
			out += sign
		}
	}
	return out
}

// ask asks both trees the same question. A failed evaluation denies, and so does a tree without the route.
func (a *asker) ask(tb testing.TB, entry string) (old, next resources.Decision) {
	tb.Helper()
	q, row := a.question(entry)
	var out [2]resources.Decision
	for side, set := range a.sets {
		switch entry {
		case engine.EntryAccess:
			route := a.routes[side][row]
			if route == nil {
				out[side] = resources.Decision{Code: "no_route"}
				continue
			}
			q.Route = route
			q.Action, _ = resources.ParseAction(route.Action)
		case engine.EntryDecision:
			if d, unlisted := set.Unlisted(q.Action); unlisted {
				out[side] = d
				continue
			}
		}
		out[side] = judged(set.Judge(context.Background(), entry, q, 10*time.Second))
	}
	return out[0], out[1]
}

func judged(d resources.Decision, err error) resources.Decision {
	if err != nil {
		return resources.Decision{Reason: "error " + err.Error()}
	}
	return d
}

// question returns a question that the gateway can ask.
func (a *asker) question(entry string) (q resources.Question, row string) {
	subject := a.subject()
	q = resources.Question{AccountID: subject.AccountID, Now: 1_000_000, Facts: resources.Facts{Subject: subject}, Principal: a.caller(subject, entry)}
	q.Action, _ = resources.ParseAction(a.either(a.unlikeIDs, a.ids))
	row = a.either(a.unlikeRows, a.names)
	path, route := "/{account}/{projectId}/{rest+}", a.routes[0][row]
	if route == nil {
		route = a.routes[1][row]
	}
	if entry == engine.EntryAccess {
		q.Action, _ = resources.ParseAction(route.Action)
		path = route.Path
		if slices.Contains(route.Access, "public") {
			q.Principal = resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone}
			q.AccountID, q.Facts.Subject = "", nil
			return q, row
		}
	}
	if entry != engine.EntryDecision && q.Principal.Kind != resources.PrincipalUser { // the subject is the caller
		q.Facts.Subject = &resources.Subject{AccountID: subject.AccountID, AccountExists: subject.AccountExists, AccountStatus: subject.AccountStatus}
	}
	names := q.Principal.HasScope(resources.ServiceScopeCheck) || q.Principal.Kind == resources.PrincipalUser && q.Principal.ID == subject.UserID
	if entry == engine.EntryDecision && !a.often() && names {
		status := a.one("", resources.StatusActive, resources.StatusSuspended)
		q.Agent = &resources.ActingAgent{ID: "agent-a-v1", Exists: status != "", Status: status, Covered: a.often()}
	}
	a.place(&q, path, entry, route.Upstream == "authorize")
	if entry != engine.EntryGrantable {
		return q, row
	}
	g := resources.Grant{Until: []resources.Time{0, 1_999_999, 2_000_000, 3_000_000}[a.IntN(4)]}
	for range a.IntN(3) {
		g.Permissions = append(g.Permissions, a.either(a.unlikeIDs, append(slices.Clone(a.ids), "project:*:*", "account:*:read", "*:*:*", "project:*:read")))
	}
	slices.Sort(g.Permissions)
	g.Permissions = slices.Compact(g.Permissions)
	q.Action, q.Route, q.Target, q.Grant = resources.Action{}, nil, resources.TargetAt(q.Target.ProjectID, q.Target.Resource), &g
	return q, row
}

func (a *asker) subject() *resources.Subject {
	s := &resources.Subject{AccountID: "acct-a-v1", AccountExists: true, AccountStatus: "ACTIVE", UserID: "user-a-v1", UserUUID: "uuid-a"}
	switch a.IntN(8) {
	case 0:
		s.AccountStatus = "INACTIVE"
	case 1:
		s.AccountExists, s.AccountStatus = false, ""
	case 2:
		s.AccountID, s.AccountExists, s.AccountStatus = "", false, ""
	}
	if a.IntN(12) == 0 {
		s.UserID = "user-mallory-v1"
	}
	if a.often() {
		s.UserExists, s.UserStatus = true, "ACTIVE"
		if a.IntN(6) == 0 {
			s.UserStatus = "INACTIVE"
		}
		if s.Member = s.AccountID != "" && a.often(); s.Member {
			for range a.IntN(3) {
				s.Assignments = append(s.Assignments, a.assignment())
			}
		}
	}
	return s
}

func (a *asker) assignment() resources.HeldRole {
	status := func() string {
		if a.IntN(8) == 0 {
			return "INACTIVE"
		}
		return "ACTIVE"
	}
	h := resources.HeldRole{RoleID: a.one(a.roles...), RoleScope: "ACCOUNT", RoleStatus: status(), Status: status()}
	if a.IntN(4) == 0 {
		h.RoleID, h.Custom, h.Permissions = "role-any-v0", true, []string{a.one(append(slices.Clone(a.ids), "*:*:*", "project:*:*", "resource:*:*")...)}
	}
	if !strings.HasPrefix(h.RoleID, "account") || a.IntN(6) == 0 {
		switch a.IntN(5) {
		case 0, 1:
			h.ProjectID, h.RoleScope = "proj-a-v1", "PROJECT"
		case 2:
			h.ProjectID, h.ResourceID, h.RoleScope = "proj-a-v1", "things/a", "RESOURCE"
		case 3:
			h.ProjectID, h.RoleScope = "proj-b-v1", "PROJECT"
		}
	}
	if a.IntN(8) == 0 {
		h.RoleScope = a.one("ACCOUNT", "PROJECT", "RESOURCE")
	}
	h.ExpiresAt = []resources.Time{0, 0, 0, 999_999, 2_000_000}[a.IntN(5)]
	return h
}

func (a *asker) caller(s *resources.Subject, entry string) resources.Principal {
	self := resources.Principal{Kind: resources.PrincipalUser, ID: s.UserID, UUID: s.UserUUID, Credential: resources.CredentialToken}
	if s.Member {
		self.AccountID = s.AccountID
	}
	switch n := a.IntN(10); {
	case n == 0:
		return resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone}
	case n < 3:
		p := resources.Principal{Kind: resources.PrincipalService, ID: resources.ServicePrefix + "any", Credential: resources.CredentialToken}
		for _, scope := range resources.ServiceScopes() {
			if a.IntN(3) == 0 {
				p.Scopes = append(p.Scopes, scope)
			}
		}
		return p
	case n == 3 && entry == engine.EntryDecision:
		self.Kind = resources.PrincipalAgent
		return self
	case n < 6:
		self.Credential, self.KeyScopes = resources.CredentialKey, [][]string{nil, {"read"}, {"write"}, {"read", "write"}}[a.IntN(4)]
	}
	if entry == engine.EntryDecision && a.IntN(4) == 0 {
		self.ID, self.UUID = "user-other-v1", "uuid-other"
	}
	return self
}

// place sets the target and the project's state. A path names only what its route has variables for.
func (a *asker) place(q *resources.Question, path, entry string, door bool) {
	has := func(part string) bool { return strings.Contains(path, part) }
	access, rest := entry == engine.EntryAccess, has("+}")
	if access && has("accounts/{") && q.AccountID == "" { // a call of this path names an account
		q.AccountID, q.Facts.Subject.AccountID = "acct-none-v1", "acct-none-v1"
	}
	if has("{account") && (access || a.often()) {
		q.Target.AccountID = q.AccountID
		if !access && a.IntN(6) == 0 {
			q.Target.AccountID = "acct-b-v1"
		}
	}
	account := q.Action.Scope == resources.ScopeAccount
	if (has("{projectId") || rest) && (access && !account && has("{projectId") || !access && a.IntN(3) > 0) {
		q.Target.ProjectID, q.Facts.ProjectState = "proj-a-v1", a.one("active", "active", "active", "deleting", "absent")
	}
	if !access && a.IntN(2) == 0 && q.Target.ProjectID != "" {
		q.Target.Resource, q.Target.Rest = "things/a", a.one("things/a", "things/a/parts")
	}
	if user := has("{userId}") || has("{user_id}"); access && (user || door) {
		q.Target.UserID = a.one(q.Principal.ID, q.Principal.ID, q.Principal.UUID, "user-b-v1")
	}
}
