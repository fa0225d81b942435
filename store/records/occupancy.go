package records

import (
	"context"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Occupancy is an area's record of a project in which it may have resources. Every creation and every closing writes
// it, so that two concurrent ones conflict: an area finds a project empty only when nothing is being made in it. It
// stands in the area's own store, which need not be the one with the projects.
type Occupancy struct {
	Area      string `json:"area"`
	AccountID string `json:"account_id"`
	ProjectID string `json:"project_id"`
	// ClosedUntil is when things can be made in the project again. ClosedBy is the mark of the attempt
	// that closed it.
	ClosedUntil resources.Time `json:"closed_until"`
	ClosedBy    int64          `json:"closed_by,omitempty"`
	// Opened is the highest given up mark: a late closing with this mark has no effect.
	Opened int64 `json:"opened,omitempty"`
}

// closedFor is how long a project stays closed: longer than any request authorized before the mark for deletion.
const closedFor = 2 * time.Minute

// errGivenUp is the error of a late closing.
var errGivenUp = resources.Unavailable("This deletion of the project was given up; try again.", nil)

func occupancies() store.Collection[Occupancy] {
	return store.NewCollection(store.Schema{Name: "occupancies"}, func(o *Occupancy) string { return compositeKey(o.Area, o.AccountID, o.ProjectID) },
		func(*Occupancy) []store.Value { return nil })
}

// EnterProject is called by an area in the transaction of a creation in a project. It returns UNAVAILABLE for a closed
// project: the client's next request is decided anew.
func (c Collections) EnterProject(ctx context.Context, tx store.Tx, area, account, project string, now resources.Time) error {
	return c.occupy(ctx, tx, Occupancy{Area: area, AccountID: account, ProjectID: project}, func(o *Occupancy) error {
		if o.ClosedUntil > now {
			return resources.Unavailable("The project is being deleted; try again.", nil)
		}
		return nil
	})
}

// CloseProject is called by an area in the transaction that finds the project empty: for a time nothing can be made
// there. It returns UNAVAILABLE for a given up attempt.
func (c Collections) CloseProject(ctx context.Context, tx store.Tx, area string, closing resources.Closing, now resources.Time) error {
	return c.occupy(ctx, tx, Occupancy{Area: area, AccountID: closing.AccountID, ProjectID: closing.ProjectID}, func(o *Occupancy) error {
		if closing.Mark <= o.Opened {
			return errGivenUp
		}
		o.ClosedUntil, o.ClosedBy = now+resources.Time(closedFor.Milliseconds()), max(o.ClosedBy, closing.Mark)
		return nil
	})
}

// OpenProject undoes the closing of an attempt when the project is not deleted after all. The closing
// of a later attempt stays.
func (c Collections) OpenProject(ctx context.Context, tx store.Tx, area string, closing resources.Closing) error {
	return c.occupy(ctx, tx, Occupancy{Area: area, AccountID: closing.AccountID, ProjectID: closing.ProjectID}, func(o *Occupancy) error {
		if o.Opened = max(o.Opened, closing.Mark); o.ClosedBy <= closing.Mark {
			o.ClosedUntil = 0
		}
		return nil
	})
}

// occupy writes the record even without a change: the write makes two transactions conflict.
func (c Collections) occupy(ctx context.Context, tx store.Tx, o Occupancy, change func(*Occupancy) error) error {
	rec, err := c.Occupancies.Get(ctx, tx, compositeKey(o.Area, o.AccountID, o.ProjectID))
	switch {
	case errors.Is(err, store.ErrNotFound):
		if err := change(&o); err != nil {
			return err
		}
		return c.Occupancies.Insert(ctx, tx, o)
	case err != nil:
		return err
	}
	if err := change(&rec.Value); err != nil {
		return err
	}
	return c.Occupancies.Replace(ctx, tx, rec)
}
