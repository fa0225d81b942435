package message

import (
	"cmp"
	"slices"
)

// edit replaces a part of a document.
type edit struct {
	Place
	text []byte
}

// splice returns the document with its edits, which must not overlap. Without edits it is the document itself.
func splice(body []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return body
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.Start, b.Start) })
	size := len(body)
	for _, e := range edits {
		size += len(e.text)
	}
	out, done := make([]byte, 0, size), 0
	for _, e := range edits {
		out = append(append(out, body[done:e.Start]...), e.text...)
		done = e.End
	}
	return append(out, body[done:]...)
}
