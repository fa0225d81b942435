package access

import (
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// listMeta is the part of a response that all lists by token have.
type listMeta struct {
	TotalCount    int    `json:"total_count"`
	NextPageToken string `json:"next_page_token"`
}

// listing is a list by token: its query, its name and its check.
type listing struct {
	query store.Query
	// binding names the list. A page token opens for the list with the same binding.
	binding string
	// check runs in the snapshot before the list is read, and may refuse; nil is none.
	check func(tx store.Tx) error
}

// binding joins a route and the ids of its path. None of them holds the separator.
func binding(parts ...string) string { return strings.Join(parts, "|") }

// listByToken reads the page that the request asks for and counts the list, in one snapshot.
func listByToken[T any](
	ctx context.Context, s *Service, r *wire.Request, c store.Collection[T], l listing,
) ([]T, listMeta, error) {
	var p wire.Problems
	query := r.ParseQuery(&p)
	l.query.Limit = query.PageSize()
	query.PageToken(s.Tokens, l.binding, l.query.From)
	query.Done()
	if err := p.Err(); err != nil {
		return nil, listMeta{}, err
	}
	var recs []store.Record[T]
	var next *store.Cursor
	var page listMeta
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		if l.check != nil {
			if err := l.check(tx); err != nil {
				return err
			}
		}
		if page.TotalCount, err = c.Count(ctx, tx, l.query); err != nil {
			return err
		}
		recs, next, err = c.Page(ctx, tx, l.query)
		return err
	})
	if err != nil {
		return nil, listMeta{}, err
	}
	if next != nil {
		page.NextPageToken = s.Tokens.Seal(next.Marshal(), l.binding)
	}
	out := make([]T, len(recs))
	for i, rec := range recs {
		out[i] = rec.Value
	}
	return out, page, nil
}

// read answers a request for one record, which find finds.
func read[T any](
	ctx context.Context, s *Service, r *wire.Request, find func(context.Context, store.Tx, *wire.Request) (store.Record[T], error), body func(T) any,
) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	var rec store.Record[T]
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		rec, err = find(ctx, tx, r)
		return err
	})
	return wire.Answer(body(rec.Value), err)
}
