package main

import (
	"context"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	door "github.com/portcullis-authz/portcullis/gateway/doors/explain"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/queries"
	"github.com/portcullis-authz/portcullis/store/records"
)

// reader returns what searches and explanations read with.
func (a *app) reader() queries.Reader {
	return queries.Reader{Store: a.store, Collections: a.collections, Gate: a.gates.searches}
}

// newSearch returns the door of a search.
func (a *app) newSearch(wanted authzen.Wanted, questions authzen.Questions) authzen.Search {
	local := a.localAreas()
	_, firewall := local[config.UpstreamFirewall]
	_, clusters := local[config.UpstreamClusters]
	return authzen.Search{
		Questions: questions, Of: wanted, Directory: directorySearch{a.reader()}, Tokens: a.tokens,
		Elsewhere: map[string]bool{
			authzen.TypeSecurityGroup: !firewall, authzen.TypeKubernetesCluster: !clusters, authzen.TypeGPUCluster: !clusters,
		},
	}
}

// directorySearch implements authzen.Directory.
type directorySearch struct{ queries.Reader }

// Look implements authzen.Directory.
func (d directorySearch) Look(ctx context.Context, account string, fn func(authzen.Snapshot) error) error {
	return d.Reader.Look(ctx, account, func(s *queries.Snapshot) error { return fn(snapshot{s}) })
}

// snapshot implements authzen.Snapshot.
type snapshot struct{ *queries.Snapshot }

// Holders implements authzen.Snapshot.
func (s snapshot) Holders(ctx context.Context, grant authzen.Grant, target resources.Target, after string, limit int) ([]string, error) {
	return s.Snapshot.Holders(ctx, grant.Action, grant.SystemRoles, target, after, limit)
}

// Stored implements authzen.Snapshot.
func (s snapshot) Stored(
	ctx context.Context, grant authzen.Grant, subject, kind, project string, after authzen.Place, limit int,
) ([]authzen.Place, error) {
	places, err := s.Snapshot.Stored(ctx, grant.Action, grant.SystemRoles, subject, s.schema(kind), project, records.Located(after), limit)
	out := make([]authzen.Place, len(places))
	for i, one := range places {
		out[i] = authzen.Place(one)
	}
	return out, err
}

// schema returns the collection of a type.
func (s snapshot) schema(kind string) *store.Schema {
	switch kind {
	case authzen.TypeSecurityGroup:
		return s.Collections.SecurityGroups.Schema()
	case authzen.TypeKubernetesCluster:
		return s.Collections.KubernetesClusters.Schema()
	case authzen.TypeGPUCluster:
		return s.Collections.GPUClusters.Schema()
	}
	return s.Collections.Projects.Schema()
}

// newExplain returns the door of explanations.
func (a *app) newExplain() door.Door {
	return door.Door{Judge: a.judge, Now: time.Now, Explainer: explainer{a.reader(), a.policy}}
}

// explainer implements the door's Explainer over the store.
type explainer struct {
	queries.Reader
	policy *engine.Engine
}

// Explain implements the door's Explainer. Facts and roles are of one snapshot, which ends before policy is asked: an
// evaluation waits for its turn. Whom a change concerns is counted at their revision, too, or not at all.
func (e explainer) Explain(ctx context.Context, q resources.Question) (x resources.Explanation, judged int, err error) {
	read := accountRead{Reader: e.Reader, account: q.AccountID, user: q.SubjectID}
	if q.Facts, read.roles, err = e.FactsAndRoles(ctx, q.AccountID, q.SubjectID, q.Target.ProjectID); err != nil {
		return resources.Explanation{}, 0, err
	}
	read.revision = q.Facts.Revision
	policy := e.policy.Pin()
	x, err = explain.Explain(ctx, policy, q, read)
	return x, policy.Judged(), err
}

// accountRead implements explain.Directory by what was read of an account at a revision.
type accountRead struct {
	queries.Reader
	account, user string
	revision      int64
	roles         []resources.Role
}

// Roles implements explain.Directory.
func (d accountRead) Roles(context.Context) ([]resources.Role, error) { return d.roles, nil }

// Others implements explain.Directory.
func (d accountRead) Others(ctx context.Context, change explain.Change) (int, error) {
	if !change.Account && len(change.RoleIDs) == 0 && len(change.GroupIDs) == 0 {
		return 0, nil
	}
	n, err := d.Concerned(ctx, d.revision, records.Concern{
		AccountID: d.account, RoleIDs: change.RoleIDs, Groups: change.GroupIDs, AllMembers: change.Account, Except: d.user,
	})
	if errors.Is(err, queries.ErrMoved) {
		err = explain.ErrMoved
	}
	return n, err
}
