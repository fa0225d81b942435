package main

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors/explain"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/policies/analysis/why"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// newExplain returns the door of explanations.
func (a *app) newExplain(judge *verdict.Judge) explain.Door {
	return explain.Door{Judge: judge, Now: time.Now, Explainer: explainer{a.store, a.collections, a.policy, a.gates.searches}}
}

// explainer implements explain.Explainer over the store.
type explainer struct {
	store       store.Store
	collections records.Collections
	policy      *engine.Engine
	// gate is passed before a snapshot is taken: an explanation holds it as long as a search does.
	gate *gate.Gate
}

// Explain implements explain.Explainer. The facts, the roles and whom a change concerns are of one snapshot.
func (e explainer) Explain(ctx context.Context, q resources.Question, user string) (x resources.Explanation, err error) {
	if err := e.gate.Enter(ctx); err != nil {
		return x, err
	}
	defer e.gate.Leave()
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		about := q
		if about.Facts, err = e.collections.LoadFacts(ctx, tx, q.AccountID, user, q.Target.ProjectID); err != nil {
			return err
		}
		x, err = why.Explain(ctx, e.policy.Pin(), about, accountView{e.collections, tx, q.AccountID, user})
		return err
	})
	if err != nil {
		return resources.Explanation{}, err
	}
	return x, nil
}

// accountView implements why.Directory by one view of the store.
type accountView struct {
	collections   records.Collections
	tx            store.Tx
	account, user string
}

// Roles implements why.Directory.
func (d accountView) Roles(ctx context.Context) ([]resources.Role, error) {
	found, err := d.collections.Roles.Find(ctx, d.tx, store.Query{Index: records.ByName, Equal: []store.Value{store.String(d.account)}})
	out := make([]resources.Role, len(found))
	for i := range found {
		out[i] = found[i].Value
	}
	return out, err
}

// Others implements why.Directory.
func (d accountView) Others(ctx context.Context, of why.Change) (int, error) {
	if !of.Account && len(of.RoleIDs) == 0 && len(of.GroupIDs) == 0 {
		return 0, nil
	}
	return d.collections.Concerned(ctx, d.tx, records.Concern{
		AccountID: d.account, RoleIDs: of.RoleIDs, Groups: of.GroupIDs, AllMembers: of.Account, Except: d.user,
	})
}
