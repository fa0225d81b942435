package access

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Bounds of a preview.
const (
	// maxPreviewed bounds the changes, maxTouched the people whose facts are read, and maxPlaces the projects.
	maxPreviewed = 20
	maxTouched   = 1000
	maxPlaces    = 1000
	// factsAtOnce is how many people's facts are read together.
	factsAtOnce = 200
)

// Suppose returns the facts about the people whom the changes in the body touch, before the changes and after them. All
// of it is of one snapshot of the account, and nothing is written. It does not check the caller's right to make the
// changes. The error is of KindBadRequest with all problems of the body, or the store's.
func (s *Service) Suppose(ctx context.Context, account string, body []byte) (out resources.Supposed, err error) {
	if s.Scans != nil {
		if err := s.Scans.Enter(ctx, account); err != nil {
			return resources.Supposed{}, err
		}
		defer s.Scans.Leave()
	}
	err = s.Store.View(ctx, func(tx store.Tx) error {
		p := &preview{Service: s, tx: tx, account: account, now: s.now(), roles: map[string]*resources.Role{}}
		if err := p.read(ctx, body); err != nil {
			return err
		}
		if out, err = p.suppose(ctx); err != nil {
			return err
		}
		return p.problems.Err()
	})
	if err != nil {
		return resources.Supposed{}, err
	}
	return out, nil
}

// suppose makes the changes on facts in memory. It adds a problem for an assignment to revoke that does not exist.
func (p *preview) suppose(ctx context.Context) (out resources.Supposed, err error) {
	touched, all, err := p.touched(ctx)
	if err != nil {
		return out, err
	}
	out.Complete = all
	before, err := p.facts(ctx, touched)
	if err != nil {
		return out, err
	}
	if out.Revision, err = p.tx.Revision(ctx, p.account); err != nil {
		return out, err
	}
	w, err := p.world(ctx, before)
	if err != nil {
		return out, err
	}
	for _, change := range p.changes {
		w.make(change)
	}
	for i, after := range w.people {
		if places := changedPlaces(before[i], after); len(places) > 0 || before[i].UserStatus != after.UserStatus {
			out.People = append(out.People, resources.SupposedPerson{Before: before[i], After: after, Resources: resourcesOf(places)})
		}
	}
	return out, p.addProjects(ctx, &out)
}

// touched returns the people with facts to change, by id: those named by a change, and the first of the rest. all says
// that nobody is missing.
func (p *preview) touched(ctx context.Context) (ids []string, all bool, err error) {
	concern := records.Concern{AccountID: p.account}
	named := map[string]bool{}
	for _, c := range p.changes {
		switch {
		case c.user != "":
			named[c.user] = true
		case c.group != "":
			concern.Groups = append(concern.Groups, c.group)
		case c.role != "":
			concern.RoleIDs = append(concern.RoleIDs, c.role)
		}
	}
	users, all, err := p.c.Holding(ctx, p.tx, concern, maxTouched+1)
	if err != nil {
		return nil, false, err
	}
	maps.DeleteFunc(users, func(id string, _ bool) bool { return named[id] })
	ids = slices.Sorted(maps.Keys(users))
	if room := maxTouched - len(named); len(ids) > room {
		ids, all = ids[:room], false
	}
	ids = slices.AppendSeq(ids, maps.Keys(named))
	slices.Sort(ids)
	return ids, all, nil
}

// facts reads the facts about people.
func (p *preview) facts(ctx context.Context, people []string) (out []*resources.Subject, err error) {
	shared := records.ReadOnce()
	for some := range slices.Chunk(people, factsAtOnce) {
		pairs := make([]resources.About, len(some))
		for i, id := range some {
			pairs[i].UserID = id
		}
		facts, err := p.c.LoadFactsOf(ctx, p.tx, p.account, pairs, func(int64) records.ReadThrough { return shared })
		if err != nil {
			return nil, err
		}
		for i := range facts {
			out = append(out, facts[i].Subject)
		}
	}
	return out, nil
}

// addProjects adds the projects of the account, and the states of those with a changed assignment.
func (p *preview) addProjects(ctx context.Context, out *resources.Supposed) error {
	projects, err := p.c.Projects.Find(ctx, p.tx, store.Query{
		Index: records.ByAccount, Equal: []store.Value{store.String(p.account)}, Limit: maxPlaces + 1,
	})
	if err != nil {
		return err
	}
	if len(projects) > maxPlaces {
		projects, out.Complete = projects[:maxPlaces], false
	}
	var ids []string
	for _, rec := range projects {
		if rec.Value.State != resources.ProjectDeleted {
			out.Projects = append(out.Projects, rec.Value.ID)
		}
	}
	slices.Sort(out.Projects)
	ids = slices.Clone(out.Projects)
	for i := range out.People {
		for _, place := range out.People[i].Resources {
			ids = append(ids, place.ProjectID)
		}
	}
	out.States, err = p.c.ProjectStates(ctx, p.tx, p.account, ids)
	return err
}

// changedPlaces returns the places of the assignments that are not the same in both. For another status these are all
// assignments.
func changedPlaces(before, after *resources.Subject) map[resources.HeldPlace]bool {
	places := map[resources.HeldPlace]bool{}
	note := func(held, compared *resources.Subject) {
		for _, h := range held.Assignments {
			same := held.UserStatus == compared.UserStatus && slices.ContainsFunc(compared.Assignments, func(o resources.HeldRole) bool {
				return samePlace(h, o) && h.Status == o.Status && h.ExpiresAt == o.ExpiresAt && h.RoleScope == o.RoleScope &&
					h.RoleStatus == o.RoleStatus && slices.Equal(h.Permissions, o.Permissions)
			})
			if !same {
				places[resources.HeldPlace{ProjectID: h.ProjectID, ResourceID: h.ResourceID}] = true
			}
		}
	}
	note(before, after)
	note(after, before)
	return places
}

// resourcesOf returns the places that are resources, sorted by project and resource.
func resourcesOf(places map[resources.HeldPlace]bool) []resources.HeldPlace {
	maps.DeleteFunc(places, func(place resources.HeldPlace, _ bool) bool { return place.ResourceID == "" })
	return slices.SortedFunc(maps.Keys(places), func(a, b resources.HeldPlace) int {
		return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.ResourceID, b.ResourceID))
	})
}

// samePlace says whether two assignments are one record: at most one is stored for each role, assignee and place.
func samePlace(a, b resources.HeldRole) bool {
	return a.RoleID == b.RoleID && a.GroupID == b.GroupID && a.ProjectID == b.ProjectID && a.ResourceID == b.ResourceID
}
