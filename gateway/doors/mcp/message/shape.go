package message

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxShape is about the size of the largest shape, in bytes.
const MaxShape = 4 << 10

// Shape returns a parsed object with … in place of each text, number and boolean. It keeps names, nulls and the nesting. It
// leaves out members beyond MaxShape, and reports that as cut.
func Shape(object []byte) (shape []byte, cut bool) {
	s := shaper{dec: jsontext.NewDecoder(bytes.NewBuffer(object))}
	if s.value() != nil { // Read has parsed it
		return nil, true
	}
	return s.out, s.cut
}

// shaper copies a JSON value without its values.
type shaper struct {
	dec *jsontext.Decoder
	out []byte
	cut bool
}

func (s *shaper) value() error {
	switch kind := s.dec.PeekKind(); kind {
	case '{', '[':
		return s.container(kind)
	case 'n':
		s.out = append(s.out, "null"...)
	default:
		s.out = append(s.out, `"…"`...)
	}
	return s.dec.SkipValue()
}

// container copies an object or an array. Behind MaxShape it skips members.
func (s *shaper) container(kind jsontext.Kind) error {
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	s.out = append(s.out, byte(kind))
	for first := true; ; first = false {
		if next := s.dec.PeekKind(); next == '}' || next == ']' {
			s.out = append(s.out, byte(next))
			_, err := s.dec.ReadToken()
			return err
		}
		var name jsontext.Value
		if kind == '{' {
			read, err := s.dec.ReadValue()
			if err != nil {
				return err
			}
			name = read
		}
		if s.cut = s.cut || len(s.out)+len(name) > MaxShape; s.cut {
			if err := s.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if !first {
			s.out = append(s.out, ',')
		}
		if kind == '{' {
			s.out = append(append(s.out, name...), ':')
		}
		if err := s.value(); err != nil {
			return err
		}
	}
}
