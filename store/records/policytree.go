package records

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/store"
)

// PolicyTree is the tree of an overlay that was in force last, in one piece (policies/overlay).
type PolicyTree struct {
	ID   string `json:"id"`
	Tree []byte `json:"tree"`
}

// inForce is the id of the one tree.
const inForce = "in_force"

func policyTrees() store.Collection[PolicyTree] {
	return store.NewCollection(store.Schema{Name: "policy_trees"},
		func(p *PolicyTree) string { return p.ID }, func(*PolicyTree) []store.Value { return nil })
}

// SavePolicyTree keeps the tree in force, in place of the former one. It writes nothing if they are equal.
func (c Collections) SavePolicyTree(ctx context.Context, s store.Store, tree []byte) error {
	return s.Transact(ctx, func(tx store.Tx) error {
		rec, err := c.PolicyTrees.Get(ctx, tx, inForce)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return c.PolicyTrees.Insert(ctx, tx, PolicyTree{inForce, tree})
		case err != nil || string(rec.Value.Tree) == string(tree):
			return err
		}
		rec.Value.Tree = tree
		return c.PolicyTrees.Replace(ctx, tx, rec)
	})
}

// LastPolicyTree returns the tree that was in force last. The error is store.ErrNotFound if none was kept.
func (c Collections) LastPolicyTree(ctx context.Context, s store.Store) (tree []byte, err error) {
	err = s.View(ctx, func(tx store.Tx) error {
		rec, err := c.PolicyTrees.Get(ctx, tx, inForce)
		tree = rec.Value.Tree
		return err
	})
	return tree, err
}
