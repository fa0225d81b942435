package attacks_test

import (
	"fmt"
	"slices"
	"strings"
)

// framingAttacks guarantees that a request is refused if two servers see its end or its lines at
// different places. Nothing in it is judged or done, and the connection is closed.
func framingAttacks(w *attacksWorld, r *refusals) {
	f := framings{w: w}
	for title, attacks := range map[string][]attack{
		"lengths and codings": f.lengths(), "chunks": f.chunks(), "bytes in header lines": f.headerBytes(), "ends of lines": f.lineEnds(),
		"request lines": f.requestLines(), "sizes": f.sizes(), "hidden behind a refusal": f.hiddenBehind(),
	} {
		r.unjudged(title, func() { r.all(attacks) })
	}
	upgrades(w, r)
}

// framings make requests with a hidden part to create something, or to be allowed.
type framings struct{ w *attacksWorld }

// creation is a request that makes a project, if somebody takes it for one.
func (f framings) creation(lines ...string) string {
	return request("POST", f.w.tenant.path("/projects"), `{"name":"smuggled"}`, append([]string{bearer(f.w.tenant.adminToken)}, lines...)...)
}

// question is one that would be allowed.
func (f framings) question(lines ...string) string {
	return f.w.question("/api/v1/authorize/accounts/"+f.w.tenant.account+"/projects/"+f.w.tenant.project+"/x", lines...)
}

// bare is the head of a creation without any framing of its body.
func (f framings) bare(lines ...string) string {
	return request("POST", f.w.tenant.path("/projects"), "", append([]string{bearer(f.w.tenant.adminToken), "Content-Type: application/json"}, lines...)...)
}

// broken is an attack that breaks the framing.
func broken(name, raw string, want ...int) attack {
	if len(want) == 0 {
		want = []int{400}
	}
	return attack{name: name, raw: raw, want: want, closes: true}
}

// lengths are Content-Length and Transfer-Encoding, odd, repeated, and together.
func (f framings) lengths() []attack {
	var out []attack
	both := func(name, tail string, lines ...string) {
		out = append(out, broken("authorization.check, "+name, f.question(lines...)+tail), broken("project.create, "+name, f.bare(lines...)+tail))
	}
	for _, value := range []string{
		"", " ", "+5", "-5", "0x5", "5.0", "5e0", "1e1", "5 a", "5,5", "5, 5", "5;5", "5,", ",5", `"5"`, "5\t6", "05a", "a", "\u0665", "5 5", "NaN", "null", "true", "18446744073709551621", "-0", "+0", "0b1", "5_0", "5\v", "\f5",
	} {
		both(fmt.Sprintf("length %q", value), "hello", "Content-Length: "+value)
	}
	for _, coding := range []string{
		"", " ", "identity", "gzip", "deflate", "compress", "x-chunked", "xchunked", "chunkedx", "chunked, chunked", "chunked,chunked", "gzip, chunked", "chunked, gzip", "identity, chunked", "chunked, identity", "chunked;", "chunked; x=y", `"chunked"`, "'chunked'",
		"chunked,", ",chunked", "\vchunked", "chunked\v", "\fchunked", "\x00chunked", "chunked\x00", "chu nked", "ch\u00fcnked", "c\u017fhunked", "chun\u212aed", "chunke\x64\x01",
	} {
		both(fmt.Sprintf("coding %q", coding), "0\r\n\r\n", "Transfer-Encoding: "+coding)
	}
	names := map[string][]string{"length": {"Content-Length", "content-length", "CONTENT-LENGTH", "Content_Length", "content_length"}, "coding": {"Transfer-Encoding", "transfer-encoding", "TRANSFER-ENCODING", "Transfer_Encoding", "transfer_encoding"}}
	for _, length := range names["length"] {
		for _, coding := range names["coding"] {
			for _, n := range []string{"0", "5"} {
				both(length+" "+n+", then "+coding, "0\r\n\r\n"+f.creation(), length+": "+n, coding+": chunked")
				both(coding+", then "+length+" "+n, "0\r\n\r\n"+f.creation(), coding+": chunked", length+": "+n)
			}
		}
		both(length+" twice", "hello", "Content-Length: 5", length+": 5")
		both(length+" twice, different", f.creation(), length+": 0", "Content-Length: "+fmt.Sprint(len(f.creation())))
	}
	for _, coding := range names["coding"] {
		both(coding+" twice", "0\r\n\r\n"+f.creation(), "Transfer-Encoding: chunked", coding+": chunked")
	}
	for _, spelt := range []string{"Content_Length: 5", "content_length: 0", "Transfer_Encoding: chunked", "TRANSFER_ENCODING: chunked", "Trailer: X-User-ID", "trailer: Content-Length", "Trailer:"} {
		both(spelt, "0\r\n\r\n", spelt)
	}
	return out
}

// chunks are chunked bodies that end at two places, and trailers.
func (f framings) chunks() []attack {
	var out []attack
	body := `{"name":"smuggled"}`
	size := fmt.Sprintf("%x", len(body))
	for _, tail := range []string{
		"+" + size + "\r\n" + body + "\r\n0\r\n\r\n", "-1\r\n\r\n", "0x" + size + "\r\n" + body + "\r\n0\r\n\r\n", " " + size + "\r\n" + body + "\r\n0\r\n\r\n", size + "\n" + body + "\n0\n\n", size + "\r" + body + "\r0\r\r",
		size + "\r\n" + body + "0\r\n\r\n", size + "\r\n" + body + "XX0\r\n\r\n", "fffffffffffffffff\r\n" + body, "ffffffffffffffff\r\n" + body, "80000000\r\n" + body, "10000000000000000\r\n" + body, "\r\n" + body, "g\r\n" + body, size + "\r\n" + body + "\r\n0\r\n\n", "_" + size + "\r\n" + body,
		size + "\r\n" + body + "\n0\r\n\r\n", size + "\n" + body + "\r\n0\r\n\r\n", size + "\r\n" + body + "\r\n0\n\r\n", size + ";a\x00b\r\n" + body + "\r\n0\r\n\r\n", size + ";a\rb\r\n" + body + "\r\n0\r\n\r\n", size + "\r\n" + body + "\r\n0;\x00\r\n\r\n", size + ";\x7f\r\n" + body + "\r\n0\r\n\r\n",
		size + ";" + strings.Repeat("a", 100_000) + "\r\n" + body + "\r\n0\r\n\r\n", size + strings.Repeat(" ", 5000) + "\r\n" + body + "\r\n0\r\n\r\n", size + " \r\n" + body + "\r\n0\r\n\r\n", strings.Repeat("0", 300) + size + "\r\n" + body + "\r\n0\r\n\r\n", size + "\r\n" + body + "\r\n" + strings.Repeat("0", 300) + "\r\n\r\n",
		size + "\x00\r\n" + body + "\r\n0\r\n\r\n", size + ";\n" + body + "\r\n0\r\n\r\n", size + ";a\nb\r\n" + body + "\r\n0\r\n\r\n",
	} {
		want := []int{400, 408}
		if announced, _, _ := strings.Cut(tail, "\r\n"); announced == "80000000" || announced == "ffffffffffffffff" {
			want = []int{413} // at once
		}
		out = append(out, broken(fmt.Sprintf("chunks %.40q", tail), f.bare("Transfer-Encoding: chunked")+tail, want...))
	}
	for _, trailer := range []string{"X-User-ID: a", "X-Account-ID: a", "Authorization: Bearer a", "X-API-Key: a", "Content-Length: 5", "Transfer-Encoding: chunked", "Host: other", "X-Action: project:x:read", "A: b", "x-user-id: a", "X_User_ID: a"} {
		out = append(out,
			broken("project.create, trailer "+trailer, f.bare("Transfer-Encoding: chunked")+size+"\r\n"+body+"\r\n0\r\n"+trailer+"\r\n\r\n"),
			broken("authorization.check, trailer "+trailer, f.question("Transfer-Encoding: chunked")+"0\r\n"+trailer+"\r\n\r\n"),
			broken("project.create, announced trailer "+trailer, f.bare("Transfer-Encoding: chunked", "Trailer: "+trailer[:strings.Index(trailer, ":")])+size+"\r\n"+body+"\r\n0\r\n"+trailer+"\r\n\r\n"))
	}
	return out
}

// headerBytes are bytes that no header may hold: in and around names, and in values.
func (f framings) headerBytes() []attack {
	var out []attack
	for _, name := range []string{"Content-Length", "Transfer-Encoding", "Host", "X-User-ID", "Authorization", "X-Other"} {
		value := map[string]string{"Content-Length": "0", "Transfer-Encoding": "chunked", "X-User-ID": f.w.tenant.admin}[name]
		if value == "" {
			value = "x"
		}
		for c := range 0x100 {
			char := string([]byte{byte(c)})
			if c == '\n' || strings.ContainsAny(char, "!#$%&'*+-.^_`|~:") || c > 0x7f && c%16 != 0 || strings.ContainsFunc(char, isAlphanumeric) && c < 0x80 {
				continue // a line's end is a class of its own, and these make another header
			}
			for where, line := range map[string]string{"after": name + char, "inside": name[:1] + char + name[1:]} {
				if c == '\r' && where == "after" {
					continue
				}
				out = append(out, broken(fmt.Sprintf("%s with %q %s", name, char, where), f.question(line+": "+value)))
			}
			if c < ' ' && c != '\t' && c != '\r' || c == 0x7f {
				out = append(out, broken(fmt.Sprintf("%s of a value with %q", name, char), f.question(name+": "+value+char+"x")))
			}
		}
	}
	return out
}

// lineEnds are lines that end for one server and go on for another.
func (f framings) lineEnds() []attack {
	var out []attack
	whole := f.question()
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\r\n"), "\r\n")
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		for name, end := range map[string]string{"LF": "\n", "CR": "\r", "CR CR LF": "\r\r\n", "LF CR": "\n\r", "CR NUL LF": "\r\x00\n", "fold": "\r\n ", "fold with a tab": "\r\n\t", "folded text": "\r\n x\r\n"} {
			if i == 0 && name == "LF" {
				continue // the server takes a request line that ends so (RFC 9112, 2.2), and nobody reads it otherwise
			}
			spoilt := slices.Clone(lines)
			spoilt[i] = strings.TrimSuffix(line, "\r\n") + end
			out = append(out, broken(fmt.Sprintf("%s after %.20q", name, line), strings.Join(spoilt, "")+"\r\n", 400, 408))
		}
	}
	for _, line := range []string{" X-User-ID: mallory", "\tX-User-ID: mallory", "X-User-ID", ": mallory", " ", "\t", "X-User-ID = mallory", "X-A: b\n X-User-ID: mallory", "X-A: b\nX-User-ID: mallory", "X-A: b\rX-User-ID: mallory", "X-A: b\n\nPOST / HTTP/1.1"} {
		out = append(out, broken(fmt.Sprintf("line %q", line), f.question(line)))
	}
	return out
}
