package attacks_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// inputAttacks guarantees that a body or query outside the document, or with two readings, is
// refused on every endpoint. Nothing is changed.
func inputAttacks(w *attacksWorld, r *refusals) {
	for _, o := range operations(w) {
		if o.public || o.private || o.door() {
			continue
		}
		g, ok := w.granted(o)
		if !ok {
			r.fault("%s has no row: what request of it is granted?", o.route)
			continue
		}
		r.unchanged(o.route, func() {
			if o.body != nil {
				r.wrongMembers(g)
				r.wrongTexts(g)
			} else {
				r.unwantedBodies(g)
			}
			r.wrongQueries(g)
		})
	}
	r.unchanged("values", func() { values(w, r) })
	argumentAttacks(w, r)
	metadata(w, r)
}

// send is one request that must be refused as what it says is wrong.
func (r *refusals) send(name, raw string, want ...int) {
	if a := r.decided(name, raw); !slices.Contains(want, a.Status) {
		r.fault("%s: %d %.300s, want %v", name, a.Status, a.Body, want)
	}
}

// otherKinds are texts of JSON values of every kind but one; operators of a database are objects.
func otherKinds(kind string) []string {
	index := map[string][]string{
		"string":  {`""`, `"x"`, `"$ne"`},
		"integer": {`0`, `1`, `-1`},
		"number":  {`1.5`, `1e400`, `-0.0`, `1e0`, `9223372036854775808`, `18446744073709551616`, `1E+2`},
		"boolean": {`true`, `false`},
		"array":   {`[]`, `["x"]`, `[null]`, `[[]]`, `[{"$ne":1}]`},
		"object":  {`{}`, `{"$ne":null}`, `{"$gt":""}`, `{"$regex":".*"}`, `{"$where":"1"}`, `{"$oid":"507f1f77bcf86cd799439011"}`, `{"$numberLong":"1"}`, `{"x":1}`},
	}
	var out []string
	for name, texts := range index {
		if name != kind {
			out = append(out, texts...)
		}
	}
	return out
}

// wrongMembers have one member of another kind than it is, in every member, at every depth.
func (r *refusals) wrongMembers(g granting) {
	for name, p := range g.operation.body {
		r.wrongMember(g, name, p)
		for inner, q := range p.inner {
			r.wrongMember(g, name+"."+inner, q)
		}
	}
}

func (r *refusals) wrongMember(g granting, name string, p property) {
	if p.kind == "" || p.readOnly {
		return // it is ignored
	}
	wrong := otherKinds(p.kind)
	if p.kind == "array" {
		wrong = append(wrong, `[null]`, `[[]]`, `[1]`, `[true]`)
		if p.items == "string" {
			wrong = append(wrong, `[{"$ne":1}]`, `["\u0000"]`)
		}
	}
	if p.kind == "object" {
		wrong = append(wrong, `{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"a":[{"b":1,"\u0062":2}]}`, `{"a":"\u0000"}`, `{"a\u0000":1}`, `{"a":"\ud800"}`, strings.Repeat(`{"a":`, 32)+"1"+strings.Repeat("}", 32))
	}
	if p.kind == "string" {
		wrong = append(wrong, `"\u0000"`, `"a\u0000b"`, `"\ud800"`, `"\udc00x"`, `"`+strings.Repeat("a", 20_000)+`"`, "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"a\nb\"", "'x'", `"\x41"`, `"\u12"`)
	}
	if p.kind == "integer" {
		wrong = append(wrong, `"1"`, `01`, `+1`, `0x1`, `1_000`, `NaN`, `Infinity`, `-9223372036854775809`, `99999999999999999999`)
	}
	for _, text := range wrong {
		const mark = "MEMBER"
		changed := g.replaced(slot{text: "body", name: name}, mark)
		changed.body = maps.Clone(changed.body)
		body := encoded(changed.body)
		for _, place := range []string{`["` + mark + `"]`, `"` + mark + `"`} { // put makes a list of it where one is wanted
			body = strings.Replace(body, place, text, 1)
		}
		r.send(fmt.Sprintf("%s, %s is %.40s", g.route, name, text), changed.rawBody(g.token, body), 400, 413)
	}
}

// wrongTexts are bodies that are no JSON, more than one, or read differently by two readers.
func (r *refusals) wrongTexts(g granting) {
	good := encoded(g.body)
	texts := []string{
		``, ` `, `null`, `[]`, `""`, `1`, `true`, `[` + good + `]`, good + good, good + " " + good, good + ",", good + "x", good + "\x00", "\x00" + good, good[:len(good)-1], "\ufeff" + good, "\xff\xfe" + good, "// x\n" + good, "/**/" + good, strings.ReplaceAll(good, `"`, `'`), strings.TrimSuffix(good, "}") + ",}", "{" + good + "}",
		strings.Repeat("[", 10_000), strings.Repeat(`{"a":`, 10_000), strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33), `{"__proto__":{"admin":true}}`, `{"constructor":{}}`, `{"$where":"sleep(1000)"}`, `{"$set":{"status":"ACTIVE"}}`, `{"":1}`, "{\"a\xff\":1}", `{"\ud800":1}`, "\x1f\x8b\x08\x00", "a=b&c=d", "<x/>", "---\na: b",
	}
	if len(g.body) == 0 { // none is as good as an empty one
		texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" || s == good })
	}
	for name := range g.operation.body {
		lower, upper := strings.ToLower(name), strings.ToUpper(name)
		value := encoded(g.body[name])
		for _, spelt := range []string{lower, upper, strings.ToUpper(name[:1]) + name[1:], name + " ", " " + name, name + "\\u0000", "$" + name, name + ".x", name + "[$ne]", strings.ReplaceAll(name, "s", "\u017f"), strings.ReplaceAll(name, "_", ""), strings.ReplaceAll(name, "_", "-")} {
			if _, ok := g.operation.body[spelt]; !ok {
				texts = append(texts, `{"`+spelt+`":`+value+`,`+strings.TrimPrefix(good, "{"), strings.TrimSuffix(good, "}")+comma(g)+`"`+spelt+`":`+value+`}`)
			}
		}
		if _, sent := g.body[name]; sent {
			for _, other := range []string{value, "null", `"x"`, "{}"} {
				texts = append(texts, `{"`+name+`":`+other+`,`+strings.TrimPrefix(good, "{"), strings.TrimSuffix(good, "}")+`,"`+name+`":`+other+`}`, strings.TrimSuffix(good, "}")+`,"\u00`+fmt.Sprintf("%02x", name[0])+name[1:]+`":`+other+`}`)
			}
		}
	}
	for _, text := range texts {
		r.send(fmt.Sprintf("%s with the body %.80q", g.route, text), g.rawText(text), 400)
	}
	r.wrongMedia(g, good)
}

func comma(g granting) string {
	if len(g.body) == 0 {
		return ""
	}
	return ","
}

// rawText is the request with any body, also none.
func (g granting) rawText(body string) string {
	if body == "" {
		return g.rawBody(g.token, "", "Content-Length: 0", "Content-Type: application/json")
	}
	return g.rawBody(g.token, body)
}

// zipped is 32 MiB in some KiB.
var zipped = sync.OnceValue(func() string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(bytes.Repeat([]byte("a"), 32<<20)) // a buffer takes everything
	_ = z.Close()
	return out.String()
})

// wrongMedia are good bodies that say they are something else.
func (r *refusals) wrongMedia(g granting, good string) {
	body := good
	if good == "{}" {
		body = "{} "
	}
	typed := func(kind string, lines ...string) string {
		raw := g.rawBody(g.token, "", append(lines, "Content-Type: "+kind, fmt.Sprintf("Content-Length: %d", len(body)))...)
		return raw + body
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "application/jsonx", "application/merge-patch+json", "application/json-patch+json", "application/xml", "*/*", "application/*", "text/html", "application/yaml", "json", "application/x-json", "application/json,text/plain", "application/ld+json"} {
		r.send(g.route+" of the type "+kind, typed(kind), 415)
	}
	for _, coding := range []string{"gzip", "deflate", "br", "zstd", "compress", "identity", "gzip, gzip", "x", ""} {
		r.send(g.route+" in the coding "+coding, typed("application/json", "Content-Encoding: "+coding), 415)
	}
	body = zipped()
	r.send(g.route+" of 32 MiB in gzip", typed("application/json", "Content-Encoding: gzip"), 415)
	body = `{"name":"` + strings.Repeat("a", 1<<20) + `"}`
	r.send(g.route+" of 1 MiB and more", typed("application/json"), 413)
}

// unwantedBodies are sent where there is none to send.
func (r *refusals) unwantedBodies(g granting) {
	if g.method == "GET" {
		return // nobody reads one
	}
	for _, body := range []string{`{"x":1}`, `[]`, `null`, `x`, `{"$ne":1}`, `{"force":true}`} {
		r.send(g.route+" with the body "+body, g.rawBody(g.token, body), 400)
	}
	g.body = map[string]any{} // which is as good as none
	r.wrongTexts(g)
}

// wrongQueries have operators, names in other spellings, and names twice.
func (r *refusals) wrongQueries(g granting) {
	separator := "?"
	if len(g.query) > 0 {
		separator = "&"
	}
	withQuery := func(query string) {
		raw := g.raw(g.token)
		r.send(g.route+" with the query "+query, strings.Replace(raw, " HTTP/1.1\r\n", separator+query+" HTTP/1.1\r\n", 1), 400)
	}
	for _, query := range []string{"$where=1", "x=1", "admin=true", "_method=DELETE", "access_token=x", "%00=1", "a%20b=1", "[]=1", "status[$ne]=x", "$or=1"} {
		withQuery(query)
	}
	for _, name := range g.queries {
		queries := []string{name + "[$ne]=x", name + "[]=x", name + "[0]=x", name + "=%7B%22$ne%22%3Anull%7D", name + "=a&" + name + "=a", name + "=%00", name + "=%zz", name + "=%ff", name + "=a%0d%0aX:y", strings.ToUpper(name) + "=x", name + "%00=x", name + ".x=1"}
		if strings.HasPrefix(strings.ToLower(name), "page") {
			queries = append(queries, name+"=-1", name+"=0", name+"=1e3", name+"=9223372036854775808", name+"=0x10", name+"=1.5", name+"=+1", name+"=%201", name+"=a", name+"=101", name+"=%D9%A1")
		}
		for _, query := range queries {
			if name == "page" && strings.HasSuffix(query, "=101") || strings.HasPrefix(query, "q=%7B") {
				continue // past the end is an empty list, and nobody's name begins with an operator
			}
			withQuery(query)
		}
	}
}
