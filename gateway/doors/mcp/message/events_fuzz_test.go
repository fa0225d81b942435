package message_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// seen is what a client gets of an event.
type seen struct{ kind, data, id, retry string }

// byTheRules reads a whole stream as WHATWG says it, line after line.
func byTheRules(stream string) (given []seen) {
	text := strings.TrimPrefix(stream, "\uFEFF")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	lines = lines[:len(lines)-1] // the text after the last line break
	var data, kind, id, retry string
	for _, l := range lines {
		if l == "" {
			if data != "" {
				if kind == "" {
					kind = "message"
				}
				given = append(given, seen{kind, strings.TrimSuffix(data, "\n"), id, retry})
			}
			data, kind, retry = "", "", ""
			continue
		}
		field, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data += value + "\n"
		case "event":
			kind = value
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		case "retry":
			if value != "" && strings.Trim(value, "0123456789") == "" {
				retry = value
			}
		}
	}
	return given
}

// pieces reads a text in pieces of at most n bytes.
type pieces struct {
	text string
	n    int
}

func (p *pieces) Read(buf []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(buf[:min(len(buf), p.n)], p.text)
	p.text = p.text[n:]
	return n, nil
}

// FuzzEvents guarantees that a stream is read by the rules in any pieces. Its blocks are its bytes. Other data
// changes the data of one event, and another name its id.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "id: 1\r\nevent: x\r\ndata: {\r\ndata: }\r\n\r\n:c\n", "\uFEFFdata\rretry:5\rid\r\r", ": a\ndata: b\n: c\n\n"} {
		f.Add(s, "new\r\ndata", uint8(1))
		f.Add(s, "", uint8(7))
	}
	plain := strings.NewReplacer("\v", "v", "\f", "f", "\x1c", "c", "\x1d", "d", "\x1e", "e", "\u0085", "5", "\u2028", "8", "\u2029", "9")
	f.Fuzz(func(t *testing.T, stream, data string, n uint8) {
		stream = plain.Replace(stream) // TestNoClientReadsOtherEvents has the others
		given, raw, end := events(t, &pieces{stream, int(n) + 1})
		var want []string
		for _, one := range byTheRules(stream) {
			want = append(want, one.data)
		}
		if !reflect.DeepEqual(given, want) {
			t.Fatalf("%q, want %q", given, want)
		}
		if !strings.HasPrefix(stream, raw) || (errors.Is(end, io.EOF) && raw != stream) {
			t.Fatalf("%q, %v of %q", raw, end, stream)
		}
		s := message.NewEvents(&pieces{stream, int(n) + 1})
		for e, err := s.Next(); err == nil; e, err = s.Next() {
			if !e.Given {
				continue
			}
			lines := strings.ReplaceAll(strings.ReplaceAll(data, "\r\n", "\n"), "\r", "\n")
			again := byTheRules(string(e.With([]byte(data), func(id string) string { return "<" + id + ">" })))
			alone := byTheRules(string(e.Raw))
			if len(alone) == 1 {
				alone[0].data = lines
				if alone[0].id != "" {
					alone[0].id = "<" + alone[0].id + ">"
				}
			}
			if !reflect.DeepEqual(again, alone) {
				t.Fatalf("%q with %q is %q, want %q", e.Raw, data, again, alone)
			}
		}
	})
}
