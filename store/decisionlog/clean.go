package decisionlog

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// cleaner copies a JSON value without the credentials in it.
type cleaner struct {
	dec *jsontext.Decoder
	enc *jsontext.Encoder
	// words counts the words that stand for names.
	words   int
	changed bool
}

// appendClean appends a JSON value without white space and without credentials, and reports whether that changed the
// value. It masks each text alone. A name with a credential, and a name that its object has already, becomes a word that
// is new in the object: masked-1, masked-2, …
func appendClean(to, value []byte) (out []byte, changed bool, err error) {
	buf := bytes.NewBuffer(to)
	c := cleaner{
		dec: jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		enc: jsontext.NewEncoder(buf),
	}
	for first := true; first || c.dec.StackDepth() > 0; first = false {
		if err := c.copy(); err != nil {
			return nil, false, err
		}
	}
	if _, err := c.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, false, errForm
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), c.changed, nil
}

// copy copies the next token.
func (c *cleaner) copy() error {
	within, members := c.dec.StackIndex(c.dec.StackDepth())
	switch c.dec.PeekKind() {
	case '"':
		raw, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		return c.text(raw, within == '{' && members%2 == 0)
	case '0':
		raw, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		return c.enc.WriteValue(raw)
	}
	token, err := c.dec.ReadToken()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	return c.enc.WriteToken(token)
}

// text copies a text, or the name of a member.
func (c *cleaner) text(raw []byte, name bool) error {
	unquoted, invalid := jsontext.AppendUnquote([]byte(nil), raw)
	text := string(unquoted)
	masked := resources.MaskCredentials(text)
	c.changed = c.changed || invalid != nil || masked != text
	if name && masked != text {
		masked = c.word()
	}
	for {
		err := c.enc.WriteToken(jsontext.String(masked))
		if !name || !errors.Is(err, jsontext.ErrDuplicateName) {
			return err
		}
		masked, c.changed = c.word(), true
	}
}

// word returns a word that no name was replaced by.
func (c *cleaner) word() string {
	c.words++
	return "masked-" + strconv.Itoa(c.words)
}
