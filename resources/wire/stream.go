package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Stream reads a body once, from its beginning to its end, and refuses what the contract refuses (strict.go).
// After an error there is nothing more to read, and Err returns it; until then a reader has to read
// or to skip each value.
type Stream struct {
	dec  *jsontext.Decoder
	body []byte
	// text is a copy of the body, made for the first text that is read: texts are parts of it.
	text string
	err  error
}

// NewStream returns a stream before the body's only value. The body must not change while its values
// are in use.
func NewStream(body []byte) *Stream {
	return &Stream{dec: jsontext.NewDecoder(bytes.NewBuffer(body)), body: body}
}

// Kind returns the kind of the next value: '{', '[', '"', '0', 't', 'f' or 'n', and 0 after an error
// or at an end.
func (s *Stream) Kind() byte {
	if s.err != nil {
		return 0
	}
	return byte(s.dec.PeekKind())
}

// Members reads an object: it returns the name of each member, whose value is read before the next
// one. The next value must be an object.
func (s *Stream) Members() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !s.begin() {
			return
		}
		for s.more('}') {
			if name := s.Text(); s.err != nil || !yield(name) {
				return
			}
		}
		s.token()
	}
}

// Items reads an array: it returns the index of each item, which is read before the next one. The
// next value must be an array.
func (s *Stream) Items() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !s.begin() {
			return
		}
		for i := 0; s.more(']'); i++ {
			if !yield(i) {
				return
			}
		}
		s.token()
	}
}

// begin reads the beginning of an object or an array.
func (s *Stream) begin() bool {
	s.token()
	return s.err == nil
}

// more reports whether a value comes before the end of the object or array.
func (s *Stream) more(end byte) bool {
	return s.err == nil && byte(s.dec.PeekKind()) != end
}

// Text reads a string. The next value must be one. A caller that keeps the text copies it, or else keeps
// a copy of the whole body.
func (s *Stream) Text() string {
	if s.err != nil {
		return ""
	}
	raw, err := s.dec.ReadValue()
	if err != nil {
		s.err = describe(err)
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		if s.text == "" {
			s.text = string(s.body)
		}
		end := int(s.dec.InputOffset())
		return s.text[end-len(raw)+1 : end-1]
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	switch {
	case err != nil:
		s.err = describe(err)
	case bytes.IndexByte(text, 0) >= 0:
		s.err = errNUL
	default:
		return string(text)
	}
	return ""
}

// Skip reads the next value and leaves it.
func (s *Stream) Skip() {
	for depth := s.dec.StackDepth(); s.err == nil; {
		if s.token(); s.dec.StackDepth() <= depth {
			return
		}
	}
}

// Raw returns the bytes of what read reads.
func (s *Stream) Raw(read func()) []byte {
	began := s.dec.InputOffset()
	read()
	return bytes.TrimLeft(s.body[began:s.dec.InputOffset()], ": ,\t\r\n")
}

func (s *Stream) token() {
	if s.err != nil {
		return
	}
	tok, err := s.dec.ReadToken()
	switch {
	case err != nil:
		s.err = describe(err)
	case tok.Kind() == '"' && holdsNUL(tok):
		s.err = errNUL
	case s.dec.StackDepth() > maxDepth:
		s.err = fmt.Errorf("it is nested over %d levels", maxDepth)
	}
}

// holdsNUL reports whether a string holds a NUL character.
func holdsNUL(tok jsontext.Token) bool { return bytes.IndexByte([]byte(tok.String()), 0) >= 0 }

// Err returns what the contract refuses of the body, once its only value has been read: nil is an
// acceptable body. The error does not quote it.
func (s *Stream) Err() error {
	if s.err == nil {
		if _, err := s.dec.ReadToken(); !errors.Is(err, io.EOF) {
			s.err = errTrailing
		}
	}
	return s.err
}
