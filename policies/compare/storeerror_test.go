package compare_test

import (
	"context"
	"errors"
	"testing"

	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

var errStore = errors.New("the store fails")

// failing is the data of a tree with one failing read.
type failing struct {
	storage.Store
	reads, fails int
}

// Read implements storage.Store.
func (f *failing) Read(ctx context.Context, txn storage.Transaction, path storage.Path) (any, error) {
	if f.reads++; f.reads == f.fails {
		return nil, errStore
	}
	return f.Store.Read(ctx, txn, path)
}

// TestDataThatCannotBeReadIsAnError, at whichever read: the comparison would not know what rules compare the input with.
func TestDataThatCannotBeReadIsAnError(t *testing.T) {
	tree := compiled(t, policytest.Small(t).With("names/data.json", `{"first": "acct-a-v1"}`).With("authz/authz.rego", policytest.SmallAuthz+
		"\ngrantable := {\"allow\": true, \"reason\": \"by name\"} if input.account.id == data.names.first\n")).Compiled()
	data := &failing{Store: tree.Store}
	tree.Store = data
	set, err := engine.NewSet(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	data.reads = 0
	if _, err := compare.Compare(t.Context(), set, set, 1); err != nil || data.reads == 0 {
		t.Fatalf("%d reads: %v", data.reads, err)
	}
	for reads := data.reads; data.fails < reads; {
		data.reads, data.fails = 0, data.fails+1
		if _, err := compare.Compare(t.Context(), set, set, 1); !errors.Is(err, errStore) {
			t.Errorf("read %d of %d fails: %v", data.fails, reads, err)
		}
	}
}
