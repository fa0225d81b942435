package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// change is a member of a preview's changes.
type change map[string]any

// text returns a member that is a text, "" without it.
func (c change) text(name string) string { s, _ := c[name].(string); return s }

// previewWorld is one account of random contents, of several in one store.
type previewWorld struct {
	*harness.Gateway
	rnd                            *rand.Rand
	now                            resources.Time
	account, admin, token, checker string
	users, groups, projects, roles []string
	collections                    records.Collections
	// assigned are the assignments that were drawn.
	assigned []change
	// joined are the memberships, in the form of a change.
	joined []change
}

// Resources that assignments name.
func previewResources() []string {
	return []string{"instances/i-1", "instances/i-2", "security-groups/sg-1"}
}

func newPreviewWorld(seed uint64) *previewWorld {
	return &previewWorld{
		rnd: rand.New(rand.NewPCG(seed, 33)), now: resources.At(time.Now()), collections: records.NewCollections(),
		account: fmt.Sprintf("acct-%d-v1", seed), admin: fmt.Sprintf("user-%d-admin-v1", seed),
	}
}

func (w *previewWorld) id(kind string, i int) string {
	return fmt.Sprintf("%s-%s-%d", kind, w.account, i)
}

func choose[T any](rnd *rand.Rand, values []T) T { return values[rnd.IntN(len(values))] }

// seed draws the account.
func (w *previewWorld) seed(ctx context.Context, tx store.Tx) error {
	c := w.collections
	_, bumped := tx.Bump(ctx, w.account)
	err := errors.Join(bumped, c.Accounts.Insert(ctx, tx, resources.Account{
		ID: w.account, Name: w.account, Status: resources.StatusActive, CreatedAt: w.now, UpdatedAt: w.now,
	}), c.Users.Insert(ctx, tx, harness.MemberRecord(w.account, w.admin)))
	for i, state := range []string{resources.ProjectActive, resources.ProjectActive, resources.ProjectDeleting} {
		w.projects = append(w.projects, w.id("proj", i))
		err = errors.Join(err, c.Projects.Insert(ctx, tx, resources.Project{
			ID: w.projects[i], AccountID: w.account, Name: w.projects[i], State: state, CreatedAt: w.now, UpdatedAt: w.now,
		}))
	}
	for i := range 6 {
		u := harness.MemberRecord(w.account, w.id("user", i))
		u.Status = choose(w.rnd, []string{"ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE"})
		w.users = append(w.users, u.ExternalID)
		err = errors.Join(err, c.Users.Insert(ctx, tx, u))
	}
	for i := range 3 {
		w.groups = append(w.groups, w.id("group", i))
		err = errors.Join(err, c.Groups.Insert(ctx, tx, resources.Group{ID: w.groups[i], AccountID: w.account, Name: w.groups[i]}))
		for _, user := range w.users {
			if w.rnd.IntN(3) == 0 {
				w.joined = append(w.joined, change{"group_id": w.groups[i], "user_id": user})
				err = errors.Join(err, c.Members.Insert(ctx, tx, resources.GroupMember{
					ID: records.MemberID(w.groups[i], user), AccountID: w.account, GroupID: w.groups[i], UserID: user, AddedAt: w.now,
				}))
			}
		}
	}
	return errors.Join(err, w.seedRoles(ctx, tx), w.seedAssignments(ctx, tx))
}

func (w *previewWorld) seedRoles(ctx context.Context, tx store.Tx) (err error) {
	for i, scope := range []string{resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource, resources.RoleScopeAccount} {
		w.roles = append(w.roles, w.id("role", i))
		err = errors.Join(err, w.collections.Roles.Insert(ctx, tx, resources.Role{
			ID: w.roles[i], AccountID: w.account, Name: w.roles[i], Scope: scope, IsCustom: true, CreatedAt: w.now, UpdatedAt: w.now,
			Status: choose(w.rnd, []string{"ACTIVE", "ACTIVE", "INACTIVE"}), Permissions: w.permissions(scope),
		}))
	}
	w.roles = append(w.roles, "account_reader", "team_member", "project_admin", "project_reader")
	return err
}

// permissions draws patterns for a role of the scope.
func (w *previewWorld) permissions(scope string) []string {
	patterns := []string{"project:instance:*", "project:security_group:read", "project:*:read", "resource:*:*", "project:kubernetes_cluster:create"}
	if scope == resources.RoleScopeAccount {
		patterns = append(patterns, "account:user:*", "account:*:read", "account:role:create")
	}
	w.rnd.Shuffle(len(patterns), func(i, j int) { patterns[i], patterns[j] = patterns[j], patterns[i] })
	return patterns[:1+w.rnd.IntN(3)]
}

func (w *previewWorld) scopeOf(role string) string {
	switch role {
	case w.roles[1], "project_admin", "project_reader":
		return resources.RoleScopeProject
	case w.roles[2]:
		return resources.RoleScopeResource
	}
	return resources.RoleScopeAccount
}

// seedAssignments draws sound assignments in all states.
func (w *previewWorld) seedAssignments(ctx context.Context, tx store.Tx) (err error) {
	put := func(a resources.Assignment) {
		a.AccountID, a.CreatedAt, a.UpdatedAt = w.account, w.now, w.now
		a.ID = records.AssignmentID(a)
		if e := w.collections.Assignments.Insert(ctx, tx, a); !store.IsDuplicate(e, "") {
			err = errors.Join(err, e)
		}
	}
	put(resources.Assignment{
		RoleID: "account_admin", RoleScope: resources.RoleScopeAccount, AssigneeType: resources.AssigneeUser, AssigneeID: w.admin, Status: resources.StatusActive,
	})
	for range 12 {
		c := w.place(choose(w.rnd, w.roles))
		a := resources.Assignment{
			RoleID: c.text("role"), RoleScope: w.scopeOf(c.text("role")), ProjectID: c.text("project_id"), ResourceID: c.text("resource_id"),
			AssigneeType: resources.AssigneeUser, AssigneeID: cmp.Or(c.text("user_id"), c.text("group_id")),
			Status: choose(w.rnd, []string{"ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE"}), ExpiresAt: choose(w.rnd, []resources.Time{0, 0, w.now - 1, w.now + 3_600_000}),
		}
		if c.text("group_id") != "" {
			a.AssigneeType = resources.AssigneeGroup
		}
		put(a)
		w.assigned = append(w.assigned, c)
	}
	return err
}

// place draws an assignment of a role.
func (w *previewWorld) place(role string) change {
	c := change{"role": role}
	if w.rnd.IntN(2) == 0 {
		c["user_id"] = choose(w.rnd, w.users)
	} else {
		c["group_id"] = choose(w.rnd, w.groups)
	}
	if scope := w.scopeOf(role); scope != resources.RoleScopeAccount {
		c["project_id"] = choose(w.rnd, w.projects)
		if c["group_id"] != nil { // nobody could join a group with a role in a project that is going
			c["project_id"] = w.projects[w.rnd.IntN(2)]
		}
		if scope == resources.RoleScopeResource {
			c["resource_id"] = choose(w.rnd, previewResources())
		}
	}
	return c
}

// changes draws one to five changes. Some of them can't be made.
func (w *previewWorld) changes() (out []change) {
	for i := range 1 + w.rnd.IntN(5) {
		var c change
		kind := choose(w.rnd, previewKinds())
		switch kind {
		case "assign":
			c = w.place(choose(w.rnd, w.roles))
			if w.rnd.IntN(3) == 0 {
				c["until"] = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
			}
		case "revoke":
			c = w.held()
		case "role_put":
			i := w.rnd.IntN(4)
			c = change{"role": w.roles[i], "name": w.roles[i], "permissions": w.permissions(w.scopeOf(w.roles[i])), "status": choose(w.rnd, []string{"ACTIVE", "INACTIVE"})}
		case "role_new":
			name := fmt.Sprintf("New role %d", i)
			out = append(out, change{"kind": "role_put", "name": name, "scope": "PROJECT", "permissions": w.permissions("PROJECT")})
			c, kind = w.place("project_reader"), "assign"
			c["role"] = name
		case "role_delete":
			c = change{"role": w.roles[w.rnd.IntN(4)]}
		case "group_remove":
			c = maps.Clone(choose(w.rnd, w.joined))
		case "user_status":
			c = change{"user_id": choose(w.rnd, w.users), "status": choose(w.rnd, resources.UserStatuses())}
		default:
			c = change{"group_id": choose(w.rnd, w.groups), "user_id": choose(w.rnd, w.users)}
		}
		c["kind"] = kind
		out = append(out, c)
	}
	return out
}

func previewKinds() []string {
	return []string{"assign", "assign", "revoke", "revoke", "role_put", "role_new", "role_delete", "group_add", "group_remove", "group_remove", "user_status"}
}

// held draws an assignment that the account has, and another one now and then.
func (w *previewWorld) held() change {
	if w.rnd.IntN(5) == 0 {
		return w.place(choose(w.rnd, w.roles))
	}
	return maps.Clone(choose(w.rnd, w.assigned))
}

// call makes a call as the admin.
func (w *previewWorld) call(t *testing.T, method, rest string, body any) harness.Reply {
	t.Helper()
	text := ""
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(raw)
	}
	return harness.Call(t, method, w.URL+"/api/v1/"+rest, w.token, text, "X-Account-ID", w.account)
}

// make makes the changes through the API.
func (w *previewWorld) make(t *testing.T, changes []change) {
	t.Helper()
	made := map[string]string{} // the ids of new roles
	base := "accounts/" + w.account
	must := func(status int, method, rest string, body any) harness.Reply {
		t.Helper()
		r := w.call(t, method, rest, body)
		if r.Status != status {
			t.Fatalf("%s %s %v: %d %s", method, rest, body, r.Status, r.Raw)
		}
		return r
	}
	for _, c := range changes {
		role := cmp.Or(made[c.text("role")], c.text("role"))
		kind := resources.AssigneeUser
		if c.text("group_id") != "" {
			kind = resources.AssigneeGroup
		}
		assignment := base + "/roles/" + role + "/assignments/" + cmp.Or(c.text("user_id"), c.text("group_id"))
		member := base + "/groups/" + c.text("group_id") + "/members/" + c.text("user_id")
		switch c.text("kind") {
		case "assign":
			must(200, "PUT", assignment, map[string]any{"assigneeType": kind, "projectId": c["project_id"], "resourceId": c["resource_id"], "expiresAt": c["until"]})
		case "revoke":
			must(200, "DELETE", assignment+revokeQuery(kind, c.text("project_id"), c.text("resource_id")), nil)
		case "role_put":
			body := map[string]any{"name": c["name"], "scope": c["scope"], "permissions": c["permissions"], "status": c["status"]}
			if role != "" {
				must(200, "PUT", base+"/roles/"+role, body)
			} else {
				made[c.text("name")] = must(201, "POST", base+"/roles", body).Body["id"].(string)
			}
		case "role_delete":
			held := must(200, "GET", base+"/roles/"+role+"/assignments?pageSize=100", nil)
			for _, a := range held.Body["data"].([]any) {
				a := change(a.(map[string]any))
				must(200, "DELETE", base+"/roles/"+role+"/assignments/"+a.text("assigneeId")+revokeQuery(a.text("assigneeType"), a.text("projectId"), a.text("resourceId")), nil)
			}
			must(200, "DELETE", base+"/roles/"+role, nil)
		case "group_add":
			must(200, "PUT", member, nil)
		case "group_remove":
			must(200, "DELETE", member, nil)
		case "user_status":
			must(200, "PUT", "users/"+c.text("user_id"), map[string]any{"status": c["status"]})
		}
	}
}

func revokeQuery(kind, project, resource string) string {
	q := url.Values{"assigneeType": {kind}}
	if project != "" {
		q.Set("projectId", project)
	}
	if resource != "" {
		q.Set("resourceId", resource)
	}
	return "?" + q.Encode()
}
