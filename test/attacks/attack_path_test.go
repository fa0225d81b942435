package attacks_test

import (
	"fmt"
	"strings"
)

// pathAttacks: what two servers could read differently is refused on the decision endpoint and on
// every enforced route; what names somebody else's place is denied in the words for a place that
// does not exist.
func pathAttacks(w *attacksWorld, r *refusals) {
	r.unjudged("paths that are read in two ways", func() {
		for _, piece := range pathPieces() {
			for _, path := range w.tenant.around(piece) {
				r.refusePath(path)
			}
		}
		for _, path := range w.tenant.otherWords() {
			r.refusePath(path)
		}
		for _, path := range longPaths() {
			r.refusePath(path)
		}
	})
	r.unjudged("what only looks like the route", func() {
		for _, target := range w.tenant.lookAlikes() {
			r.refuse("target "+target, w.question(target), 400, 404, 405)
		}
	})
	r.unjudged("enforced routes", func() {
		for _, piece := range pathPieces() {
			if strings.Contains(piece, "?") {
				continue // here it begins the query
			}
			for _, target := range w.tenant.enforced(piece) {
				r.refuse("GET "+target, request("GET", target, "", bearer(w.tenant.adminToken), "X-Account-ID: "+w.tenant.account), 400, 404, 405)
			}
		}
	})
	foreignPlaces(w, r)
}

// question is an authorization check about the admin, who may do everything.
func (w *attacksWorld) question(target string, lines ...string) string {
	return request("POST", target, "", append([]string{
		bearer(w.checker), "X-User-ID: " + w.tenant.admin, "X-Account-ID: " + w.tenant.account, "X-Action: project:instance:read",
	}, lines...)...)
}

// refusePath: 400 that tells what is wrong with the path. Raw controls and spaces break the
// request line, and with it the connection.
func (r *refusals) refusePath(path string) {
	name := fmt.Sprintf("path %.120q", path)
	if strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		r.judge(attack{name: name, raw: r.w.question("/api/v1/authorize/" + path), want: []int{400}, closes: true})
		return
	}
	a := r.refuse(name, r.w.question("/api/v1/authorize/"+path), 400)
	if a.Status == 400 && !strings.Contains(a.Body, `"path: `) {
		r.fault("%s: refused for another reason: %s", name, a.Body)
	}
}

// pathPieces are what no path may hold, in every spelling.
func pathPieces() []string {
	pieces := append(dotSegments(), badBytes()...)
	for _, slash := range []string{
		"%2f", "%2F", "%252f", "%252F", "%25252f", `\`, "%5c", "%5C", "%255c", "%c0%af", "%C0%AF", "%c1%9c", "%e0%80%af", "%f0%80%80%af", "%u002f", "%u2215",
		"%ef%bc%8f", "%E2%81%84", "%e2%88%95", "%ef%bc%bc", "%EF%B9%A8", "//", "%2f/", "/%2f",
	} {
		pieces = append(pieces, "x"+slash+"y", slash, "x"+slash, slash+"y")
	}
	for _, syntax := range []string{";", "%3b", "%3B", ";x=y", ";/", "%253b", "%ef%bc%9b", "%cd%be", "#", "#x", "?", "?x=y", "%25", "%2525", "%ef%bc%85", "%", "%2", "%zz", "%g0", "%-1", "%+1", "%\u00661"} {
		pieces = append(pieces, "x"+syntax, syntax+"y", "x"+syntax+"y")
	}
	return pieces
}

// dotSegments are `.` and `..` with each dot spelt in every way, and what servers cut or trim to
// such a segment.
func dotSegments() []string {
	dots := []string{".", "%2e", "%2E", "%252e", "%c0%ae", "%C0%AE", "%e0%80%ae", "%ef%bc%8e", "%E2%80%A4", "%u002e"}
	out := append([]string{"%e2%80%a5", "%e2%80%a6", "%ef%b8%b0", "...%2e", "%2e..."}, dots...)
	for _, a := range dots {
		for _, b := range dots {
			out = append(out, a+b)
		}
	}
	for _, segment := range []string{"..", "%2e%2E", ".%2e"} {
		for _, tail := range []string{";", ";x", "%00", "%20", "%09", "%0d", "?", "#", "%3b"} {
			out = append(out, segment+tail, tail+segment)
		}
	}
	return out
}

// badBytes are controls, bytes a client must encode, and encodings of plain bytes. Controls are
// encoded and, without the ends of a line, raw.
func badBytes() []string {
	var out []string
	for c := range 0x100 {
		escaped := fmt.Sprintf("%%%02x", c)
		switch char := string(rune(c)); {
		case c <= ' ' || c == 0x7f:
			if c != ' ' {
				out = append(out, "x"+escaped+"y", "x"+strings.ToUpper(escaped))
			}
			if c != '\n' && c != '\r' {
				out = append(out, "x"+char+"y")
			}
		case c >= 0x80: // a byte of its own is no UTF-8; its character is not encoded
			out = append(out, "x"+escaped+"y", "x"+string([]byte{byte(c)}), "x"+char)
		case strings.ContainsRune("\"<>[]^`{|}", rune(c)):
			out = append(out, "x"+char+"y")
		case strings.ContainsRune("-._~", rune(c)) || strings.ContainsFunc(char, isAlphanumeric):
			out = append(out, "x"+escaped+"y")
		}
	}
	return append(out, "%c2%80", "%c2%9f", "%ed%a0%80", "%ed%bf%bf", "%f4%90%80%80", "%f8%88%80%80%80", "%fe%ff")
}

func isAlphanumeric(c rune) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// around puts a piece where a path begins, goes on and ends.
func (t *tenant) around(piece string) []string {
	text := "accounts/" + t.account + "/projects/" + t.project
	return []string{piece + "/" + text, text + "/" + piece + "/instances", text + "/instances/" + piece}
}

// otherWords are the words for places in spellings only some servers read, in the wrong place, and
// twice.
func (t *tenant) otherWords() []string {
	var out []string
	for _, word := range []string{"accounts", "projects"} {
		id := map[string]string{"accounts": t.account, "projects": t.project}[word]
		for i := range len(word) {
			c := word[i]
			for _, spelt := range []string{fmt.Sprintf("%%%02x", c), fmt.Sprintf("%%%02X", c-32), string(c - 32), fmt.Sprintf("%%25%02x", c)} {
				out = append(out, word[:i]+spelt+word[i+1:]+"/"+id+"/x")
			}
		}
		out = append(out, strings.ToUpper(word)+"/"+id+"/x", word+"/", "x/"+word+"/"+id, "x/y/"+word, word[:len(word)-1]+"%c5%bf/"+id+"/x", word+"/"+id+"/"+word+"/"+id+"/x")
	}
	text := "accounts/" + t.account + "/projects/" + t.project
	return append(out, "projects/"+t.project+"/accounts/"+t.account+"/x", "api/v1/"+text+"/api/v1/"+text, "api/v2/"+text, "API/v1/"+text, "api/V1/"+text, "api/"+text,
		text+"/accounts/"+t.account, "accounts", "accounts/a%20b/x", "accounts/"+t.account+"/projects/a%20b/x", "accounts/"+t.account+"%20/x", "", "/", text+"/", text+"//", "/"+text)
}

func longPaths() []string {
	return []string{
		strings.Repeat("a", 2049), strings.Repeat("a/", 1024) + "b", strings.Repeat("../", 300), strings.Repeat("%2e%2e/", 200), strings.Repeat("x/", 1023) + "..",
		strings.Repeat("%c3%a9", 342), strings.Repeat("/", 2048), "accounts/" + strings.Repeat("a", 129) + "/x", strings.Repeat("a", 20_000),
	}
}

// lookAlikes are targets that somebody could take for the decision endpoint.
func (t *tenant) lookAlikes() []string {
	rest := "/accounts/" + t.account + "/projects/" + t.project + "/instances"
	out := []string{
		"/api/v1/authorize", "/api/v1/authorize/", "/api/v1/authorize?x", "/api/v1/authorizex" + rest, "/api/v1/authorize." + rest, "/api/v1/authorize%2f" + rest[1:], "/api/v1/authorize%20" + rest,
		"/api/v1/authorize;x" + rest, `/api/v1/authorize\` + rest[1:], "/v1/authorize" + rest, "/authorize" + rest, "/x/api/v1/authorize" + rest, "/api/v1//authorize" + rest, "//api/v1/authorize" + rest,
		"/./api/v1/authorize" + rest, "/x/../api/v1/authorize" + rest, "/api/v1/x/../authorize" + rest, "/api/v1/%2e/authorize" + rest, "/api/v1/%2e%2e/v1/authorize" + rest, "/api%2fv1/authorize" + rest, "//gateway/api/v1/authorize" + rest,
		"/api/v1/authorize?/../x" + rest, "/api/v1/authorize#" + rest, "/?" + "/api/v1/authorize" + rest,
	}
	route := "/api/v1/authorize"
	for i := range len(route) {
		if c := route[i]; 'a' <= c && c <= 'z' {
			out = append(out, route[:i]+string(c-32)+route[i+1:]+rest, route[:i]+fmt.Sprintf("%%%02x", c)+route[i+1:]+rest)
		}
	}
	return out
}

// enforced puts a piece into targets that the gateway serves itself.
func (t *tenant) enforced(piece string) []string {
	return []string{
		t.path("/projects/" + t.project + "/security-groups/" + piece), t.path("/" + piece + "/roles"), t.path("/groups/" + piece + "/members"),
		t.path("/" + piece + "/x"),
	}
}

// foreignPlaces: the path, the header or both name somebody else's account or project, or one that
// is not there: 200, denied, in the same words.
func foreignPlaces(w *attacksWorld, r *refusals) {
	tenant, foreign := w.tenant, w.foreign
	for _, form := range []string{
		"accounts/ACCOUNT/x", "accounts/ACCOUNT/projects/PROJECT/x", "api/v1/accounts/ACCOUNT/x", "api/v1/accounts/ACCOUNT/projects/PROJECT/x", "projects/PROJECT/x", "api/v1/projects/PROJECT",
		"accounts/" + tenant.account + "/projects/PROJECT/x", "api/v1/accounts/" + tenant.account + "/projects/PROJECT/security-groups", "accounts/ACCOUNT/projects/" + tenant.project, "accounts/ACCOUNT", "accounts/ACCOUNT/projects",
	} {
		for _, action := range []string{"project:instance:read", "account:role:read", "resource:instance:update", "project:security_group:create"} {
			var words []string
			for _, place := range [][2]string{{foreign.account, foreign.project}, {"acct-absent-v1", "proj-absent-v1"}, {foreign.account, foreign.deleted.project}} {
				path := strings.NewReplacer("ACCOUNT", place[0], "PROJECT", place[1]).Replace(form)
				a := r.denied("denied "+action+" on "+path, w.question("/api/v1/authorize/"+path), action)
				words = append(words, strings.NewReplacer(place[0], "ACCOUNT", place[1], "PROJECT").Replace(a.Body))
			}
			if words[0] != words[1] || words[0] != words[2] {
				r.fault("%s tells what exists: %q", form, words)
			}
		}
	}
}

// denied sends a question with another action, which must be answered and denied.
func (r *refusals) denied(name, raw, action string) answer {
	raw = strings.Replace(raw, "X-Action: project:instance:read", "X-Action: "+action, 1)
	a := r.refuse(name, raw, 200)
	if !strings.HasPrefix(a.Body, `{"allowed":false,"reason":"`) {
		r.fault("%s: %s", name, a.Body)
	}
	return a
}
