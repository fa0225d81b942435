package route_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// table has a row for each text "METHOD host/path".
func table(t testing.TB, rows ...string) *route.Table {
	t.Helper()
	out := &route.Table{}
	for _, row := range rows {
		if taken := out.Insert(parse(row)); taken != nil {
			t.Fatalf("%s has the place of %s", row, taken.Route.Name)
		}
	}
	return out
}

// parse returns the row of a text, which is also its name.
func parse(row string) *route.Row {
	method, place, _ := strings.Cut(row, " ")
	slash := strings.IndexByte(place, '/')
	return &route.Row{Route: resources.Route{Name: row, Method: method, Host: place[:slash], Path: place[slash:]}}
}

// TestTheBestRowWins: segment by segment a literal before a parameter before the rest, then a named
// method before any, then a host before every host.
func TestTheBestRowWins(t *testing.T) {
	rows := []string{
		"GET /a/b", "GET /a/{id}", "GET /a/{rest+}", "* /a/b", "* /a/{id}", "* /a/{rest+}",
		"GET h/a/b", "* h/a/b", "* h/a/{id}", "* h/{rest+}",
		"GET /p/{proxy+}", "* h/p/{proxy+}", "PUT Big.Example/p/x",
		"* /q/r/{id}/s", "GET h/q/{rest+}", "OPTIONS /o",
	}
	for range 2 { // in any order
		slices.Reverse(rows)
		result := table(t, rows...)
		for _, c := range []struct{ host, method, path, want, values, allow string }{
			{"", "GET", "/a/b", "GET /a/b", "", ""},
			{"x", "GET", "/a/b", "GET /a/b", "", ""},
			{"h", "GET", "/a/b", "GET h/a/b", "", ""},
			{"h", "PUT", "/a/b", "* h/a/b", "", ""},
			{"x", "PUT", "/a/b", "* /a/b", "", ""},
			{"h", "GET", "/a/c", "GET /a/{id}", "c", ""}, // the method goes before the host
			{"h", "PUT", "/a/c", "* h/a/{id}", "c", ""},
			{"h", "GET", "/a/c/d", "GET /a/{rest+}", "c/d", ""}, // the segment goes before the host
			{"h", "GET", "/z", "* h/{rest+}", "z", ""},
			{"h", "GET", "/z/", "* h/{rest+}", "z/", ""},
			{"h", "GET", "/", "", "", ""},
			{"x", "GET", "/z", "", "", ""},
			{"x", "GET", "/a/", "", "", ""}, // the rest is one or more segments
			{"x", "GET", "/p/", "GET /p/{proxy+}", "", ""},
			{"h", "POST", "/p/", "* h/p/{proxy+}", "", ""},
			{"x", "POST", "/p/", "", "", "GET"},
			{"h", "GET", "/p/x", "GET /p/{proxy+}", "x", ""},
			{"big.example", "PUT", "/p/x", "PUT Big.Example/p/x", "", ""},
			{"x", "PUT", "/p/x", "", "", "GET"},
			{"x", "PUT", "/p/x/y", "", "", "GET"},
			{"h", "GET", "/q/r/1/s", "* /q/r/{id}/s", "1", ""},
			{"h", "GET", "/q/r/1/t", "GET h/q/{rest+}", "r/1/t", ""},
			{"x", "GET", "/q/r/1/t", "", "", ""},
			// HEAD matches rows of any method only, and none if GET has a row of its own.
			{"x", "HEAD", "/a/b", "", "", "GET"},
			{"h", "HEAD", "/a/b", "", "", "GET"},
			{"h", "HEAD", "/a/c", "", "", "GET"},
			{"h", "HEAD", "/z", "* h/{rest+}", "z", ""},
			{"x", "HEAD", "/q/r/1/s", "* /q/r/{id}/s", "1", ""},
			// "Any method" excludes those about the connection, and those two servers could read differently.
			{"h", "get", "/a/b", "", "", "GET"},
			{"h", "*", "/a/b", "", "", ""},
			{"h", "", "/a/b", "", "", "GET"},
			{"h", "TRACE", "/a/b", "", "", "GET"},
			{"h", "CONNECT", "/z", "", "", ""},
			{"h", strings.Repeat("A", 33), "/z", "", "", ""},
			{"h", "M-SEARCH", "/z", "* h/{rest+}", "z", ""},
			{"x", "OPTIONS", "/o", "OPTIONS /o", "", ""},
			{"x", "GET", "/o", "", "", "OPTIONS"},
		} {
			m := result.Find(c.host, c.method, c.path, nil)
			got := ""
			if m.Row != nil {
				got = m.Route.Name
			}
			allow := strings.Join(m.Allow, " ")
			if got != c.want || m.Row != nil && strings.Join(m.Values, " ") != c.values || m.Row == nil && !strings.HasPrefix(allow, c.allow) || c.allow == "" && got == "" && allow != "" {
				t.Errorf("%s %s%s: %q %q, allow %q; want %q %q, allow %q", c.method, c.host, c.path, got, m.Values, allow, c.want, c.values, c.allow)
			}
		}
	}
}

// TestTwoRowsOfOnePlaceAreFound: they differ in the names of parameters, or in how the host is spelt.
func TestTwoRowsOfOnePlaceAreFound(t *testing.T) {
	for _, c := range []struct {
		first, second string
		taken         bool
	}{
		{"GET /a/{x}", "GET /a/{y}", true},
		{"GET /a/{x:proj}", "GET /a/{y}", true},
		{"GET /a/{rest+}", "GET /a/{proxy+}", true},
		{"GET h/a", "GET H/a", true},
		{"* /a", "* /a", true},
		{"GET /a", "* /a", false},
		{"GET /a", "GET h/a", false},
		{"GET g/a", "GET h/a", false},
		{"GET /a/{x}", "GET /a/{rest+}", false},
		{"GET /a/{x}/b", "GET /a/{y}", false},
	} {
		result := table(t, c.first)
		if taken := result.Insert(parse(c.second)); (taken != nil) != c.taken {
			t.Errorf("%s beside %s: taken %v", c.second, c.first, taken != nil)
		}
	}
}

// TestAMisspeltParameterIsAnError: {path+} would take one segment, and leave the others to a row of a wider pattern.
func TestAMisspeltParameterIsAnError(t *testing.T) {
	for _, segment := range []string{"{path+}", "{}", "{:proj}", "{x", "x}", "{x}y", "{x}{y}", "x{y}"} {
		if _, err := route.NewRow(resources.Route{Path: "/a/" + segment}); err == nil || !strings.Contains(err.Error(), segment) {
			t.Errorf("%s: %v", segment, err)
		}
	}
}

func TestTheRestOfAPathEndsThePattern(t *testing.T) {
	for _, path := range []string{"/a/{rest+}/b", "/{proxy+}/b", "/{rest+}/{rest+}"} {
		if _, err := route.NewRow(resources.Route{Path: path}); err == nil || !strings.Contains(err.Error(), "must be the last segment") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// hosts are the values of a Host header, by the name that they are read as; "" is none.
var hosts = map[string][]string{
	"widgets.example": {"widgets.example", "Widgets.EXAMPLE", "widgets.example:443", "WIDGETS.example:1", "widgets.example:65535"},
	"10.0.0.1":        {"10.0.0.1", "10.0.0.1:8080"},
	"a_b":             {"a_b", "A_B:80"},
	"[::1]":           {"[::1]", "[::1]:80"},
	"[fe80::a]":       {"[FE80::A]:80"},
	"": {
		"", " ", ".", "widgets.example.", "widgets.example.:443", ".widgets.example", "widgets..example", "widgets.example:", "widgets.example:x",
		"widgets.example:443:443", "widgets.example:-1", "widgets.example:123456", ":443", "user@widgets.example", "widgets.example/a", "http://widgets.example",
		"widgets.example, other.example", "widgets.example,other.example", "widgets.example other.example", "widgets.example\x00", "widgets.example\t", "w\u0131dgets.example",
		"widgets%2eexample", "-a", "a-", "a.-b", "[::1", "::1", "[::1]x", "[::1]:", "[::1%25lo]", "[10.0.0.1]", "[]", "*", "a*b", strings.Repeat("a.", 127),
	},
}

// TestAHostIsReadInOneWay: letters and port aside, or not at all.
func TestAHostIsReadInOneWay(t *testing.T) {
	for want, values := range hosts {
		for _, value := range values {
			if got, ok := route.ParseHost(value); got != want || ok != (want != "") {
				t.Errorf("%q is read as %q, %v; want %q", value, got, ok, want)
			}
		}
	}
}

// FuzzHost: a name that is taken is read as itself again.
func FuzzHost(f *testing.F) {
	for _, values := range hosts {
		for _, value := range values {
			f.Add(value)
		}
	}
	f.Fuzz(func(t *testing.T, value string) {
		name, ok := route.ParseHost(value)
		if !ok {
			return
		}
		if again, ok := route.ParseHost(name); !ok || again != name || strings.ToLower(name) != name || strings.ContainsAny(name, " ,/@\\%") {
			t.Errorf("%q is taken as %q", value, name)
		}
	})
}

// FuzzTable: of the rows that fit, no other one is better than the one found.
func FuzzTable(f *testing.F) {
	f.Add("GET /a/{x}", "* h/a/b", "GET h/{rest+}", "h", "GET", "/a/b")
	f.Add("* /{x}/b", "GET /a/{proxy+}", "GET /{rest+}", "", "HEAD", "/a/b")
	f.Fuzz(func(t *testing.T, a, b, c, host, method, path string) {
		table := &route.Table{}
		var rows []string
		for _, row := range []string{a, b, c} {
			rowMethod, place, _ := strings.Cut(row, " ")
			slash := strings.IndexByte(place, '/')
			if slash < 0 || slices.Contains([]string{"HEAD", "CONNECT", "TRACE"}, rowMethod) || rowMethod != "*" && !route.ValidMethod(rowMethod) {
				return
			}
			parsed := parse(row)
			if _, err := route.NewRow(resources.Route{Host: "h.example", Path: parsed.Route.Path}); err != nil || strings.ContainsAny(place[:slash], "{}") {
				return
			}
			if table.Insert(parsed) == nil {
				rows = append(rows, row)
			}
		}
		host = strings.ToLower(host)
		m := table.Find(host, method, path, nil)
		best, bestRank := "", ""
		for _, row := range rows {
			if rank, fits := rank(row, host, method, path); fits && (best == "" || rank < bestRank) {
				best, bestRank = row, rank
			}
		}
		if method == "HEAD" { // that one needs its neighbours
			return
		}
		got := ""
		if m.Row != nil {
			got = m.Route.Name
		}
		if got != best {
			t.Errorf("%s %s%s among %q: %q, want %q", method, host, path, rows, got, best)
		}
	})
}

// rank is how good a row is for a call, the least being the best, and whether it fits at all.
func rank(row, host, method, path string) (rank string, fits bool) {
	rowMethod, place, _ := strings.Cut(row, " ")
	slash := strings.IndexByte(place, '/')
	rowHost, segments := strings.ToLower(place[:slash]), strings.Split(place[slash+1:], "/")
	if !strings.HasPrefix(path, "/") || rowHost != "" && rowHost != host {
		return "", false
	}
	parts := strings.Split(path[1:], "/")
	for i, segment := range segments {
		rest := strings.Join(parts[min(i, len(parts)):], "/")
		switch {
		case i >= len(parts):
			return "", false
		case segment == "{proxy+}" || segment == "{rest+}":
			if segment == "{rest+}" && rest == "" {
				return "", false
			}
			rank, parts = rank+"c", parts[:i+1]
		case strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}"):
			if parts[i] == "" {
				return "", false
			}
			rank += "b"
		case segment == parts[i]:
			rank += "a"
		default:
			return "", false
		}
	}
	if len(parts) != len(segments) {
		return "", false
	}
	switch {
	case rowMethod == method && method != "*":
		rank += "0"
	case rowMethod == "*":
		if !route.ValidMethod(method) || method == "CONNECT" || method == "TRACE" {
			return "", false
		}
		rank += "1"
	default:
		return "", false
	}
	if rowHost == "" {
		return rank + "1", true
	}
	return rank + "0", true
}
