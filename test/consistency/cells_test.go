package consistency_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// cell is one right of one user. It is a register: changes set it and questions read it.
type cell struct {
	place
	kind     *kind
	id, user string
	value    bool
	// quietUntil is the time after which a change of unknown outcome can no longer happen.
	quietUntil time.Duration

	// own and byPartner are tokens of the user, by external id and by the provider's subject.
	byExternal, byPartner string

	mu  sync.Mutex
	key apiKey
}

// apiKey is a created key. Each key is a register of its own.
type apiKey struct {
	n       int
	id, raw string
}

// kind is a way to grant and revoke a right.
type kind struct {
	name string
	seed func(ctx context.Context, w *world, tx store.Tx, c *cell) error
	// change is the request that sets the register.
	change func(w *world, c *cell, value bool) request
	// ask returns the question; nil is authorization.check by the checking service. The gateway answers 200 with the
	// right and refused without it; refused 0 is 401.
	ask     func(c *cell, k apiKey) request
	refused int
}

const (
	action = "project:instance:read"
	widget = "project:widget:read"
)

var kinds = []*kind{
	{
		name: "assignment", seed: func(context.Context, *world, store.Tx, *cell) error { return nil },
		change: func(_ *world, c *cell, v bool) request {
			return c.byAdmin(map[bool]string{true: "PUT", false: "DELETE"}[v],
				"/roles/project_reader/assignments/"+c.user+"?projectId="+c.project, map[bool]string{true: "{}"}[v])
		},
	},
	{
		name: "group", seed: seedGroup,
		change: func(_ *world, c *cell, v bool) request {
			return c.byAdmin(map[bool]string{true: "PUT", false: "DELETE"}[v], "/groups/grp-"+c.id+"/members/"+c.user, "")
		},
	},
	{
		name: "role", seed: seedCustomRole, change: changeCustomRole,
	},
	{
		name: "status", seed: func(ctx context.Context, w *world, tx store.Tx, c *cell) error {
			if err := w.seedRole(ctx, tx, c.place, c.user, "project_reader", c.project); err != nil {
				return err
			}
			rec, err := w.collections.Users.Get(ctx, tx, c.user)
			if err != nil {
				return err
			}
			rec.Value.Status = "SUSPENDED"
			return w.collections.Users.Replace(ctx, tx, rec)
		},
		change: func(_ *world, c *cell, v bool) request {
			status := map[bool]string{true: "ACTIVE", false: "SUSPENDED"}[v]
			return request{
				method: "PUT", path: "/api/v1/users/" + c.user, token: c.token, body: fmt.Sprintf(`{"status":%q}`, status),
				header: map[string]string{"X-Account-ID": c.account},
			}
		},
	},
	{
		name: "account", seed: func(ctx context.Context, w *world, tx store.Tx, c *cell) error {
			rec, err := w.collections.Accounts.Get(ctx, tx, c.account)
			if err != nil {
				return err
			}
			rec.Value.Status = "SUSPENDED"
			if err := w.collections.Accounts.Replace(ctx, tx, rec); err != nil {
				return err
			}
			return w.seedRole(ctx, tx, c.place, c.user, "project_reader", c.project)
		},
		change: func(w *world, c *cell, v bool) request {
			status := map[bool]string{true: "ACTIVE", false: "SUSPENDED"}[v]
			return request{method: "PATCH", path: "/api/v1/accounts/" + c.account, token: w.platform, body: fmt.Sprintf(`{"status":%q}`, status)}
		},
	},
	{
		name: "identity", seed: func(context.Context, *world, store.Tx, *cell) error { return nil },
		change: func(w *world, c *cell, v bool) request {
			subject := map[bool]string{true: "idp|" + c.id, false: "idp|other-" + c.id}[v]
			return request{method: "PUT", path: "/api/v1/users/" + c.user, token: w.sync, body: fmt.Sprintf(`{"authentication_partner_id":%q}`, subject)}
		},
		ask: func(c *cell, _ apiKey) request { return c.decision(c.byPartner) },
	},
	{
		name: "key", seed: func(context.Context, *world, store.Tx, *cell) error { return nil },
		change: func(w *world, c *cell, v bool) request {
			path := "/api/v1/accounts/" + c.account + "/users/" + c.user + "/keys"
			if v {
				return request{method: "POST", path: path, token: c.byExternal, body: `{"key_name":"k","scopes":["read"]}`}
			}
			return request{method: "DELETE", path: path + "/" + c.newest().id, token: c.byExternal}
		},
		ask: func(c *cell, k apiKey) request { return c.decision(k.raw) },
	},
}

// proxied is the right to a call that the gateway forwards to the upstream for widgets.
var proxied = &kind{
	name: "proxied", seed: seedCustomRole, change: changeCustomRole, refused: http.StatusForbidden,
	ask: func(c *cell, _ apiKey) request {
		return request{method: "GET", path: "/api/v1/accounts/" + c.account + "/projects/" + c.project + "/widgets", token: c.byExternal}
	},
}

// changeCustomRole makes the role grant the permission of the question, or another one.
func changeCustomRole(_ *world, c *cell, v bool) request {
	permission := map[bool]string{true: widget, false: "project:widget:list"}[v]
	return c.byAdmin("PUT", "/roles/role-"+c.id, fmt.Sprintf(`{"name":"role-%s","scope":"PROJECT","permissions":[%q]}`, c.id, permission))
}

// byAdmin returns a request of the account's admin below the account.
func (c *cell) byAdmin(method, rest, body string) request {
	return request{method: method, path: "/api/v1/accounts/" + c.account + rest, token: c.token, body: body}
}

// decision returns an authorization.check about the cell's user.
func (c *cell) decision(credential string) request {
	asked := action
	if c.kind.name == "role" {
		asked = widget
	}
	return request{
		method: "POST", path: "/api/v1/authorize/accounts/" + c.account + "/projects/" + c.project + "/x", token: credential,
		header: map[string]string{"X-User-ID": c.user, "X-Account-ID": c.account, "X-Action": asked},
	}
}

// newest returns the key that was created last.
func (c *cell) newest() apiKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.key
}

// made stores the key in the answer of api_key.create.
func (c *cell) made(a answer) {
	var body struct {
		Data struct {
			ID  string `json:"id"`
			Raw string `json:"raw_key"`
		} `json:"data"`
	}
	_ = json.Unmarshal(a.body, &body) // without a key in it, the gateway rejects the next question
	c.mu.Lock()
	defer c.mu.Unlock()
	c.key = apiKey{n: c.key.n + 1, id: body.Data.ID, raw: body.Data.Raw}
}

// register returns the name of a question's register: the key, or the cell for other kinds.
func (c *cell) register(k apiKey) string {
	if c.kind.name == "key" {
		return fmt.Sprintf("%s#%d", c.id, k.n)
	}
	return c.id
}

// cellsOf returns the rights in a place.
func (w *world) cellsOf(p place, name string) []*cell {
	var out []*cell
	all := slices.Clone(kinds)
	if w.proxied {
		all = append(all, proxied)
	}
	for _, k := range all {
		for i := range w.perKind {
			c := &cell{place: p, kind: k, id: fmt.Sprintf("%s-%s-%d-v1", k.name, name, i)}
			if k.name == "account" { // the cell has an account of its own
				c.place = w.placeOf(fmt.Sprintf("own-%s-%d", name, i))
			}
			c.user = "user-" + c.id
			c.byExternal, c.byPartner = w.issuer.sign(w.t, c.user, ""), w.issuer.sign(w.t, "idp|"+c.id, "")
			out = append(out, c)
		}
	}
	return out
}

func (w *world) seedAccount(ctx context.Context, tx store.Tx, p place, cells []*cell) error {
	if err := w.seedPlace(ctx, tx, p); err != nil {
		return err
	}
	for _, c := range cells {
		if c.account != p.account {
			if err := w.seedPlace(ctx, tx, c.place); err != nil {
				return err
			}
		}
		if err := w.seedUser(ctx, tx, c.place, c.user); err != nil {
			return err
		}
		if err := c.kind.seed(ctx, w, tx, c); err != nil {
			return err
		}
	}
	return nil
}

// seedGroup creates a group with a role and without members.
func seedGroup(ctx context.Context, w *world, tx store.Tx, c *cell) error {
	now := resources.At(time.Now())
	id := "grp-" + c.id
	if err := w.collections.Groups.Insert(ctx, tx, resources.Group{ID: id, AccountID: c.account, Name: id, CreatedAt: now, UpdatedAt: now}); err != nil {
		return err
	}
	a := resources.Assignment{
		AccountID: c.account, RoleID: "project_reader", RoleScope: resources.RoleScopeProject, AssigneeType: resources.AssigneeGroup, AssigneeID: id,
		ProjectID: c.project, Status: resources.StatusActive, CreatedAt: now, UpdatedAt: now,
	}
	a.ID = records.AssignmentID(a)
	return w.collections.Assignments.Insert(ctx, tx, a)
}

// seedCustomRole gives the user a role without the permission of the question.
func seedCustomRole(ctx context.Context, w *world, tx store.Tx, c *cell) error {
	now := resources.At(time.Now())
	id := "role-" + c.id
	err := w.collections.Roles.Insert(ctx, tx, resources.Role{
		ID: id, Name: id, Scope: resources.RoleScopeProject, Status: resources.StatusActive, IsCustom: true,
		Permissions: []string{"project:widget:list"}, AccountID: c.account, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return err
	}
	return w.seedRole(ctx, tx, c.place, c.user, id, c.project)
}

// read returns the value of the register in an answer. decided is false if the answer has none.
func (c *cell) read(a answer) (value, decided bool) {
	if c.kind.ask != nil { // the status is the value
		return a.status == http.StatusOK, a.status == http.StatusOK || a.status == cmp.Or(c.kind.refused, http.StatusUnauthorized)
	}
	var body struct {
		Allowed *bool `json:"allowed"`
	}
	if a.status != http.StatusOK || json.Unmarshal(a.body, &body) != nil || body.Allowed == nil {
		return false, false
	}
	return *body.Allowed, true
}

// unknown returns the record of a change that may have happened or not. For a key the next change creates a new one: no
// client knows a key from an unread answer, and one with an unknown revocation stays unused.
func (c *cell) unknown(o op) *op {
	if c.kind.name == "key" {
		if c.value = false; o.value {
			return nil
		}
	}
	o.unknown, o.ret = true, o.ret+settleTime
	c.quietUntil = o.ret
	return &o
}
