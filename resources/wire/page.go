package wire

import "math"

// Bounds of paging (API contract, 1).
const (
	defaultNumbered = 20
	defaultTokened  = 50
	maxPage         = 100
)

// Meta is the position of a page in a numbered list (specification, "Pagination meta").
type Meta struct {
	Total      int `json:"total"`
	Page       int `json:"page"`
	PageSize   int `json:"pageSize"`
	TotalPages int `json:"totalPages"`
}

// Numbered is the page of a numbered list that a client asks for.
type Numbered struct{ Page, Size int }

// Numbered reads page (from 1, default 1) and pageSize (1 to 100, default 20).
func (q *Query) Numbered() Numbered {
	return Numbered{
		Page: q.Int("page", 1, 1, math.MaxInt32),
		Size: q.Int("pageSize", defaultNumbered, 1, maxPage),
	}
}

// Cut returns the page of a whole list and its meta. The page is never nil; past the end of the
// list it is empty.
func Cut[T any](n Numbered, all []T) ([]T, Meta) {
	meta := Meta{Total: len(all), Page: n.Page, PageSize: n.Size, TotalPages: (len(all) + n.Size - 1) / n.Size}
	first := min(int64(len(all)), int64(n.Page-1)*int64(n.Size))
	last := min(int64(len(all)), first+int64(n.Size))
	return append([]T{}, all[first:last]...), meta
}

// pageTokenRule describes to callers which token a list accepts.
const pageTokenRule = "is not a token of this list; begin again without it"

// PageSize reads page_size (1 to 100, default 50) of a list by token.
func (q *Query) PageSize() int { return q.Int("page_size", defaultTokened, 1, maxPage) }

// PageToken reads page_token and gives the cursor in it to parse; the first page has none. A token is a problem if it
// is forged, has another binding, or parse refuses it.
func (q *Query) PageToken(tokens PageTokens, binding string, parse func(cursor []byte) error) {
	token := q.Text("page_token")
	if token == "" {
		return
	}
	cursor, ok := tokens.Open(token, binding)
	if !ok || parse(cursor) != nil {
		q.problems.Add("page_token", pageTokenRule)
	}
}
