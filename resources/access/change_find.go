package access

import (
	"context"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

const (
	// changesRead is how many records are read in one step.
	changesRead = 200
	// changesTime bounds a search. The next one continues from its end.
	changesTime = 2 * time.Second
	// changesBytes bounds what a page shows of its subjects, unless one record has more.
	changesBytes = 4 << 20
	// clocksApart bounds how far the clocks of replicas differ, in milliseconds: records are in the
	// order of their revisions, and nearly in that of their times.
	clocksApart = resources.Time(10 * 60 * 1000)
)

// changeSearch is a search for records, as far as it has come.
type changeSearch struct {
	input changeInput
	kept  resources.Time
	// query goes on behind the last record that was looked at.
	query   store.Query
	changes []resources.Change
	bytes   int
	// full says whether there are more records than the page has room for, ended whether there are none left.
	full, ended bool
}

// findChanges returns the records that were asked for. A caller may ask for few records among many: each step is a
// snapshot of its own, those behind the first one wait for their turn, and the search ends, neither full nor ended,
// while there is time to answer.
func (s *Service) findChanges(ctx context.Context, r *wire.Request, input changeInput) (*changeSearch, error) {
	search := &changeSearch{input: input, kept: changes.Horizon(s.Now(), s.ChangeRetention), query: input.query()}
	search.query.Limit = changesRead
	place, resumed := r.Place.(*store.Cursor)
	if resumed {
		search.query.After = place
	}
	remaining := changesTime
	if deadline, bound := ctx.Deadline(); bound {
		remaining = min(remaining, time.Until(deadline)/2)
	}
	searching, stop := context.WithTimeout(ctx, remaining)
	defer stop()
	err := s.changesStep(ctx, r, search, input.after != "" && !resumed)
	for err == nil && !search.full && !search.ended && searching.Err() == nil {
		err = s.changesTurn(ctx, searching, r, search)
	}
	return search, err
}

// changesTurn is changesStep for a step that is not the first one. Where its turn does not come while the search may go
// on, it does nothing.
func (s *Service) changesTurn(ctx, searching context.Context, r *wire.Request, search *changeSearch) error {
	if err := s.Scans.Enter(searching, r.Params["accountId"]); err != nil {
		if searching.Err() != nil && ctx.Err() == nil {
			return nil
		}
		return err
	}
	defer s.Scans.Leave()
	return s.changesStep(ctx, r, search, false)
}

// changesStep adds the next records the caller may read. With locate it begins after the record named by the caller, or
// at the page token's place.
func (s *Service) changesStep(ctx context.Context, r *wire.Request, search *changeSearch, locate bool) error {
	var now changeSearch
	err := s.Store.View(ctx, func(tx store.Tx) error {
		now = *search
		now.changes = slices.Clip(search.changes)
		if _, err := s.reauthorize(ctx, tx, r.Principal, now.input.account, actionChangeRead); err != nil {
			return err
		}
		if locate {
			named, err := s.placeOfChange(ctx, tx, now.input)
			if err != nil {
				return err
			}
			if now.query.After == nil {
				now.query.After = named
			}
		}
		step, err := s.c.Changes.Find(ctx, tx, now.query)
		if err != nil {
			return err
		}
		return s.look(ctx, tx, &now, step)
	})
	if err == nil {
		*search = now
	}
	return err
}

// look takes the records that were asked for.
func (s *Service) look(ctx context.Context, tx store.Tx, search *changeSearch, step []store.Record[resources.Change]) error {
	input := &search.input
	for _, rec := range step {
		c := rec.Value
		if !input.follow && c.At+clocksApart < max(input.since, search.kept) { // the others are older
			search.ended = true
			return nil
		}
		if c.At >= search.kept && input.wants(c) {
			if len(search.changes) == input.size || search.bytes > changesBytes {
				search.full = true
				return nil
			}
			if err := s.c.JoinChange(ctx, tx, &c); err != nil {
				return err
			}
			search.changes, search.bytes = append(search.changes, c), search.bytes+len(c.Before)+len(c.After)
		}
		search.query.After = s.c.Changes.CursorAt(search.query, rec.Value)
	}
	search.ended = len(step) < changesRead
	return nil
}
