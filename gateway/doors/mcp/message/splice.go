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

// ReplaceRequestID returns a message with another id of a request, and all else byte for byte: the message's own id, or that
// of a cancelled request. text gets the raw id, and returns one.
func ReplaceRequestID(body []byte, cancelled bool, text func(id []byte) string) ([]byte, error) {
	tree := node{"id": nil}
	if cancelled {
		tree = node{"params": {"requestId": nil}}
	}
	return replace(body, tree, func(id []byte) ([]byte, error) { return []byte(text(id)), nil })
}

// replace returns a message with each value at the end of the tree as text returns it, and all else byte for byte. An error
// of text ends it.
func replace(body []byte, tree node, text func(raw []byte) ([]byte, error)) ([]byte, error) {
	w, err := newWalk(body)
	if err != nil {
		return nil, err
	}
	var edits []edit
	err = w.visit(tree, func(place Place) error {
		out, err := text(body[place.Start:place.End])
		edits = append(edits, edit{place, out})
		return err
	})
	if err != nil {
		return nil, err
	}
	return splice(body, edits), w.end()
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
