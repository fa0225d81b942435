package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// bodied is an edge with a list of the bodies its handler got.
func bodied(t testing.TB, change ...func(*gateway.Config)) (e *edge, got *[]string) {
	t.Helper()
	got = new([]string)
	return start(t, append(change, func(c *gateway.Config) {
		c.Handlers["access"]["public"] = func(_ context.Context, r *wire.Request) (wire.Response, error) {
			*got = append(*got, string(r.Body))
			return wire.OK(nil)
		}
	})...), got
}

// inChunks is the head of a request whose body comes in chunks.
var inChunks = request("POST", "/public", "", jsonType, "Transfer-Encoding: chunked")

// theNext is a request with an answer unlike all others.
var theNext = request("GET", "/", "", "X-Request-ID: the-next")

// wrongChunks are bodies whose end two servers could see at different places.
func wrongChunks() map[string]string {
	const hello = "5\r\nhello\r\n"
	many := strings.Repeat
	cases := map[string]string{
		"last line ends in LF": hello + "0\r\n\n", "size ends in LF": "5\nhello\r\n0\r\n\r\n", "data ends in LF": "5\r\nhello\n0\r\n\r\n", "last size ends in LF": hello + "0\n\r\n", "all end in LF": "5\nhello\n0\n\n",
		"size ends in CR": "5\rhello\r\n0\r\n\r\n", "last line ends in CR": hello + "0\r\n\r", "CR CR LF after the size": "5\r\r\nhello\r\n0\r\n\r\n", "CR CR LF at the end": hello + "0\r\n\r\r\n", "LF CR": "5\n\rhello\r\n0\r\n\r\n",
		"nothing after the data": "5\r\nhello0\r\n\r\n", "more than the data": "5\r\nhelloo\r\n0\r\n\r\n", "less than the data": "5\r\nhell\r\n0\r\n\r\n", "two ends after the data": "5\r\nhello\r\n\r\n0\r\n\r\n",
		"NUL in an extension": "5;a\x00b\r\nhello\r\n0\r\n\r\n", "CR in an extension": "5;a\rb\r\nhello\r\n0\r\n\r\n", "LF in an extension": "5;a\nb\r\nhello\r\n0\r\n\r\n", "DEL in an extension": "5;\x7f\r\nhello\r\n0\r\n\r\n", "high byte in an extension": "5;\x85\r\nhello\r\n0\r\n\r\n", "NUL in the last extension": hello + "0;\x00\r\n\r\n",
		"100 KB of extension": "5;" + many("a", 100_000) + "\r\nhello\r\n0\r\n\r\n", "100 KB of many extensions": many("1;"+many("a", 500)+"\r\nx\r\n", 200) + "0\r\n\r\n", "100 KB of extension at the end": hello + "0;" + many("a", 100_000) + "\r\n\r\n",
		"space before the size": " 5\r\nhello\r\n0\r\n\r\n", "space after the size": "5 \r\nhello\r\n0\r\n\r\n", "thousands of spaces": "5" + many(" ", 5000) + "\r\nhello\r\n0\r\n\r\n", "tab after the size": "5\t\r\nhello\r\n0\r\n\r\n", "space before an extension": "5 ;a\r\nhello\r\n0\r\n\r\n", "space after the last size": hello + "0 \r\n\r\n",
		"trailer": hello + "0\r\nX-User-ID: user-mallory-v1\r\n\r\n", "blank trailer": hello + "0\r\n \r\n\r\n", "trailer that is no header": hello + "0\r\nx\r\n\r\n",
		"many zeros": many("0", 300) + "5\r\nhello\r\n0\r\n\r\n", "many zeros at the end": hello + many("0", 300) + "\r\n\r\n", "17 digits": "00000000000000005\r\nhello\r\n0\r\n\r\n", "over 64 bits": "10000000000000005\r\nhello\r\n0\r\n\r\n",
		"no size": "\r\nhello\r\n0\r\n\r\n", "an extension and no size": ";a\r\nhello\r\n0\r\n\r\n",
	}
	for _, size := range []string{"0x5", "0X5", "x5", "+5", "-5", "-0", "5_", "_5", "0_5", "5h", "5,5", "5.0", "\u0665", "5\x00", "5\v", "\x005", "'5'", "5e+0"} {
		cases[fmt.Sprintf("size %q", size)] = size + "\r\nhello\r\n0\r\n\r\n"
		cases[fmt.Sprintf("last size %q", size)] = hello + strings.ReplaceAll(size, "5", "0") + "\r\n\r\n"
	}
	return cases
}

// TestChunksThatTwoServersReadDifferentlyAreRefused with 400 and the end of the connection:
// neither the body nor what follows it is taken.
func TestChunksThatTwoServersReadDifferentlyAreRefused(t *testing.T) {
	for name, body := range wrongChunks() {
		t.Run(name, func(t *testing.T) {
			e, got := bodied(t)
			l := e.dial(t)
			r := l.send(t, inChunks+body+theNext)
			if r.Status != 400 || !r.Close || len(*got) > 0 {
				t.Errorf("%d %s close=%v, taken: %.100q", r.Status, r.Body, r.Close, *got)
			}
			if rest, _ := io.ReadAll(l.r); len(rest) > 0 {
				t.Errorf("then came %.200q", rest)
			}
		})
	}
}

// TestChunksAreTaken however they are cut, with extensions that nobody needs, and the next
// request begins behind them.
func TestChunksAreTaken(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1<<11)
	for name, c := range map[string]struct{ body, want string }{
		"empty": {"0\r\n\r\n", ""}, "one": {"5\r\nhello\r\n0\r\n\r\n", "hello"}, "several": {"1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\n\r\n", "hello"},
		"both cases": {"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"}, "zeros before the size": {"0000000000000005\r\nhello\r\n0000\r\n\r\n", "hello"},
		"an end of a head in it": {"6\r\n\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n\r\n"}, "a last chunk in it": {"5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n"},
		"extensions": {"5;a;b=c;d=\"e f\"\r\nhello\r\n0;last\r\n\r\n", "hello"}, "long": {fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(long), long), long}, "long in short ones": {strings.Repeat("1\r\nx\r\n", 9000) + "0\r\n\r\n", strings.Repeat("x", 9000)},
	} {
		t.Run(name, func(t *testing.T) {
			e, got := bodied(t)
			raw := inChunks + c.body + theNext
			for _, cut := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.OneByteReader} {
				l := e.dial(t)
				*got = nil
				go func() { _, _ = io.Copy(struct{ io.Writer }{l}, cut(strings.NewReader(raw))) }()
				if r := l.read(t); r.Status != 200 || r.Close || len(*got) != 1 || (*got)[0] != c.want {
					t.Fatalf("%d %s close=%v, %.100q", r.Status, r.Body, r.Close, *got)
				}
				if next := l.read(t); next.Header.Get("X-Request-ID") != "the-next" {
					t.Errorf("next: %d %s", next.Status, next.Body)
				}
			}
		})
	}
}

// TestHeadsAndBodiesAreToldApart however they come: all at once, many in a row, byte by byte.
func TestHeadsAndBodiesAreToldApart(t *testing.T) {
	e, got := bodied(t)
	bodies := []string{"", "x", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("\r\n\r\n", 500), theNext}
	var raw strings.Builder
	for _, body := range bodies {
		raw.WriteString(request("POST", "/public", body, jsonType) + "\r\n" + chunked("/public", body+"y", "0\r\n\r\n", jsonType))
	}
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "by halves": iotest.HalfReader, "by bytes": iotest.OneByteReader,
	} {
		t.Run(name, func(t *testing.T) {
			l := e.dial(t)
			*got = nil
			go func() { _, _ = io.Copy(struct{ io.Writer }{l}, cut(strings.NewReader(raw.String()+theNext))) }()
			for range 2 * len(bodies) {
				if r := l.read(t); r.Status != 200 || r.Close {
					t.Fatalf("%d %s close=%v", r.Status, r.Body, r.Close)
				}
			}
			for i, body := range bodies {
				if (*got)[2*i] != body || (*got)[2*i+1] != body+"y" {
					t.Errorf("%.100q is read as %.100q and %.100q", body, (*got)[2*i], (*got)[2*i+1])
				}
			}
			if next := l.read(t); next.Header.Get("X-Request-ID") != "the-next" {
				t.Errorf("next: %d %s", next.Status, next.Body)
			}
		})
	}
}

// TestLengthOverTheLimitIsRefusedAtOnce: nothing of the body has to come, and who asks is not
// told to send it.
func TestLengthOverTheLimitIsRefusedAtOnce(t *testing.T) {
	for _, expect := range []string{"X-A: b", "Expect: 100-continue", "expect: 100-Continue"} {
		for _, length := range []int{bodyLimit + 1, 1 << 62} {
			e, _ := bodied(t, func(c *gateway.Config) { c.Limits.Read = 0 }) // a gateway that waits, waits for ever
			r := e.send(t, request("POST", "/public", "", jsonType, expect, fmt.Sprintf("Content-Length: %d", length)))
			if r.Status != 413 || !r.Close {
				t.Errorf("%s, %d: %d %s close=%v", expect, length, r.Status, r.Body, r.Close)
			}
		}
	}
}

// TestClientThatWaitsIsToldToSendItsBody guarantees a 100 for a wanted body before its first byte,
// if the client's version has it.
func TestClientThatWaitsIsToldToSendItsBody(t *testing.T) {
	e, got := bodied(t)
	for name, framed := range map[string][2]string{"length": {"Content-Length: 5", "hello"}, "chunks": {"Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"}} {
		l := e.dial(t)
		for range 2 {
			*got = nil
			if r := l.send(t, request("POST", "/public", "", jsonType, "Expect: 100-continue", framed[0])); r.Status != 100 || len(*got) > 0 {
				t.Fatalf("%s: %d %s", name, r.Status, r.Body)
			}
			if r := l.send(t, framed[1]); r.Status != 200 || len(*got) != 1 || (*got)[0] != "hello" {
				t.Errorf("%s: %d %s, %q", name, r.Status, r.Body, *got)
			}
			if r := l.send(t, request("POST", "/public", "hello", jsonType, "Expect: 100-continue")); r.Status != 200 {
				t.Errorf("%s, sent unasked: %d %s", name, r.Status, r.Body)
			}
		}
		for want, raw := range map[int]string{
			404: request("POST", "/nothing", "", "Expect: 100-continue", framed[0]),
			405: request("GET", "/public", "", "Expect: 100-continue", framed[0]),
			200: request("POST", "/public", "", "Expect: 100-continue"),
		} {
			if r := e.send(t, raw); r.Status != want {
				t.Errorf("%s: %d %s, want %d", name, r.Status, r.Body, want)
			}
		}
	}
	if r := e.send(t, strings.Replace(request("POST", "/public", "hello", jsonType, "Expect: 100-continue"), "1.1", "1.0", 1)); r.Status != 200 {
		t.Errorf("1.0: %d %s", r.Status, r.Body)
	}
}

// TestBodyThatComesTooLateIs408 in its area's shape, whichever way it is framed.
func TestBodyThatComesTooLateIs408(t *testing.T) {
	for name, raw := range map[string]string{
		"length":         strings.TrimSuffix(request("PUT", "/api/v1/users/u", "{}", bearer, jsonType), "}"),
		"chunk":          request("PUT", "/api/v1/users/u", "", bearer, jsonType, "Transfer-Encoding: chunked") + "5\r\nhell",
		"size":           request("PUT", "/api/v1/users/u", "", bearer, jsonType, "Transfer-Encoding: chunked") + "5",
		"end of a chunk": request("PUT", "/api/v1/users/u", "", bearer, jsonType, "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, func(c *gateway.Config) { c.Limits.Read = time.Second })
			r := e.overTCP(t).send(t, raw)
			if r.Status != 408 || !r.Close || !strings.Contains(r.Body, `"code":"REQ_001"`) {
				t.Errorf("%d %s close=%v", r.Status, r.Body, r.Close)
			}
		})
	}
}

// TestHeadThatComesTooLateIs408, and its record says so.
func TestHeadThatComesTooLateIs408(t *testing.T) {
	const late = "The request did not arrive in time."
	e := start(t, func(c *gateway.Config) { c.Limits.Read = time.Second })
	r := e.overTCP(t).send(t, "GET /public HTTP/1.1\r\nHost: g\r\n")
	if r.Status != 408 || !r.Close || r.Body != `{"error":{"code":"BAD_REQUEST","message":"`+late+`"}}` {
		t.Errorf("%d %s close=%v", r.Status, r.Body, r.Close)
	}
	if rec := e.last(t); rec.Status != 408 || rec.Reason != late || rec.Problems != "" {
		t.Errorf("record %+v", rec)
	}
}

// TestUnusedConnectionEndsWithoutAnAnswer guarantees that it is not a request in the log and the
// metrics either.
func TestUnusedConnectionEndsWithoutAnAnswer(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Limits.Read = time.Second })
	if sent, err := io.ReadAll(e.overTCP(t)); len(sent) > 0 || err != nil {
		t.Errorf("answered %q, %v", sent, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.records) > 0 {
		t.Errorf("records %+v", e.records)
	}
}

// overTCP is a connection to the edge whose deadlines are a socket's.
func (e *edge) overTCP(t testing.TB) *link {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- e.Listen(listener) }()
	c := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
	t.Cleanup(func() { _ = errors.Join(c.Close(), listener.Close()); <-served })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &link{c, bufio.NewReader(c)}
}

// TestHTTP10IsTaken: answered, and its connection closed.
func TestHTTP10IsTaken(t *testing.T) {
	e := start(t)
	old := func(raw string) string { return strings.Replace(raw, " HTTP/1.1\r\n", " HTTP/1.0\r\n", 1) }
	noHost := func(raw string) string { return strings.Replace(raw, "Host: gateway\r\n", "", 1) }
	create := request("POST", "/api/v1/accounts/acct-a-v1/roles", "{}", bearer, jsonType)
	for name, c := range map[string]struct {
		raw  string
		want int
	}{
		"question":          {old(question("x")), 200},
		"no host":           {noHost(old(question("x"))), 200},
		"kept alive":        {old(question("x", "Connection: keep-alive")), 200},
		"body":              {old(create), 200},
		"body, no host":     {noHost(old(create)), 200},
		"no header":         {"GET / HTTP/1.0\r\n\r\n", 404},
		"two hosts":         {old(question("x", "Host: b")), 400},
		"chunks":            {old(request("POST", "/public", "", "Transfer-Encoding: chunked")) + "0\r\n\r\n", 400},
		"coding of no kind": {old(request("POST", "/public", "", "Transfer-Encoding: identity")), 400},
		"coding and length": {old(request("POST", "/public", "hello", "Transfer-Encoding: chunked")), 400},
		"bare LF":           {"GET / HTTP/1.0\n\n" + theNext, 400},
		"bare LF at last":   {"GET / HTTP/1.0\r\n\n" + theNext, 400},
	} {
		t.Run(name, func(t *testing.T) {
			l := e.dial(t)
			r := l.send(t, c.raw+theNext)
			if r.Status != c.want || !r.Close {
				t.Errorf("%d %s close=%v, want %d", r.Status, r.Body, r.Close, c.want)
			}
			if rest, _ := io.ReadAll(l.r); len(rest) > 0 {
				t.Errorf("then came %.200q", rest)
			}
		})
	}
}

// TestAnswerOfUnknownLengthReachesHTTP10 without chunks, and is not cut where it is too long.
func TestAnswerOfUnknownLengthReachesHTTP10(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		for range map[bool]int{true: bodyLimit / 16, false: bodyLimit/16 + 1}[strings.HasSuffix(r.URL.Path, "/fits")] {
			_, _ = io.WriteString(w, "0123456789abcdef")
		}
	})
	e := u.behind(t, "")
	for rest, want := range map[string]int{"fits": 200, "over": 503} {
		r := e.send(t, strings.Replace(request("GET", things+rest, "", bearer), "1.1", "1.0", 1))
		if r.Status != want || !r.Close || r.Header.Get("Content-Length") == "" || want == 200 && len(r.Body) != bodyLimit {
			t.Errorf("%s: %d, %d bytes, close=%v, %v", rest, r.Status, len(r.Body), r.Close, r.Header)
		}
		if r := e.send(t, request("GET", things+rest, "", bearer)); r.Status != 200 || len(r.Body) < bodyLimit {
			t.Errorf("%s by HTTP/1.1: %d, %d bytes", rest, r.Status, len(r.Body))
		}
	}
	if held, _ := e.Bodies(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
}

// TestOtherVersionsAreRefused guarantees a refusal with the accepted versions.
func TestOtherVersionsAreRefused(t *testing.T) {
	e := start(t)
	for _, version := range []string{"HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/2", "HTTP/1.1x", "http/1.1", "HTTP/1", "HTTP/11", "HTTP/01.1", "HTTP/1.10", "HTTP/1.00", "HTTP/3.0", "ICAP/1.0", ""} {
		r := e.send(t, strings.Replace(question("x"), "HTTP/1.1", version, 1))
		if r.Status != 400 || !r.Close || !strings.Contains(r.Body, "HTTP/1.1 or HTTP/1.0") {
			t.Errorf("%s: %d %s close=%v", version, r.Status, r.Body, r.Close)
		}
	}
}
