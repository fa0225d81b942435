package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// searchStore implements authzen.Directory over the store.
type searchStore struct {
	store       store.Store
	collections records.Collections
	// gate is passed before a snapshot is taken.
	gate *gate.Gate
}

// newSearch returns the door of a search.
func (a *app) newSearch(of authzen.Wanted, questions authzen.Questions) authzen.Search {
	local := a.localAreas()
	_, firewall := local[config.UpstreamFirewall]
	_, clusters := local[config.UpstreamClusters]
	return authzen.Search{
		Questions: questions, Of: of, Directory: searchStore{a.store, a.collections, a.gates.searches}, Tokens: a.tokens,
		Elsewhere: map[string]bool{
			authzen.TypeSecurityGroup: !firewall, authzen.TypeKubernetesCluster: !clusters, authzen.TypeGPUCluster: !clusters,
		},
	}
}

// errElsewhere is the error of facts that a snapshot of another account does not have.
var errElsewhere = errors.New("the snapshot is of another account")

// Look implements authzen.Directory.
func (d searchStore) Look(ctx context.Context, account string, fn func(authzen.Snapshot) error) error {
	if err := d.gate.Enter(ctx, account); err != nil {
		return err
	}
	defer d.gate.Leave()
	return d.store.View(ctx, func(tx store.Tx) error {
		return fn(&snapshot{
			searchStore: d, tx: tx, account: account, shared: records.ReadOnce(), custom: map[string][]string{}, states: map[string]string{},
		})
	})
}

// snapshot implements authzen.Snapshot by one view of the store. It keeps what several questions share.
type snapshot struct {
	searchStore
	tx      store.Tx
	account string
	shared  records.ReadThrough
	// custom are the custom roles that grant each action, states the projects' states.
	custom map[string][]string
	states map[string]string
	// last are the facts that were read last, of no project.
	last resources.Facts
}

// FactsOf implements verdict.Facts.
func (s *snapshot) FactsOf(ctx context.Context, account string, of []resources.About, into []resources.Facts) error {
	if account != s.account {
		return errElsewhere
	}
	var others []resources.About
	for _, about := range of {
		if !s.isLast(about.UserID) {
			others = append(others, resources.About{UserID: about.UserID})
		}
	}
	read, err := s.read(ctx, others)
	if err != nil {
		return err
	}
	for i, about := range of {
		if into[i] = s.last; !s.isLast(about.UserID) {
			into[i], read = read[0], read[1:]
		}
		if into[i].ProjectState, err = s.state(ctx, about.ProjectID); err != nil {
			return err
		}
	}
	return nil
}

// Facts implements verdict.Facts.
func (s *snapshot) Facts(ctx context.Context, account, user, project string) (resources.Facts, error) {
	var facts [1]resources.Facts
	err := s.FactsOf(ctx, account, []resources.About{{UserID: user, ProjectID: project}}, facts[:])
	return facts[0], err
}

// load reads the facts of a user into last. A search for resources asks for those of one user again and
// again.
func (s *snapshot) load(ctx context.Context, user string) (err error) {
	if !s.isLast(user) {
		var read []resources.Facts
		if read, err = s.read(ctx, []resources.About{{UserID: user}}); err == nil {
			s.last = read[0]
		}
	}
	return err
}

func (s *snapshot) read(ctx context.Context, of []resources.About) ([]resources.Facts, error) {
	return s.collections.LoadFactsOf(ctx, s.tx, s.account, of, func(int64) records.ReadThrough { return s.shared })
}

// isLast reports whether the facts of the user were read last.
func (s *snapshot) isLast(user string) bool {
	return s.last.Subject != nil && s.last.Subject.UserID == user
}

// state returns the state of a project, "" for no project.
func (s *snapshot) state(ctx context.Context, project string) (string, error) {
	state, known := s.states[project]
	if !known {
		var err error
		if state, err = s.collections.ProjectState(ctx, s.tx, s.account, project); err != nil {
			return "", err
		}
		s.states[project] = state
	}
	return state, nil
}

// Homes implements verdict.Facts.
func (s *snapshot) Homes(ctx context.Context, users []string) ([]string, error) {
	return s.collections.HomesOf(ctx, s.tx, users)
}

// Holders implements authzen.Snapshot.
func (s *snapshot) Holders(ctx context.Context, of authzen.Grant, at resources.Target, after string, limit int) ([]string, error) {
	roles, err := s.roles(ctx, of)
	if err != nil {
		return nil, err
	}
	return s.collections.Holders(ctx, s.tx, records.Holding{
		AccountID: s.account, RoleIDs: roles, ProjectID: at.ProjectID, ResourceID: at.Resource, After: after, Limit: limit,
	})
}

// roles returns the system roles and the custom roles that grant the action.
func (s *snapshot) roles(ctx context.Context, of authzen.Grant) ([]string, error) {
	custom, known := s.custom[of.Action.ID]
	if !known {
		var err error
		if custom, err = s.collections.CustomRolesWith(ctx, s.tx, s.account, of.Action.Patterns()); err != nil {
			return nil, err
		}
		s.custom[of.Action.ID] = custom
	}
	all := slices.Concat(of.SystemRoles, custom)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Stored implements authzen.Snapshot. A subject that holds such roles in projects alone has nothing
// elsewhere, so nothing is read elsewhere.
func (s *snapshot) Stored(
	ctx context.Context, of authzen.Grant, subject, kind, project string, after authzen.Place, limit int,
) (found []authzen.Place, err error) {
	roles, err := s.roles(ctx, of)
	if err != nil {
		return nil, err
	}
	if err := s.load(ctx, subject); err != nil {
		return nil, err
	}
	for _, in := range s.projects(roles, project) {
		some, err := s.collections.Locate(ctx, s.tx, s.schema(kind), s.account, in, records.Located(after), limit-len(found))
		if err != nil {
			return nil, err
		}
		for _, at := range some {
			found = append(found, authzen.Place(at))
		}
		if len(found) == limit {
			break
		}
	}
	return found, nil
}

// schema returns the collection of a type.
func (s *snapshot) schema(kind string) *store.Schema {
	switch kind {
	case authzen.TypeSecurityGroup:
		return s.collections.SecurityGroups.Schema()
	case authzen.TypeKubernetesCluster:
		return s.collections.KubernetesClusters.Schema()
	case authzen.TypeGPUCluster:
		return s.collections.GPUClusters.Schema()
	}
	return s.collections.Projects.Schema()
}

// projects returns where the user of the last facts holds one of the roles, by id: "" is the whole
// account. One project alone is looked at where it is named.
func (s *snapshot) projects(roles []string, project string) []string {
	in := map[string]bool{}
	for _, held := range s.last.Subject.Assignments {
		if slices.Contains(roles, held.RoleID) {
			in[held.ProjectID] = true
		}
	}
	switch {
	case project != "" && (in[""] || in[project]):
		return []string{project}
	case project != "":
		return nil
	case in[""]:
		return []string{""}
	}
	return slices.Sorted(maps.Keys(in))
}
