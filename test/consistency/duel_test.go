package consistency_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// duel is an account with two admins. In turn, each revokes the other's role at the same time, and two clerks do. A
// clerk may revoke assignments, and is not an admin.
type duel struct {
	w *world
	place
	other, otherToken string
	clerks            [2]string
	clerkTokens       [2]string
}

func newDuel(w *world, n int) *duel {
	name := fmt.Sprintf("d%d", n)
	d := &duel{w: w, place: w.placeOf(name), other: "user-" + name + "other-v1"}
	d.otherToken = w.issuer.sign(w.t, d.other, "")
	for i := range d.clerks {
		d.clerks[i] = fmt.Sprintf("user-%sclerk%d-v1", name, i)
		d.clerkTokens[i] = w.issuer.sign(w.t, d.clerks[i], "")
	}
	return d
}

func (d *duel) seed(ctx context.Context, tx store.Tx) error {
	w, now := d.w, resources.At(time.Now())
	if err := w.seedPlace(ctx, tx, d.place); err != nil {
		return err
	}
	role := "role-clerk-" + d.account
	err := w.collections.Roles.Insert(ctx, tx, resources.Role{
		ID: role, Name: role, Scope: resources.RoleScopeAccount, Status: resources.StatusActive, IsCustom: true,
		Permissions: []string{"account:role_assignment:delete"}, AccountID: d.account, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return err
	}
	roles := map[string]string{d.other: resources.RoleAccountAdmin, d.clerks[0]: role, d.clerks[1]: role}
	for user, role := range roles {
		if err := w.seedUser(ctx, tx, d.place, user); err != nil {
			return err
		}
		if err := w.seedRole(ctx, tx, d.place, user, role, ""); err != nil {
			return err
		}
	}
	return nil
}

func (d *duel) path(user string) string {
	return "/api/v1/accounts/" + d.account + "/roles/account_admin/assignments/" + user
}

// run revokes both roles at once, again and again. At most one revocation may succeed, and one admin must remain.
func (d *duel) run(stop <-chan struct{}) {
	one, two := newClient(d.w), newClient(d.w)
	for round := 0; ; round++ {
		select {
		case <-stop:
			return
		default:
		}
		tokens := [2]string{d.token, d.otherToken}
		if round%2 == 1 {
			tokens = d.clerkTokens
		}
		var first, second answer
		var wait sync.WaitGroup
		wait.Go(func() {
			first, _ = one.send(d.w.any(), request{method: "DELETE", path: d.path(d.other), token: tokens[0]}, false)
		})
		wait.Go(func() {
			second, _ = two.send(d.w.any(), request{method: "DELETE", path: d.path(d.admin), token: tokens[1]}, false)
		})
		wait.Wait()
		if first.status == http.StatusOK && second.status == http.StatusOK {
			d.w.h.violated(d.account + ": the role was taken from both admins")
			return
		}
		d.w.h.took("duel", 0)
		if !d.restore(one, stop) {
			return
		}
	}
}

// restore makes both admins again.
func (d *duel) restore(c *client, stop <-chan struct{}) bool {
	for {
		select {
		case <-stop:
			return false
		default:
		}
		one, knownOne := d.isAdmin(c, d.admin)
		two, knownTwo := d.isAdmin(c, d.other)
		token := d.token
		switch {
		case !knownOne || !knownTwo:
			continue
		case one && two:
			return true
		case !one && !two:
			d.w.h.violated(d.account + ": no admin is left")
			return false
		case two:
			token = d.otherToken
		}
		for _, user := range []string{d.admin, d.other} {
			a, err := c.send(d.w.any(), request{method: "PUT", path: d.path(user), token: token, body: "{}"}, false)
			if err != nil || a.status == http.StatusServiceUnavailable {
				sleep(settleTime, stop) // the change might still happen, during the next duel
			}
		}
	}
}

// isAdmin asks strictly whether the user is an admin. answered is false without a decision.
func (d *duel) isAdmin(c *client, user string) (is, answered bool) {
	a, err := c.send(d.w.any(), request{
		method: "POST", path: "/api/v1/authorize/accounts/" + d.account, token: d.w.checker,
		header: map[string]string{"X-User-ID": user, "X-Account-ID": d.account, "X-Action": "account:role_assignment:update"},
	}, true)
	if err != nil || a.status != http.StatusOK { // the replica is down or busy: do not ask in a tight loop
		time.Sleep(10 * time.Millisecond)
		return false, false
	}
	var body struct {
		Allowed bool `json:"allowed"`
	}
	return json.Unmarshal(a.body, &body) == nil && body.Allowed, true
}
