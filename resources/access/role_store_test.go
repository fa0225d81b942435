package access_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
)

// faultyStore is a store with single methods replaced.
type faultyStore struct {
	store.Store
	view, transact func(ctx context.Context, fn func(store.Tx) error) error
}

func (f *faultyStore) View(ctx context.Context, fn func(store.Tx) error) error {
	return f.view(ctx, fn)
}

func (f *faultyStore) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return f.transact(ctx, fn)
}

// faulty puts a faultyStore between the service and its store.
func faulty(f *faultyStore) func(*access.Config) {
	return func(cfg *access.Config) {
		f.Store, f.view, f.transact = cfg.Store, cfg.Store.View, cfg.Store.Transact
		cfg.Store = f
	}
}

var roleBodies = map[string]any{
	"role.list": nil, "role_assignment.list_of_user": nil, "role_assignment.put": object{}, "role_assignment.revoke": nil, "role.get": nil, "role.delete": nil, "role_assignment.list_of_role": nil, "role_assignment.list": nil,
	"role.create":  object{"name": "n", "scope": "ACCOUNT", "permissions": []string{"account:user:read"}},
	"role.replace": object{"name": "n", "permissions": []string{"account:user:read"}},
}

// TestNoStoreNoAnswer guarantees that a failing store is never taken for an empty one.
func TestNoStoreNoAnswer(t *testing.T) {
	var f faultyStore
	w := newWorld(t, faulty(&f))
	for _, cause := range []error{store.ErrUnavailable, store.ErrOutcomeUnknown} {
		down := func(context.Context, func(store.Tx) error) error { return fmt.Errorf("test: %w", cause) }
		f.view, f.transact = down, down
		for route, body := range roleBodies {
			got := w.call(route, areatest.As(acctA, alice), "accountId="+acctA+",userId="+dan+",roleId=team_member,assigneeId="+dan, "", body)
			w.Expect(got, 503, "UNAVAILABLE")
			if !errors.Is(got.Err, cause) {
				t.Errorf("%s: the cause is lost: %v", route, got.Err)
			}
		}
	}
}

// TestARetriedTransactionForgetsTheFirstTry guarantees an answer from the committed try only.
func TestARetriedTransactionForgetsTheFirstTry(t *testing.T) {
	var f faultyStore
	w := newWorld(t, faulty(&f))
	transact := f.transact
	conflict := errors.New("conflict")
	for route, body := range map[string]any{"role_assignment.put": object{"roleId": "account_reader"}, "role_assignment.revoke": nil} {
		f.transact = func(ctx context.Context, fn func(store.Tx) error) error {
			err := transact(ctx, func(tx store.Tx) error { return errors.Join(fn(tx), conflict) })
			if !errors.Is(err, conflict) {
				return err
			}
			w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "account_reader"})
			return transact(ctx, fn)
		}
		role := map[string]string{"role_assignment.put": "team_member", "role_assignment.revoke": "account_reader"}[route]
		w.Expect(w.call(route, areatest.As(acctA, alice), "accountId="+acctA+",roleId="+role+",assigneeId="+dan, "", body), 200)
	}
}
