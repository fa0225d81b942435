package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"
)

// MediaEvents is the media type of a stream of events.
const MediaEvents = "text/event-stream"

var (
	// ErrEventTooLarge ends a stream with an event of over MaxAnswer bytes.
	ErrEventTooLarge = errors.New("an event has over 4 MiB")
	// ErrEventCut ends a stream that ends within an event. A client must drop the event's beginning, and some don't: it
	// is not to be passed on.
	ErrEventCut = errors.New("the stream ended within an event")
)

// Event is a block of a stream of server-sent events: an event, or lines that make none, such as a comment.
type Event struct {
	// Raw are the block's bytes. The blocks of a stream one after the other are the stream.
	Raw []byte
	// Given says that a client gets an event. Without it the block has no data.
	Given bool
	// Type is "message" unless the event names another.
	Type string
	Data []byte
	// ID is the last id that the stream has named so far.
	ID string
	// Retry is the time before a client reconnects in ms, in digits; "" if the block does not say it.
	Retry string

	lines []line
}

// line is a line of a block: its bytes with its end, and the field that it sets.
type line struct {
	Place
	field string
}

// Events reads a stream of server-sent events by the rules of WHATWG, as bytes come: it waits for no byte after the one
// that completes a block. Lines end by CR LF, LF or CR.
type Events struct {
	stream *bufio.Reader
	// skipLF says that the last line ended by a CR. A LF may belong to it.
	skipLF bool
	begun  bool
	id     string
	err    error
}

// NewEvents reads from the beginning of a stream.
func NewEvents(stream io.Reader) *Events { return &Events{stream: bufio.NewReader(stream)} }

// Next returns the next block. io.EOF is the end of the stream after a whole block. An error ends the stream.
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
	e := Event{Type: "message"}
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
			e.ID, e.Data = s.id, bytes.TrimSuffix(e.Data, []byte{'\n'})
			return e, nil
		}
		e.lines = append(e.lines, line{Place{start, len(e.Raw)}, field})
		s.set(&e, field, value)
	}
}

// set takes a field of a block. Until the block is whole, its data has a line break at the end.
func (s *Events) set(e *Event, field string, value []byte) {
	switch field {
	case "data":
		e.Given, e.Data = true, append(append(e.Data, value...), '\n')
	case "event":
		if e.Type = string(value); e.Type == "" {
			e.Type = "message"
		}
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			s.id = string(value)
		}
	case "retry":
		if len(value) > 0 && !slices.ContainsFunc(value, func(c byte) bool { return c < '0' || c > '9' }) {
			e.Retry = string(value)
		}
	}
}

// split returns the field and the value of a line. The field of a comment is "".
func split(text []byte) (field string, value []byte) {
	name, value, _ := bytes.Cut(text, []byte{':'})
	return string(name), bytes.TrimPrefix(value, []byte{' '})
}

// line reads a line and appends its bytes to raw. It returns the line's text, and the place of its first byte: a LF of
// the line before may come first.
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

// carriage takes the LF after a CR, if it has come already: otherwise it begins the next block.
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

// withoutMark returns the first line of the stream without a byte order mark, and any other as it is.
func (s *Events) withoutMark(text []byte) []byte {
	if s.begun {
		return text
	}
	s.begun = true
	return bytes.TrimPrefix(text, []byte("\uFEFF"))
}

// With returns the block's bytes with other data, and all other lines as they are. The event must be given.
func (e Event) With(data []byte) []byte {
	out, done := make([]byte, 0, len(e.Raw)+len(data)), false
	last := 0
	for _, l := range e.lines {
		out = join(out, e.Raw[last:l.Start])
		last = l.End
		switch {
		case l.field != "data":
			out = join(out, e.Raw[l.Start:l.End])
		case !done:
			out, done = appendData(out, data), true
		}
	}
	return join(out, e.Raw[last:])
}

// join appends lines. A CR and a LF that stood apart remain two ends of lines.
func join(dst, lines []byte) []byte {
	if bytes.HasSuffix(dst, []byte{'\r'}) && bytes.HasPrefix(lines, []byte{'\n'}) {
		dst = append(dst, '\n')
	}
	return append(dst, lines...)
}

// AppendEvent appends an event with this type and data, and with an id unless it is "". The type message is left out.
// Invalid UTF-8 and line breaks can't be written in a type or an id: it then reports false and appends nothing.
func AppendEvent(dst []byte, kind, id string, data []byte) ([]byte, bool) {
	for _, s := range []string{kind, id} {
		if !utf8.ValidString(s) || slices.ContainsFunc([]byte(s), func(c byte) bool { return c == '\r' || c == '\n' || c == 0 }) {
			return dst, false
		}
	}
	if kind != "" && kind != "message" {
		dst = append(append(append(dst, "event: "...), kind...), '\n')
	}
	if id != "" {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	return append(appendData(dst, data), '\n'), true
}

// appendData appends the lines of data.
func appendData(dst, data []byte) []byte {
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'}), []byte{'\r'}, []byte{'\n'})
	for text := range bytes.SplitSeq(data, []byte{'\n'}) {
		dst = append(append(append(dst, "data: "...), text...), '\n')
	}
	return dst
}
