package main

import (
	"context"
	"time"

	door "github.com/portcullis-authz/portcullis/gateway/doors/explain"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// newExplain returns the door of explanations.
func (a *app) newExplain() door.Door {
	return door.Door{Judge: a.judge, Now: time.Now, Explainer: explainer{a.store, a.collections, a.policy, a.gates.searches}}
}

// explainer implements door.Explainer over the store.
type explainer struct {
	store       store.Store
	collections records.Collections
	policy      *engine.Engine
	// gate is passed before a snapshot is taken.
	gate *gate.Gate
}

// Explain implements door.Explainer. Facts and roles are of one snapshot, which ends before policy is asked: an
// evaluation waits for its turn. Whom a change concerns is counted at their revision, too, or not at all.
func (e explainer) Explain(ctx context.Context, q resources.Question) (x resources.Explanation, judged int, err error) {
	read := accountRead{explainer: e, account: q.AccountID, user: q.SubjectID}
	err = e.look(ctx, q.AccountID, func(tx store.Tx) (err error) {
		if q.Facts, err = e.collections.LoadFacts(ctx, tx, q.AccountID, q.SubjectID, q.Target.ProjectID); err != nil {
			return err
		}
		read.roles, err = e.rolesOf(ctx, tx, q.AccountID)
		return err
	})
	if err != nil {
		return resources.Explanation{}, 0, err
	}
	read.revision = q.Facts.Revision
	policy := e.policy.Pin()
	x, err = explain.Explain(ctx, policy, q, read)
	return x, policy.Judged(), err
}

// look reads a snapshot, in the turn of the account.
func (e explainer) look(ctx context.Context, account string, fn func(store.Tx) error) error {
	if err := e.gate.Enter(ctx, account); err != nil {
		return err
	}
	defer e.gate.Leave()
	return e.store.View(ctx, fn)
}

// rolesOf returns the account's custom roles.
func (e explainer) rolesOf(ctx context.Context, tx store.Tx, account string) ([]resources.Role, error) {
	found, err := e.collections.Roles.Find(ctx, tx, store.Query{Index: records.ByName, Equal: []store.Value{store.String(account)}})
	out := make([]resources.Role, len(found))
	for i := range found {
		out[i] = found[i].Value
	}
	return out, err
}

// accountRead implements explain.Directory by what was read of an account at a revision.
type accountRead struct {
	explainer
	account, user string
	revision      int64
	roles         []resources.Role
}

// Roles implements explain.Directory.
func (d accountRead) Roles(context.Context) ([]resources.Role, error) { return d.roles, nil }

// Others implements explain.Directory.
func (d accountRead) Others(ctx context.Context, of explain.Change) (n int, err error) {
	if !of.Account && len(of.RoleIDs) == 0 && len(of.GroupIDs) == 0 {
		return 0, nil
	}
	err = d.look(ctx, d.account, func(tx store.Tx) error {
		now, err := tx.Revision(ctx, d.account)
		if err != nil {
			return err
		}
		if now != d.revision {
			return explain.ErrMoved
		}
		n, err = d.collections.Concerned(ctx, tx, records.Concern{
			AccountID: d.account, RoleIDs: of.RoleIDs, Groups: of.GroupIDs, AllMembers: of.Account, Except: d.user,
		})
		return err
	})
	return n, err
}
