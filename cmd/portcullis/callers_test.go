package main

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// otherAdmin is a second admin of the demo account, who has an API key.
const (
	otherAdmin = "user-dora-v1"
	otherKey   = "apikey-dora-v1"
)

// withdrawal is what happens to a caller's credential while their change waits in line.
type withdrawal struct {
	// caller is who was authenticated before.
	caller resources.Principal
	// meanwhile changes the records of otherAdmin and their key.
	meanwhile func(u *resources.User, k *resources.APIKey)
}

func byKey() resources.Principal {
	p := signedIn(otherAdmin)
	p.Credential, p.KeyID = resources.CredentialKey, otherKey
	p.KeyScopes = []string{resources.KeyScopeRead, resources.KeyScopeWrite}
	return p
}

func withdrawals() map[string]withdrawal {
	ofAnother := byKey()
	ofAnother.ID = demo.Alice
	unknown := signedIn(otherAdmin)
	unknown.Credential = ""
	suspend := func(u *resources.User, _ *resources.APIKey) { u.Status = resources.StatusSuspended }
	return map[string]withdrawal{
		"key revoked": {byKey(), func(_ *resources.User, k *resources.APIKey) { k.RevokedAt = resources.At(time.Now()) }},
		"key ended": {byKey(), func(_ *resources.User, k *resources.APIKey) {
			k.ExpiresAt = resources.At(time.Now().Add(-time.Second))
		}},
		"key's owner suspended": {byKey(), suspend},
		"key of another user":   {ofAnother, func(*resources.User, *resources.APIKey) {}},
		"user suspended":        {signedIn(otherAdmin), suspend},
		"user out of the account": {signedIn(otherAdmin), func(u *resources.User, _ *resources.APIKey) {
			u.AccountID = ""
		}},
		"user unknown":       {signedIn("user-absent-v1"), func(*resources.User, *resources.APIKey) {}},
		"credential unknown": {unknown, func(*resources.User, *resources.APIKey) {}},
	}
}

// TestWithdrawnCredentialChangesNothing: every change of every area looks, in its transaction,
// whether its caller's credential is still valid.
func TestWithdrawnCredentialChangesNothing(t *testing.T) {
	a, routes := demoApp(t, func(*config.Config) {})
	a.makeOtherAdmin(t)
	effects := map[string]string{}
	for _, route := range a.policy.Routes() {
		effects[route.Name] = route.Effect
	}
	for name, w := range withdrawals() {
		t.Run(name, func(t *testing.T) {
			for _, route := range slices.Sorted(maps.Keys(routes)) {
				if effects[route] != resources.EffectWrite || forServices(route) {
					continue
				}
				before := a.epoch(t)
				err := a.inLine(t, w.meanwhile, func(ctx context.Context) error {
					_, err := routes[route](ctx, requestOf(route, w.caller))
					return err
				})
				if !resources.IsKind(err, resources.KindForbidden) {
					t.Errorf("%s: %v", route, err)
				}
				if now := a.epoch(t); now != before+1 { // that of the withdrawal
					t.Errorf("%s: %d changes", route, now-before)
				}
			}
		})
	}
	t.Run("the others go on", func(t *testing.T) {
		err := a.inLine(t, func(*resources.User, *resources.APIKey) {}, func(ctx context.Context) error {
			_, err := routes["role_assignment.put"](ctx, requestOf("role_assignment.put", byKey()))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// inLine has a request wait for the store's writer while the caller's records change.
func (a *app) inLine(t *testing.T, meanwhile func(*resources.User, *resources.APIKey), request func(context.Context) error) error {
	t.Helper()
	ctx, answered := t.Context(), make(chan error, 1)
	err := a.store.Transact(ctx, func(tx store.Tx) error {
		go func() { answered <- request(ctx) }() // its own transaction begins after this one
		if _, err := tx.Bump(ctx, demo.Account); err != nil {
			return err
		}
		user, key := otherAdminRecords()
		meanwhile(&user, &key)
		if err := replace(ctx, tx, a.collections.Users, user.ExternalID, user); err != nil {
			return err
		}
		return replace(ctx, tx, a.collections.APIKeys, key.ID, key)
	})
	if err != nil {
		t.Fatal(err)
	}
	return <-answered
}

func replace[T any](ctx context.Context, tx store.Tx, c store.Collection[T], key string, value T) error {
	rec, err := c.Get(ctx, tx, key)
	if err != nil {
		return err
	}
	rec.Value = value
	return c.Replace(ctx, tx, rec)
}

// otherAdminRecords are as they are before anything is withdrawn.
func otherAdminRecords() (resources.User, resources.APIKey) {
	user := resources.User{
		ExternalID: otherAdmin, UUID: "uuid-dora", AccountID: demo.Account, Email: "dora@demo.example", Status: resources.StatusActive,
	}
	key := resources.APIKey{
		ID: otherKey, AccountID: demo.Account, UserID: otherAdmin, Name: "k", Scopes: []string{resources.KeyScopeRead, resources.KeyScopeWrite},
	}
	return user, key
}

func (a *app) makeOtherAdmin(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	user, key := otherAdminRecords()
	admin := resources.Assignment{
		AccountID: demo.Account, RoleID: resources.RoleAccountAdmin, RoleScope: resources.RoleScopeAccount,
		AssigneeType: resources.AssigneeUser, AssigneeID: otherAdmin, Status: resources.StatusActive,
	}
	admin.ID = records.AssignmentID(admin)
	err := a.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, demo.Account); err != nil {
			return err
		}
		if err := a.collections.Users.Insert(ctx, tx, user); err != nil {
			return err
		}
		for id, owner := range map[string]string{otherKey: otherAdmin, "apikey-spare-v1": otherAdmin, "apikey-alice-v1": demo.Alice} {
			key.ID, key.UserID = id, owner
			if err := a.collections.APIKeys.Insert(ctx, tx, key); err != nil {
				return err
			}
		}
		return a.collections.Assignments.Insert(ctx, tx, admin)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// epoch is how many changes there were.
func (a *app) epoch(t *testing.T) int64 {
	t.Helper()
	f, err := a.store.Freshness(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f.Epoch
}
