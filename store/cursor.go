package store

import (
	"encoding/json"
	"errors"
)

var errCursor = errors.New("store: not a cursor")

// cursorForm is the JSON of a cursor in a page token.
type cursorForm struct {
	Values []valueForm `json:"v"`
	Key    string      `json:"k"`
}

// valueForm is the JSON of a value: exactly one field is set.
type valueForm struct {
	Text   *string `json:"t,omitempty"`
	Number *int64  `json:"n,omitempty"`
}

// Marshal renders the cursor for a page token.
func (c *Cursor) Marshal() []byte {
	form := cursorForm{Key: c.Key}
	for _, v := range c.Values {
		if v.kind == KindInt {
			form.Values = append(form.Values, valueForm{Number: &v.num})
			continue
		}
		form.Values = append(form.Values, valueForm{Text: &v.text})
	}
	out, err := json.Marshal(form)
	if err != nil {
		panic("store: a cursor of strings and integers must render: " + err.Error())
	}
	return out
}

// parseCursor reads the result of Marshal.
func parseCursor(raw []byte) (*Cursor, error) {
	var form cursorForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, errCursor
	}
	cur := &Cursor{Key: form.Key}
	for _, v := range form.Values {
		switch {
		case v.Number != nil && v.Text == nil:
			cur.Values = append(cur.Values, Int(*v.Number))
		case v.Text != nil && v.Number == nil:
			cur.Values = append(cur.Values, String(*v.Text))
		default:
			return nil, errCursor
		}
	}
	return cur, nil
}

// From continues the query after the place that Marshal rendered.
func (q *Query) From(raw []byte) (err error) {
	q.After, err = parseCursor(raw)
	return err
}
