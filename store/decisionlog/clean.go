package decisionlog

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// cleaner removes credentials from the values of a record, and notes whether there was one, or bytes that are not UTF-8.
type cleaner struct{ changed bool }

// text returns a text without the credentials in it.
func (c *cleaner) text(text string) string {
	clean := strings.ToValidUTF8(resources.MaskCredentials(text), "\ufffd")
	c.changed = c.changed || clean != text
	return clean
}

// texts cleans each of the texts.
func (c *cleaner) texts(all ...*string) {
	for _, text := range all {
		*text = c.text(*text)
	}
}

// list returns a list of texts without credentials. It never changes the one that it is given.
func (c *cleaner) list(all []string) []string {
	out := all
	for i, text := range all {
		if clean := c.text(text); clean != text {
			if &out[0] == &all[0] {
				out = slices.Clone(all)
			}
			out[i] = clean
		}
	}
	return out
}

// value returns a JSON value without credentials, and null for one that is not JSON.
func (c *cleaner) value(value []byte) jsontext.Value {
	if len(value) == 0 {
		return nil
	}
	clean, changed, err := cleanValue(value)
	if err != nil { // what callers send as an object is JSON
		clean, changed = jsontext.Value("null"), true
	}
	c.changed = c.changed || changed
	return clean
}

// members returns an object of what an app says, nil without any member.
func (c *cleaner) members(all []resources.Member) jsontext.Value {
	if len(all) == 0 {
		return nil
	}
	text := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			text = append(text, ',')
		}
		text, _ = jsontext.AppendQuote(text, m.Name) // policy's texts are UTF-8
		text = append(append(text, ':'), m.Value...)
	}
	return c.value(append(text, '}'))
}

// valueCleaner copies a JSON value without the credentials in it.
type valueCleaner struct {
	cleaner
	dec *jsontext.Decoder
	enc *jsontext.Encoder
	// words counts the words that replace names.
	words int
}

// cleanValue returns a JSON value without white space and without credentials, and reports whether that changed the
// value. It masks each text alone. A name with a credential becomes a word that is new in the object: masked-1, masked-2, …
// So does a repeated name.
func cleanValue(value []byte) (out jsontext.Value, changed bool, err error) {
	var buf bytes.Buffer
	v := valueCleaner{
		dec: jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		enc: jsontext.NewEncoder(&buf),
	}
	for first := true; first || v.dec.StackDepth() > 0; first = false {
		if err := v.copy(); err != nil {
			return nil, false, err
		}
	}
	if _, err := v.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, false, errForm
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), v.changed, nil
}

// copy copies the next token.
func (v *valueCleaner) copy() error {
	container, members := v.dec.StackIndex(v.dec.StackDepth())
	switch v.dec.PeekKind() {
	case '"':
		raw, err := v.dec.ReadValue()
		if err != nil {
			return err
		}
		return v.copyText(raw, container == '{' && members%2 == 0)
	case '0':
		raw, err := v.dec.ReadValue()
		if err != nil {
			return err
		}
		return v.enc.WriteValue(raw)
	}
	token, err := v.dec.ReadToken()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	return v.enc.WriteToken(token)
}

// copyText copies a text, or the name of a member.
func (v *valueCleaner) copyText(raw []byte, isName bool) error {
	unquoted, invalid := jsontext.AppendUnquote([]byte(nil), raw)
	text := string(unquoted)
	clean := v.text(text)
	v.changed = v.changed || invalid != nil
	if isName && clean != text {
		clean = v.word()
	}
	for {
		err := v.enc.WriteToken(jsontext.String(clean))
		if !isName || !errors.Is(err, jsontext.ErrDuplicateName) {
			return err
		}
		clean, v.changed = v.word(), true
	}
}

// word returns a word that has replaced no other name.
func (v *valueCleaner) word() string {
	v.words++
	return "masked-" + strconv.Itoa(v.words)
}
