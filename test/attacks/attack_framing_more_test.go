package attacks_test

import (
	"fmt"
	"strings"
)

// requestLines are first lines of another form, version or spelling.
func (f framings) requestLines() []attack {
	var out []attack
	whole := f.question()
	replaced := func(name, old, now string, want ...int) {
		out = append(out, broken(name, strings.Replace(whole, old, now, 1), want...))
	}
	for _, version := range []string{"HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/2", "HTTP/3", "http/1.1", "Http/1.1", "HTTP/1.10", "HTTP/01.1", "HTTP/1.01", "HTTP/11", "HTTP/1,1", "HTTP/1.1x", "HTTP/1.1 x", "HTTPS/1.1", "ICAP/1.0", "RTSP/1.0", "HTTP/-1.1", "HTTP/+1.1", "HTTP /1.1", "HTTP/ 1.1", "HTTP/1.\u0661", ""} {
		replaced(fmt.Sprintf("version %q", version), "HTTP/1.1", version)
	}
	for _, target := range []string{"http://gateway/", "https://gateway/", "HTTP://gateway/", "http://other/", "ws://gateway/", "file:///", "gateway:80/", "//gateway/ /", "*", "api", "", "?", "#", "\\", "http:/", "://", "%2f", "http://user@gateway/", "javascript:/"} {
		replaced(fmt.Sprintf("target %q", target), " /api", " "+target+"api")
	}
	for c := range 0x21 {
		if c == '\n' {
			continue
		}
		char := string(rune(c))
		replaced(fmt.Sprintf("%q in the target", char), "/x HTTP", "/a"+char+"b HTTP")
		replaced(fmt.Sprintf("%q in the method", char), "POST", "PO"+char+"ST")
		if c != ' ' {
			replaced(fmt.Sprintf("%q before the target", char), "POST /", "POST"+char+"/")
		}
	}
	for _, head := range []string{
		"CONNECT gateway:443 HTTP/1.1\r\nHost: gateway:443\r\n\r\n", "CONNECT /api HTTP/1.1 \r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: gateway\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"GET /\r\n\r\n", "GET\r\n\r\n", "\r\n \r\n\r\n", "/ HTTP/1.1\r\nHost: x\r\n\r\n", "PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n" + whole, "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a.\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", "GET / HTTP/1.1\r\nHost: a..b\r\n\r\n", "GET / HTTP/1.1\r\nHost: b@a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
	} {
		out = append(out, broken(fmt.Sprintf("head %.40q", head), head))
	}
	return out
}

// sizes are endless heads, too large ones, and heads with too many lines.
func (f framings) sizes() []attack {
	long := strings.Repeat("a", 40<<10)
	many := func(n int, line string) []string {
		return strings.Split(strings.TrimSuffix(strings.Repeat(line+"|", n), "|"), "|")
	}
	return []attack{
		broken("101 headers", f.question(many(101, "A: b")...), 400, 431), broken("1,000 headers", f.question(many(1000, "X-A: b")...), 400, 431), broken("1,000 identity headers", f.question(many(1000, "X-User-ID: "+f.w.tenant.admin)...), 400, 431),
		broken("10,000 empty headers", f.question(many(10_000, "A:")...), 400, 431), broken("a value of 40 KiB", f.question("X-A: "+long), 431), broken("a name of 40 KiB", f.question(long+": x"), 431), broken("many headers of 1 KiB", f.question(many(40, "X-A: "+long[:1<<10])...), 431),
		broken("a target of 40 KiB", strings.Replace(f.question(), "/x ", "/"+long+" ", 1), 431), broken("a method of 40 KiB", strings.Replace(f.question(), "POST", long, 1), 431), broken("a query of 40 KiB", strings.Replace(f.question(), "/x ", "/x?"+long+" ", 1), 431),
		broken("a token of 40 KiB", f.bare("X-API-Key: "+long), 431), broken("a head without an end", "POST / HTTP/1.1\r\nHost: "+long, 431), broken("a head that stops", "POST / HTTP/1.1\r\nHost: a\r\nX-A: b", 408), broken("a line that stops", "POST", 408), broken("one byte", "P", 408),
		broken("a body that stops", f.bare("Content-Length: 500")+`{"name":`, 400, 408), broken("a chunk that stops", f.bare("Transfer-Encoding: chunked")+"500\r\n{", 400, 408), broken("2 MiB", f.bare("Content-Length: 2097152")+long, 413), broken("2^62 bytes", f.bare("Content-Length: 4611686018427387904")+long, 413),
		broken("chunks of 2 MiB", f.bare("Transfer-Encoding: chunked")+strings.Repeat(fmt.Sprintf("%x\r\n%s\r\n", len(long), long), 52)+"0\r\n\r\n", 413),
	}
}

// hiddenBehind are requests in the body of another one that is refused before its body is read.
func (f framings) hiddenBehind() []attack {
	var out []attack
	for name, head := range map[string]struct {
		method, target, token string
		want                  int
	}{
		"a 404": {"POST", "/nothing", f.w.tenant.adminToken, 404}, "a 405": {"PATCH", f.w.tenant.path("/projects"), f.w.tenant.adminToken, 405}, "a 401": {"POST", f.w.tenant.path("/projects"), "x", 401},
		"a 415": {"POST", f.w.tenant.path("/projects"), f.w.tenant.adminToken, 415}, "a 413": {"POST", f.w.tenant.path("/projects"), f.w.tenant.adminToken, 413},
	} {
		for size, fill := range map[string]int{"small": 0, "large": 64 << 10} {
			body := strings.Repeat("a", fill) + f.creation()
			length := len(body)
			if head.want == 413 {
				length, body = 2<<20, strings.Repeat("a", 1<<20)+f.creation()
			}
			lines := []string{bearer(head.token), "Content-Type: text/plain"}
			out = append(out, attack{name: "behind " + name + ", " + size, want: []int{head.want}, raw: request(head.method, head.target, "", append(lines, fmt.Sprintf("Content-Length: %d", length))...) + body})
			if head.want != 413 {
				out = append(out, attack{name: "behind " + name + " in chunks, " + size, want: []int{head.want}, raw: request(head.method, head.target, "", append(lines, "Transfer-Encoding: chunked")...) + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)})
			}
		}
	}
	return out
}

// upgrades guarantees that no request switches to another protocol.
func upgrades(w *attacksWorld, r *refusals) {
	for _, target := range []string{"h2c", "websocket", "TLS/1.2", "HTTP/2.0", "portcullis"} {
		r.unchanged("upgrade", func() {
			r.refuse("upgrade to "+target, request("GET", w.tenant.path("/nothing"), "", bearer(w.tenant.adminToken), "Connection: Upgrade, HTTP2-Settings", "Upgrade: "+target, "HTTP2-Settings: AAMAAABk", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"), 404)
		})
	}
}
