package users

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	// maxSearch bounds q in characters: no address, name or id is longer.
	maxSearch = 255
	// searchRead is how many users are read in one step: the largest page, and whether there is a next one.
	searchRead = maxPage + 1
	// maxSearchRead bounds what one request reads. The next page continues behind it.
	maxSearchRead = 1000
)

var errField = errors.New("users: a search has no such field")

// searchField is a field of a user for searches, with its index.
type searchField struct {
	index string
	value func(resources.User) string
}

// searchFields are compared one after the other: a user who matches by several is found by the first of them.
var searchFields = []searchField{
	{records.ByMemberEmail, func(u resources.User) string { return u.Email }},
	{records.ByMemberName, func(u resources.User) string { return u.Name }},
	{records.ByMemberID, func(u resources.User) string { return u.ExternalID }},
}

// search is a search for members of an account, as far as it has come. It goes on in a field of searchFields, behind a
// place in its index.
type search struct {
	account, prefix string
	size            int
	field           int
	after           *store.Cursor
}

// searchPlace is a search in a page token. Place is nil for the beginning of the field.
type searchPlace struct {
	Field int             `json:"f"`
	Place json.RawMessage `json:"p,omitempty"`
}

// readSearchText reads q, the beginning of an address, a name or an id; "" asks for all members.
func readSearchText(p *wire.Problems, q *wire.Query) string {
	text := q.Text("q")
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxSearch || strings.ContainsFunc(text, unicode.IsControl) {
		p.Add("q", "must be at most %d characters of UTF-8, without control characters", maxSearch)
		return ""
	}
	return resources.FoldASCII(text)
}

// query returns the query of the field that the search has come to.
func (f *search) query() store.Query {
	return store.Query{
		Index: searchFields[f.field].index, Equal: []store.Value{store.String(f.account)}, Prefix: f.prefix, After: f.after, Limit: searchRead,
	}
}

// resume continues the search at the place that place rendered.
func (f *search) resume(raw []byte) error {
	var place searchPlace
	if err := json.Unmarshal(raw, &place); err != nil {
		return err
	}
	if place.Field < 0 || place.Field >= len(searchFields) {
		return errField
	}
	f.field = place.Field
	if place.Place == nil {
		return nil
	}
	var q store.Query
	err := q.From(place.Place)
	f.after = q.After
	return err
}

// place renders where the search goes on.
func (f *search) place() ([]byte, error) {
	place := searchPlace{Field: f.field}
	if f.after != nil {
		place.Place = f.after.Marshal()
	}
	return json.Marshal(place)
}

// isFirst reports whether no field before the search's matches the user, who was found there.
func (f *search) isFirst(u resources.User) bool {
	for _, field := range searchFields[:f.field] {
		if strings.HasPrefix(resources.FoldASCII(field.value(u)), f.prefix) {
			return false
		}
	}
	return true
}

// run returns the next users, size at most, and moves the search behind them. more is false at its end.
func (f *search) run(ctx context.Context, tx store.Tx, c store.Collection[resources.User]) (out []userRow, more bool, err error) {
	for read := 0; read < maxSearchRead; {
		q := f.query()
		recs, err := c.Find(ctx, tx, q)
		if err != nil {
			return nil, false, err
		}
		for _, rec := range recs {
			if f.isFirst(rec.Value) {
				if len(out) == f.size {
					return out, true, nil
				}
				out = append(out, rec)
			}
			f.after = c.CursorAt(q, rec.Value)
		}
		if read += len(recs); len(recs) == q.Limit {
			continue
		}
		f.after = nil
		if f.field++; f.field == len(searchFields) {
			return out, false, nil
		}
	}
	return out, true, nil
}
