package message_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// events reads a stream to its end: the data of its events, and the bytes of all blocks.
func events(t *testing.T, src io.Reader) (given []string, raw string, end error) {
	t.Helper()
	s := message.NewEvents(src)
	for {
		e, err := s.Next()
		if err != nil {
			if _, again := s.Next(); !errors.Is(again, err) {
				t.Errorf("after %v the stream goes on with %v", err, again)
			}
			return given, raw, err
		}
		raw += string(e.Raw)
		if e.Given {
			given = append(given, string(e.Data))
		}
	}
}

// TestEventsAreReadByTheRules guarantees the rules of WHATWG, however the bytes come, and that the blocks are the stream.
func TestEventsAreReadByTheRules(t *testing.T) {
	for stream, want := range map[string][]string{
		"data: a\n\n":                                   {"a"},
		"data:a\r\n\r\ndata:  b\r\r":                    {"a", " b"},
		"data: a\ndata\ndata:b\n\n":                     {"a\n\nb"},
		"data\n\n":                                      {""},
		"data:\ndata:\n\n":                              {"\n"},
		"event: x\nid: 1\ndata: a\n\ndata: b\n\n":       {"a", "b"},
		"id: 7\n\ndata: a\n\nid\ndata: b\n\n":           {"a", "b"},
		"id: a\x00b\ndata: a\n\n":                       {"a"},
		"retry: 10\ndata: a\n\nretry: 1x\ndata: b\n\n":  {"a", "b"},
		"event: x\n\ndata: a\n\n":                       {"a"},
		"event: x\nevent\ndata: a\n\n":                  {"a"},
		": c\ndata: a\n: d\n\n\n\n:e\n":                 {"a"},
		"Data: a\n\nDATA\n\n data: a\n\ndata : a\n\n":   nil,
		"\uFEFFdata: a\n\n\uFEFFdata: b\n\n":            {"a"},
		"data: a:b\nevent:x:y\n\n":                      {"a:b"},
		"data: a\rid: 5\r\revent: z\r\ndata: b\r\n\r\n": {"a", "b"},
		"":         nil,
		"\n\r\n\r": nil,
		"data: {\"a\":\ndata: 1}\nunknown: x\n\ndata:\t\n\n": {"{\"a\":\n1}", "\t"},
	} {
		for name, src := range map[string]io.Reader{"whole": strings.NewReader(stream), "by bytes": iotest.OneByteReader(strings.NewReader(stream)), "halves": iotest.HalfReader(strings.NewReader(stream))} {
			given, raw, end := events(t, src)
			if !reflect.DeepEqual(given, want) || raw != stream || !errors.Is(end, io.EOF) {
				t.Errorf("%q %s: %q, %q, %v; want %q", stream, name, given, raw, end, want)
			}
		}
	}
}

// TestCutEventIsNotPassedOn guarantees that the beginning of an event is not given out at the stream's end.
func TestCutEventIsNotPassedOn(t *testing.T) {
	for _, stream := range []string{"data: a\n\ndata: evil", "data: a\n\ndata: evil\n", "data: a\n\ndata: evil\r", "data: a\n\n\x20"} {
		given, raw, end := events(t, strings.NewReader(stream))
		if len(given) != 1 || raw != "data: a\n\n" || !errors.Is(end, message.ErrEventCut) {
			t.Errorf("%q: %q, %q, %v", stream, given, raw, end)
		}
	}
	broken := errors.New("broken")
	if _, _, end := events(t, io.MultiReader(strings.NewReader("data: a\n"), iotest.ErrReader(broken))); !errors.Is(end, broken) {
		t.Errorf("a broken stream ends with %v", end)
	}
}

// TestEventIsBounded guarantees that an event takes at most 4 MiB, and so does a line without an end.
func TestEventIsBounded(t *testing.T) {
	fits := "data:" + strings.Repeat("a", message.MaxAnswer-len("data:\n\n")) + "\n\n"
	if given, _, end := events(t, strings.NewReader(fits)); len(given) != 1 || !errors.Is(end, io.EOF) {
		t.Errorf("an event of 4 MiB: %d events, %v", len(given), end)
	}
	for name, src := range map[string]io.Reader{"event": strings.NewReader(" " + fits), "line": endless("a"), "lines": endless("x\n"), "comment": endless(":")} {
		if given, _, end := events(t, src); given != nil || !errors.Is(end, message.ErrEventTooLarge) {
			t.Errorf("endless %s: %d events, %v", name, len(given), end)
		}
	}
}

// endless is a text over and over.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

// TestBlockComesAtOnce guarantees that a block is given out with its last byte: a comment, or an event of lines
// with a CR at the end.
func TestBlockComesAtOnce(t *testing.T) {
	for _, parts := range [][]string{{":\n", "data: a\n\n"}, {":\r", "\ndata: a\r\r", "\n\ndata: b\r\n\r\n"}} {
		src, out := io.Pipe()
		s := message.NewEvents(src)
		for _, part := range parts {
			go func() { _, _ = out.Write([]byte(part)) }()
			e, err := s.Next()
			for err == nil && strings.Trim(string(e.Raw), "\n") == "" {
				e, err = s.Next() // the LF of the line before
			}
			if want := strings.Trim(part, "\n"); err != nil || strings.Trim(string(e.Raw), "\n") != want {
				t.Fatalf("%q: %q, %v", part, e.Raw, err)
			}
		}
	}
}

func same(id string) string { return id }

// inBrackets renames an id, and leaves out the id gone.
func inBrackets(id string) string {
	if id == "gone" {
		return ""
	}
	return "<" + id + ">"
}

// TestEventIsRewritten guarantees that other data and ids replace those of an event, and its other lines stay.
func TestEventIsRewritten(t *testing.T) {
	for stream, want := range map[string]string{
		"id: 1\r\nevent: x\r\ndata: a\r\ndata: b\r\n: c\r\nretry: 5\r\n\r\n": "id: 1\r\nevent: x\r\ndata: new\ndata: lines\ndata: \ndata: end\n: c\r\nretry: 5\r\n\r\n",
		"data: a\rid: 5\r\r":        "data: new\ndata: lines\ndata: \ndata: end\nid: 5\r\r",
		"data:\rid: 5\rdata: a\n\n": "data: new\ndata: lines\ndata: \ndata: end\nid: 5\r\n\n",
		"data\n\n":                  "data: new\ndata: lines\ndata: \ndata: end\n\n",
	} {
		for _, src := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
			e, err := message.NewEvents(src).Next()
			if err != nil {
				t.Fatal(err)
			}
			got := string(e.With([]byte("new\rlines\r\n\nend"), same))
			if rest := strings.TrimPrefix(stream, string(e.Raw)); got+rest != want { // a last LF may come late
				t.Errorf("%q becomes %q, want %q", stream, got, want)
			}
		}
	}
	for stream, want := range map[string]string{
		"id: 1\r\nevent: x\r\nid\r\nid:2\r\ndata: a\r\n\r\n": "id: <1>\r\nevent: x\r\nid\r\nid: <2>\r\ndata: a\r\n\r\n",
		"\uFEFFid:  1\r\r": "id: < 1>\r\r", "id: 1\nretry: 5\n\n": "id: <1>\nretry: 5\n\n", "id: a\x00b\ndata\n\n": "id: a\x00b\ndata\n\n",
		"id: gone\ndata: a\n\n": "data: a\n\n", ": id: 1\n": ": id: 1\n",
	} {
		e, err := message.NewEvents(strings.NewReader(stream)).Next()
		if got := string(e.With(nil, inBrackets)); err != nil || got != want {
			t.Errorf("%q becomes %q, want %q", stream, got, want)
		}
	}
	// The LF after a CR comes late.
	e, err := message.NewEvents(iotest.OneByteReader(strings.NewReader("data: a\r\nid: 5\r\n\r\n"))).Next()
	if got := string(e.With([]byte("b"), same)); err != nil || got != "data: b\nid: 5\r\n\r" {
		t.Errorf("%q, %v", got, err)
	}
}

// dividing ends lines at more characters, as the Python client httpx does.
var dividing = strings.NewReplacer("\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n", "\x1e", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// TestNoClientReadsOtherEvents guarantees the same events to clients with other line ends. No comment, no field and no text
// of a message is an event of its own for them.
func TestNoClientReadsOtherEvents(t *testing.T) {
	const hidden = "data: hidden"
	for _, char := range []string{"\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"} {
		smuggled := "x" + char + hidden + char + char
		for _, stream := range []string{
			": " + smuggled + "\n", ":" + smuggled + "\r\ndata: {}\r\n\r\n", "data: {}\n: " + smuggled + "\n\n", "event: " + smuggled + "\ndata: {}\n\n", "retry: " + smuggled + "\n\n", "other: " + smuggled + "\ndata: {}\n\n", "id: " + smuggled + "\ndata: {}\n\n", "id: \x00" + smuggled + "\ndata: {}\n\n",
		} {
			s := message.NewEvents(strings.NewReader(stream))
			for e, err := s.Next(); err == nil; e, err = s.Next() {
				out := dividing.Replace(string(e.With(nil, func(string) string { return "sealed" })))
				if given := byTheRules(out); strings.Contains(out, "hidden") || len(given) > 1 || e.Given && (len(given) != 1 || given[0].data != "{}") {
					t.Errorf("%q is read as %+v", stream, given)
				}
			}
		}
	}
	for _, char := range []string{"\u0085", "\u2028", "\u2029"} { // which JSON takes
		sent := `{"x":"` + char + hidden + char + `"}`
		got := message.Undivided([]byte(sent))
		var before, after map[string]string
		if json.Unmarshal([]byte(sent), &before) != nil || json.Unmarshal(got, &after) != nil || before["x"] != after["x"] || dividing.Replace(string(got)) != string(got) {
			t.Errorf("%q becomes %q", sent, got)
		}
	}
	if plain := []byte(`{"x":"é"}`); &message.Undivided(plain)[0] != &plain[0] {
		t.Error("a plain message is copied")
	}
}
