package message

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MediaEvents is the media type of a stream of events.
const MediaEvents = "text/event-stream"

var (
	// ErrEventTooLarge ends a stream with an event of over MaxAnswer bytes.
	ErrEventTooLarge = errors.New("an event exceeds 4 MiB")
	// ErrEventCut ends a stream that stops inside an event. Clients must drop the incomplete event and some don't, so the
	// door does not forward it.
	ErrEventCut = errors.New("the stream stopped inside an event")
)

// Event is a block of a stream of server-sent events: an event, or lines without one, such as a comment.
type Event struct {
	// Raw holds the block's bytes. Joined, the blocks of a stream are the stream.
	Raw []byte
	// Given is true if the block is an event. A block without an event has no data.
	Given bool
	Data  []byte

	lines []line
}

// line is a line of a block: its bytes with the line end, and its field.
type line struct {
	Place
	field string
}

// Events parses a stream of server-sent events (WHATWG). It returns a block as soon as its last byte arrives. Lines end
// with CR LF, LF or CR.
type Events struct {
	stream *bufio.Reader
	// skipLF is true if the last line ended with CR. A LF may complete that line end.
	skipLF bool
	begun  bool
	err    error
}

// NewEvents reads from the beginning of a stream.
func NewEvents(stream io.Reader) *Events { return &Events{stream: bufio.NewReader(stream)} }

// Next returns the next block, or io.EOF after the last whole block. Stop at any error.
func (s *Events) Next() (Event, error) {
	if s.err != nil {
		return Event{}, s.err
	}
	e, err := s.block()
	if err != nil {
		s.err = err
		return Event{}, err
	}
	return e, nil
}

// block reads lines up to a blank one, or one line that is a comment before any field.
func (s *Events) block() (Event, error) {
	var e Event
	for {
		text, start, err := s.line(&e.Raw)
		switch {
		case errors.Is(err, io.EOF) && len(e.lines) == 0 && len(e.Raw) == start:
			if start == 0 {
				return Event{}, io.EOF
			}
			return e, nil // the LF of a line that ended the block before
		case errors.Is(err, io.EOF):
			return Event{}, ErrEventCut
		case err != nil:
			return Event{}, err
		}
		if len(e.lines) > 0 {
			e.lines[len(e.lines)-1].End = start
		}
		field, value := split(text)
		if len(text) == 0 || field == "" && len(e.lines) == 0 {
			e.Data = bytes.TrimSuffix(e.Data, []byte{'\n'})
			return e, nil
		}
		e.lines = append(e.lines, line{Place{start, len(e.Raw)}, field})
		if field == "data" {
			e.Given, e.Data = true, append(append(e.Data, value...), '\n')
		}
	}
}

// split returns the field and the value of a line. The field of a comment is "".
func split(text []byte) (field string, value []byte) {
	name, value, _ := bytes.Cut(text, []byte{':'})
	return string(name), bytes.TrimPrefix(value, []byte{' '})
}

// line reads a line and appends its bytes to raw. It returns the line's text and the index of its first byte, which may
// follow the LF of the line before.
func (s *Events) line(raw *[]byte) (text []byte, start int, err error) {
	start = len(*raw)
	for {
		c, err := s.stream.ReadByte()
		if err != nil {
			return nil, start, err
		}
		if len(*raw) >= MaxAnswer {
			return nil, start, ErrEventTooLarge
		}
		*raw = append(*raw, c)
		if c == '\n' && s.skipLF {
			s.skipLF = false
			start = len(*raw)
			continue
		}
		s.skipLF = false
		if c == '\n' || c == '\r' {
			end := len(*raw) - 1
			s.carriage(c, raw)
			return s.withoutMark((*raw)[start:end]), start, nil
		}
	}
}

// carriage consumes the LF after a CR if it has arrived. Otherwise the LF begins the next block.
func (s *Events) carriage(c byte, raw *[]byte) {
	if c != '\r' {
		return
	}
	s.skipLF = true
	if s.stream.Buffered() == 0 {
		return
	}
	if next, err := s.stream.Peek(1); err == nil && next[0] == '\n' {
		*raw = append(*raw, '\n')
		s.skipLF = false
		_, _ = s.stream.Discard(1) // Peek has seen it
	}
}

// withoutMark removes a byte order mark from the first line of the stream.
func (s *Events) withoutMark(text []byte) []byte {
	if s.begun {
		return text
	}
	s.begun = true
	return bytes.TrimPrefix(text, []byte("\uFEFF"))
}

// With returns the block's bytes with other data, or with its own for nil, and with each id as rename returns it. It drops
// an id if rename returns "", and divided lines without data. The other lines stay. A block that gets data must be an event.
func (e Event) With(data []byte, rename func(id string) string) []byte {
	if len(e.lines) == 0 && divided(e.Raw) { // a comment
		return []byte(":\n")
	}
	out, done := make([]byte, 0, len(e.Raw)+len(data)), data == nil
	last := 0
	for _, l := range e.lines {
		out = join(out, e.Raw[last:l.Start])
		text := e.Raw[l.Start:l.End]
		bare := bytes.TrimRight(text, "\r\n")
		last = l.End
		_, value := split(bare)
		switch {
		case l.field == "id" && len(value) > 0 && bytes.IndexByte(value, 0) < 0: // clients ignore an id with a NUL
			if id := rename(string(value)); id != "" {
				out = append(append(append(out, "id: "...), id...), text[len(bare):]...)
			}
		case l.field != "data" && divided(bare):
		case l.field != "data" || data == nil:
			out = join(out, text)
		case !done:
			out, done = appendData(out, data), true
		}
	}
	return join(out, e.Raw[last:])
}

// breaks are characters at which some clients end a line, and others do not.
var breaks = []string{"\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"}

// divided reports whether some clients read more than one line in a line.
func divided(text []byte) bool {
	return slices.ContainsFunc(breaks, func(one string) bool { return bytes.Contains(text, []byte(one)) })
}

// Undivided returns a message that every client reads as one line of a stream: such characters stand in texts alone, and get
// an escape.
func Undivided(message []byte) []byte {
	if !divided(message) {
		return message
	}
	for _, one := range breaks {
		message = bytes.ReplaceAll(message, []byte(one), fmt.Appendf(nil, "\\u%04x", []rune(one)[0]))
	}
	return message
}

// join appends lines. It keeps a CR and a LF from different lines apart.
func join(dst, lines []byte) []byte {
	if bytes.HasSuffix(dst, []byte{'\r'}) && bytes.HasPrefix(lines, []byte{'\n'}) {
		dst = append(dst, '\n')
	}
	return append(dst, lines...)
}

// appendData appends the lines of data.
func appendData(dst, data []byte) []byte {
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'}), []byte{'\r'}, []byte{'\n'})
	for text := range bytes.SplitSeq(data, []byte{'\n'}) {
		dst = append(append(append(dst, "data: "...), text...), '\n')
	}
	return dst
}
