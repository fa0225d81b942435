package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	// assignmentsRead is how many assignments are read in one step.
	assignmentsRead = 200
	// maxAssignmentsRead bounds what one request reads. The next page continues behind it.
	maxAssignmentsRead = 1000
)

// assignmentPage is the response of role_assignment.list.
type assignmentPage struct {
	Assignments   []assignmentBody `json:"assignments"`
	NextPageToken string           `json:"next_page_token"`
}

// assignmentFilter is what a caller of role_assignment.list asks for. "" and 0 match every value.
type assignmentFilter struct {
	account, role, project, assignee, status string
	// before is the time before which an assignment ends.
	before, now resources.Time
}

// listAssignments answers role_assignment.list (N21): the assignments of the account that match the filter. An index
// serves one of the filter's fields. The others are compared in at most maxAssignmentsRead records, so a page may have
// fewer assignments than its size, and none, before the last one.
func (s *Service) listAssignments(ctx context.Context, r *wire.Request) (wire.Response, error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	filter := assignmentFilter{
		account: r.Params["accountId"], role: q.ID("role"), project: q.ID("project"), assignee: q.ID("assignee"),
		status: q.OneOf("status", "", resources.StatusActive, resources.StatusInactive), before: q.Time("expires_before"), now: s.now(),
	}
	size, query := q.PageSize(), filter.query()
	name := binding("role_assignment.list", filter.account, filter.role, filter.project, filter.assignee, filter.status, filter.before.String())
	q.PageToken(s.Tokens, name, query.From)
	q.Done()
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	var matches []resources.Assignment
	var next *store.Cursor
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		matches, next, err = s.searchAssignments(ctx, tx, filter, query, size)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	out := assignmentPage{Assignments: make([]assignmentBody, len(matches))}
	for i, a := range matches {
		out.Assignments[i] = assignmentBodyOf(a, filter.now)
	}
	if next != nil {
		out.NextPageToken = s.Tokens.Seal(next.Marshal(), name)
	}
	return wire.OK(out)
}

// searchAssignments returns the first matches of the query, size at most, and the place of the next page, nil for the
// last one.
func (s *Service) searchAssignments(
	ctx context.Context, tx store.Tx, filter assignmentFilter, query store.Query, size int,
) (out []resources.Assignment, next *store.Cursor, err error) {
	query.Limit = assignmentsRead
	for read := 0; read < maxAssignmentsRead; read += assignmentsRead {
		recs, err := s.c.Assignments.Find(ctx, tx, query)
		if err != nil {
			return nil, nil, err
		}
		for _, rec := range recs {
			switch {
			case filter.ends(query, rec.Value):
				return out, nil, nil
			case !filter.matches(rec.Value):
			case len(out) == size:
				return out, query.After, nil
			default:
				out = append(out, rec.Value)
			}
			query.After = s.c.Assignments.CursorAt(query, rec.Value)
		}
		if len(recs) < query.Limit {
			return out, nil, nil
		}
	}
	return out, query.After, nil
}

// query returns the query of the index that leaves the fewest records to compare.
func (f assignmentFilter) query() store.Query {
	q := store.Query{Index: records.ByRole, Equal: []store.Value{store.String(f.account)}}
	switch {
	case f.assignee != "":
		q.Index, q.Equal = records.ByHeld, append(q.Equal, store.String(f.assignee))
	case f.before != 0:
		q.Index = records.ByExpiry
		if f.status == resources.StatusActive { // none of them has ended
			q.After = &store.Cursor{Values: []store.Value{store.Int(int64(f.now))}}
		}
	case f.project != "":
		q.Index, q.Equal = records.ByProject, append(q.Equal, store.String(f.project))
	case f.role != "":
		q.Equal = append(q.Equal, store.String(f.role))
	}
	return q
}

// ends reports whether neither this record of the query nor a later one matches.
func (f assignmentFilter) ends(q store.Query, a resources.Assignment) bool {
	return q.Index == records.ByExpiry && a.ExpiresAt >= f.before
}

// matches reports whether the assignment is one that was asked for.
func (f assignmentFilter) matches(a resources.Assignment) bool {
	return (f.role == "" || a.RoleID == f.role) && (f.project == "" || a.ProjectID == f.project) &&
		(f.assignee == "" || a.AssigneeID == f.assignee) && (f.status == "" || a.EffectiveStatus(f.now) == f.status) &&
		(f.before == 0 || a.ExpiresAt != 0 && a.ExpiresAt < f.before)
}
