package access

import (
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// listed is what every list by token says beside its records.
type listed struct {
	TotalCount    int    `json:"total_count"`
	NextPageToken string `json:"next_page_token"`
}

// listing says what a list by token reads.
type listing struct {
	query store.Query
	// binding names the list, so that no other list takes its tokens.
	binding string
	// first is asked in the same snapshot, before anything is read; it may be nil.
	first func(tx store.Tx) error
}

// binding joins the route and the ids of its path; neither can hold the separator.
func binding(parts ...string) string { return strings.Join(parts, "|") }

// listByToken reads one page, and how many records there are in all, from one snapshot.
func listByToken[T any](
	ctx context.Context, s *Service, r *wire.Request, c store.Collection[T], l listing,
) ([]T, listed, error) {
	var p wire.Problems
	query := r.ParseQuery(&p)
	size := query.PageSize()
	if raw := query.PageToken(s.Tokens, l.binding); raw != nil {
		after, err := store.ParseCursor(raw)
		if err != nil {
			p.Add("page_token", wire.PageTokenRule)
		}
		l.query.After = after
	}
	query.Done()
	if err := p.Err(); err != nil {
		return nil, listed{}, err
	}
	l.query.Limit = size + 1 // one more tells whether there is a next page
	var found []store.Record[T]
	var page listed
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		if l.first != nil {
			if err := l.first(tx); err != nil {
				return err
			}
		}
		if page.TotalCount, err = c.Count(ctx, tx, l.query); err != nil {
			return err
		}
		found, err = c.Find(ctx, tx, l.query)
		return err
	})
	if err != nil {
		return nil, listed{}, err
	}
	if len(found) > size {
		found = found[:size]
		last := c.CursorAt(l.query, found[size-1].Value)
		page.NextPageToken = s.Tokens.Seal(last.Marshal(), l.binding)
	}
	out := make([]T, len(found))
	for i, rec := range found {
		out[i] = rec.Value
	}
	return out, page, nil
}
