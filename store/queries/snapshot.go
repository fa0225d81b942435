package queries

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// errElsewhere refuses facts of another account than the snapshot's.
var errElsewhere = errors.New("the snapshot is of another account")

// Look calls fn with a snapshot of the account. The snapshot has every change answered before the call. fn may be
// called more than once. The error is fn's, or of KindUnavailable.
func (r Reader) Look(ctx context.Context, account string, fn func(*Snapshot) error) error {
	return r.view(ctx, account, func(tx store.Tx) error {
		return fn(&Snapshot{
			Reader: r, tx: tx, account: account, shared: records.ReadOnce(), custom: map[string][]string{}, states: map[string]string{},
		})
	})
}

// Snapshot finds facts and candidates of one account in one view of the store. It keeps what several questions share.
type Snapshot struct {
	Reader
	tx      store.Tx
	account string
	shared  records.ReadThrough
	// custom has the custom roles by the action they grant, states has the projects' states.
	custom map[string][]string
	states map[string]string
	// last has the facts read last, of no project and no agent.
	last resources.Facts
}

// FactsOf reads the facts about each of these, into the value at the same index.
func (s *Snapshot) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	if account != s.account {
		return errElsewhere
	}
	var rest []resources.About
	for _, pair := range pairs {
		if !s.has(pair) {
			rest = append(rest, resources.About{UserID: pair.UserID, Agent: pair.Agent})
		}
	}
	read, err := s.read(ctx, rest)
	if err != nil {
		return err
	}
	for i, pair := range pairs {
		if facts[i] = s.last; !s.has(pair) {
			facts[i], read = read[0], read[1:]
		}
		if facts[i].ProjectState, err = s.state(ctx, pair.ProjectID); err != nil {
			return err
		}
	}
	return nil
}

// Facts reads the facts about a user in a project; the project may be "".
func (s *Snapshot) Facts(ctx context.Context, account, user, project string) (resources.Facts, error) {
	var facts [1]resources.Facts
	err := s.FactsOf(ctx, account, []resources.About{{UserID: user, ProjectID: project}}, facts[:])
	return facts[0], err
}

// load reads the facts of a user into last. A search for resources asks for those of one user again and
// again.
func (s *Snapshot) load(ctx context.Context, user string) (err error) {
	if !s.isLast(user) {
		var read []resources.Facts
		if read, err = s.read(ctx, []resources.About{{UserID: user}}); err == nil {
			s.last = read[0]
		}
	}
	return err
}

func (s *Snapshot) read(ctx context.Context, pairs []resources.About) ([]resources.Facts, error) {
	return s.Collections.LoadFactsOf(ctx, s.tx, s.account, pairs, func(int64) records.ReadThrough { return s.shared })
}

// has reports whether the facts of the pair were read last, but for its project.
func (s *Snapshot) has(pair resources.About) bool {
	return !pair.Agent.Named() && s.isLast(pair.UserID)
}

// isLast reports whether the facts of the user were read last.
func (s *Snapshot) isLast(user string) bool {
	return s.last.Subject != nil && s.last.Subject.UserID == user
}

// state returns the state of a project, "" for no project.
func (s *Snapshot) state(ctx context.Context, project string) (string, error) {
	state, ok := s.states[project]
	if !ok {
		var err error
		if state, err = s.Collections.ProjectState(ctx, s.tx, s.account, project); err != nil {
			return "", err
		}
		s.states[project] = state
	}
	return state, nil
}

// Homes returns the account of each of these users, "" for an unknown user.
func (s *Snapshot) Homes(ctx context.Context, users []string) ([]string, error) {
	return s.Collections.HomesOf(ctx, s.tx, users)
}

// Holders returns users whose assignments cover the target with one of these system roles, or with a custom role with
// the action. They are the first by id after the given one.
func (s *Snapshot) Holders(
	ctx context.Context, action resources.Action, system []string, target resources.Target, after string, limit int,
) ([]string, error) {
	roles, err := s.roles(ctx, action, system)
	if err != nil {
		return nil, err
	}
	return s.Collections.Holders(ctx, s.tx, records.Holding{
		AccountID: s.account, RoleIDs: roles, ProjectID: target.ProjectID, ResourceID: target.Resource, After: after, Limit: limit,
	})
}

// roles adds the custom roles with the action to the system roles.
func (s *Snapshot) roles(ctx context.Context, action resources.Action, system []string) ([]string, error) {
	custom, ok := s.custom[action.ID]
	if !ok {
		var err error
		if custom, err = s.Collections.CustomRolesWith(ctx, s.tx, s.account, action.Patterns()); err != nil {
			return nil, err
		}
		s.custom[action.ID] = custom
	}
	all := slices.Concat(system, custom)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Stored returns resources of a collection from the projects covered by one of these system roles, or by a custom role
// that grants the action. They are the first by project and id after the given one. A named project limits them to it.
// For a subject with such roles in projects alone, it reads those projects only.
func (s *Snapshot) Stored(
	ctx context.Context, action resources.Action, system []string, subject string, schema *store.Schema, project string, after records.Located, limit int,
) (places []records.Located, err error) {
	roles, err := s.roles(ctx, action, system)
	if err != nil {
		return nil, err
	}
	if err := s.load(ctx, subject); err != nil {
		return nil, err
	}
	for _, text := range s.projects(roles, project) {
		some, err := s.Collections.Locate(ctx, s.tx, schema, s.account, text, after, limit-len(places))
		if err != nil {
			return nil, err
		}
		places = append(places, some...)
		if len(places) == limit {
			break
		}
	}
	return places, nil
}

// projects returns the scopes of the last user's roles by id: "" is the whole account. A named project limits them to
// it.
func (s *Snapshot) projects(roles []string, project string) []string {
	set := map[string]bool{}
	for _, held := range s.last.Subject.Assignments {
		if slices.Contains(roles, held.RoleID) {
			set[held.ProjectID] = true
		}
	}
	switch {
	case project != "" && (set[""] || set[project]):
		return []string{project}
	case project != "":
		return nil
	case set[""]:
		return []string{""}
	}
	return slices.Sorted(maps.Keys(set))
}
