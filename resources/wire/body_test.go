package wire_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// parse reads a body with every getter once and returns the problems.
func parse(body string, read func(*wire.Object)) []string {
	var p wire.Problems
	o := (&wire.Request{Body: []byte(body)}).ParseObject(&p)
	read(o)
	o.Done()
	return problemsOf(p.Err())
}

func problemsOf(err error) []string {
	var out []string
	if err != nil {
		for _, p := range resources.AsError(err).Problems {
			out = append(out, p.String())
		}
	}
	return out
}

func nested(levels int) string {
	return `{"raw":` + strings.Repeat(`{"a":`, levels-2) + `{}` + strings.Repeat(`}`, levels-2) + `}`
}

// TestBodyIsOneStrictJSONObject guarantees that a body is refused if two decoders could read it differently.
func TestBodyIsOneStrictJSONObject(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "blank": "  ", "array": "[]", "text": `"x"`, "null": "null", "number": "1", "open": `{"raw":{}`, "trailing value": `{} {}`, "trailing letter": `{}x`, "trailing comma": `{"raw":{},}`,
		"BOM": "\xef\xbb\xbf{}", "UTF-16": "{\x00}\x00", "comment": `{/**/}`, "single quotes": `{'raw':{}}`, "bare name": `{raw:{}}`, "NaN": `{"n":NaN}`, "leading zero": `{"n":01}`, "plus": `{"n":+1}`, "hex": `{"n":0x1}`,
		"name twice": `{"s":"a","s":"b"}`, "name twice, escaped": `{"s":"a","\u0073":"b"}`, "name twice, deep": `{"raw":{"a":[{"b":1,"b":2}]}}`, "name twice, null": `{"s":null,"s":"a"}`,
		"invalid UTF-8": "{\"s\":\"\xff\"}", "overlong": "{\"s\":\"\xc0\xaf\"}", "surrogate in UTF-8": "{\"s\":\"\xed\xa0\x80\"}", "lone surrogate": `{"s":"\ud800"}`, "swapped surrogates": `{"s":"\udc00\ud800"}`, "invalid name": "{\"\xff\":1}",
		"NUL": `{"s":"a\u0000b"}`, "NUL in a name": `{"a\u0000":1}`, "NUL deep": `{"raw":{"a":["\u0000"]}}`, "raw control": "{\"s\":\"a\nb\"}", "raw NUL": "{\"s\":\"a\x00b\"}", "33 levels": nested(33), "33 lists": `{"raw":{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}}`,
		"a thousand levels": strings.Repeat("[", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			var value string
			got := parse(body, func(o *wire.Object) { value, _ = o.Text("s"); o.Raw("raw"); o.Int("n") })
			if len(got) != 1 || value != "" || !strings.Contains(got[0], "the body") {
				t.Errorf("%q, value %q", got, value)
			}
		})
	}
	for name, body := range map[string]string{
		"empty object": `{}`, "white space": " \t\r\n{ } \n", "32 levels": nested(32), "32 lists": `{"raw":{"a":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}}`,
		"surrogate pair": `{"s":"\ud83d\ude00"}`, "escaped name": `{"\u0073":"x"}`, "edge characters": `{"s":"` + "\u007f\u2028\ufffd\U0010ffff" + `"}`,
	} {
		if got := parse(body, func(o *wire.Object) { o.Text("s"); o.Raw("raw") }); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestEveryProblemIsToldAtOnce checks that each problem has its path and quotes no value.
func TestEveryProblemIsToldAtOnce(t *testing.T) {
	body := `{"text":1,"need":"","one":"x","int":1.5,"flag":"true","at":"soon","texts":["a",1],"obj":[],"objs":[{"n":"1"},2],"raw":[],"Text":"a","text ":"b","$where":1}`
	got := parse(body, func(o *wire.Object) {
		o.Text("text")
		o.Required("need")
		o.Required("absent")
		o.OneOf("one", "a", "a", "b")
		o.Int("int")
		o.Bool("flag")
		o.Time("at")
		o.Texts("texts", 2)
		o.Object("obj")
		items, _, _ := o.Objects("objs", 2)
		for _, item := range items {
			item.Int("n")
		}
		o.Raw("raw")
	})
	want := []string{
		"text: must be a string", "need: must not be empty", "absent: is missing", "one: must be one of a, b", "int: must be a whole number", "flag: must be true or false",
		"at: must be a date-time", "texts[1]: must be a string", "obj: must be an object", "objs[1]: must be an object", "objs[0].n: must be a whole number", "raw: must be an object",
		"$where: unknown field", "Text: unknown field", "text : unknown field",
	}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	if long := parse(`{"`+strings.Repeat("é", 500)+`":1}`, func(*wire.Object) {}); len(long) != 1 || len([]rune(long[0])) > 120 || !strings.HasPrefix(long[0], strings.Repeat("é", 64)+"…") {
		t.Errorf("%q", long)
	}
}

// TestNameLooksLikeWhatItIs guarantees names without white space around them, and without characters to hide or turn
// text.
func TestNameLooksLikeWhatItIs(t *testing.T) {
	for sent, want := range map[string]string{
		`"a"`: "", `"a b"`: "", `"éééé"`: "", `"日本語"`: "", `""`: "must not be empty", `null`: "is missing", `1`: "must be a string", `" a"`: "must not begin or end",
		`"a\u00a0"`: "must not begin or end", `"ééééé"`: "must have 1 to 4", `"a\nb"`: "control", `"a\u0085b"`: "control", `"a\u202eb"`: "control", `"a\u0000b"`: "",
	} {
		got := parse(`{"n":`+sent+`}`, func(o *wire.Object) { o.Name("n", 4) })
		switch {
		case sent == `"a\u0000b"`: // refused as JSON already
			if len(got) == 0 {
				t.Error("a NUL was taken")
			}
		case want == "" && len(got) > 0, want != "" && (len(got) != 1 || !strings.Contains(got[0], want)):
			t.Errorf("%s: %q, want %q", sent, got, want)
		}
	}
}

// TestProblemsAreBounded checks that a response lists at most 1,000 problems.
func TestProblemsAreBounded(t *testing.T) {
	for n, want := range map[int]int{999: 999, 1000: 1000, 1001: 1001, 50_000: 1001} {
		body := `{"texts":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`
		got := parse(body, func(o *wire.Object) { o.Texts("texts", n) })
		if len(got) != want {
			t.Errorf("%d problems are told in %d lines", n, len(got))
		}
		if last := got[len(got)-1]; n > 1000 && last != fmt.Sprintf("there are %d more problems", n-1000) {
			t.Errorf("the last line: %q", last)
		}
	}
}

// TestArraysAreBounded checks that items beyond the limit are not read and are one problem.
func TestArraysAreBounded(t *testing.T) {
	for body, want := range map[string]struct {
		objects int
		more    bool
		text    string
	}{
		`{"texts":[],"objs":[]}`:                       {0, false, ""},
		`{"texts":["a","b"],"objs":[{},{}]}`:           {2, false, ""},
		`{"texts":["a","b","c"],"objs":[{},{},{}]}`:    {2, true, "texts: must have at most 2 items"},
		`{"texts":["a","b",1,2,3],"objs":[{},{},1,2]}`: {2, true, "texts: must have at most 2 items"},
		`{"texts":[1,2,3],"objs":[{},1,2]}`:            {2, true, "texts: must have at most 2 items objs[1]: must be an object"},
	} {
		got := parse(body, func(o *wire.Object) {
			texts, _ := o.Texts("texts", 2)
			items, more, _ := o.Objects("objs", 2)
			if len(items) != want.objects || more != want.more || more && texts != nil {
				t.Errorf("%s: %d objects, more=%t, %q", body, len(items), more, texts)
			}
		})
		if strings.Join(got, " ") != want.text {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// TestLongArrayCostsItsLength checks that of 340,000 objects in a body of 1 MiB only those within the
// limit are made.
func TestLongArrayCostsItsLength(t *testing.T) {
	body := []byte(`{"objs":[` + strings.Repeat("{},", 340_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var p wire.Problems
	_, more, _ := (&wire.Request{Body: body}).ParseObject(&p).Objects("objs", 200)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; !more || taken > 32<<20 {
		t.Errorf("more=%t, %d MB", more, taken>>20)
	}
}

// TestNullIsAbsence checks every kind of field.
func TestNullIsAbsence(t *testing.T) {
	got := parse(`{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":null,"i":null}`, func(o *wire.Object) {
		_, a := o.Text("a")
		_, b := o.Int("b")
		_, c := o.Bool("c")
		_, d := o.Time("d")
		_, e := o.Texts("e", 9)
		_, f := o.Object("f")
		_, _, g := o.Objects("g", 9)
		_, h := o.Raw("h")
		if a || b || c || d || e || f || g || h || o.Has("a") || o.OneOf("i", "fallback", "x") != "fallback" {
			t.Error("a null is there")
		}
	})
	if len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := parse(`{"a":null}`, func(o *wire.Object) { o.Required("a") }); !slices.Equal(got, []string{"a: is missing"}) {
		t.Errorf("%q", got)
	}
}

func TestWholeNumbersOnly(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-0": 0, "7": 7, "-9223372036854775808": -1 << 63, "9223372036854775807": 1<<63 - 1} {
		parse(`{"n":`+text+`}`, func(o *wire.Object) {
			if n, ok := o.Int("n"); !ok || n != want {
				t.Errorf("%s is %d, %t", text, n, ok)
			}
		})
	}
	for _, text := range []string{"9223372036854775808", "1.0", "1e3", "1E0", "-1.5", `"1"`, "true", "[]", "1e400", strings.Repeat("9", 1000)} {
		if got := parse(`{"n":`+text+`}`, func(o *wire.Object) { o.Int("n") }); !slices.Equal(got, []string{"n: must be a whole number"}) {
			t.Errorf("%.20s: %q", text, got)
		}
	}
}

// TestRawIsAsItWasSent checks numbers, order, white space and names like those of operators.
func TestRawIsAsItWasSent(t *testing.T) {
	for _, raw := range []string{
		`{}`, `{"b":1.0,"a":1e400, "c" : 9223372036854775808}`, `{"$ne":{"$oid":"x"},"a.b":"\u003c<\/"}`, `{"n":-0,"z":0.10000000000000000001,"e":"é\u00e9"}`,
	} {
		var got []byte
		problems := parse(`{"raw": `+raw+` }`, func(o *wire.Object) { got, _ = o.Raw("raw") })
		if len(problems) != 0 || string(got) != raw || !json.Valid(got) {
			t.Errorf("%s comes back as %s %q", raw, got, problems)
		}
	}
}

// FuzzBody guarantees that no body panics the reader. The standard decoder reads every accepted body alike.
func FuzzBody(f *testing.F) {
	for _, s := range []string{`{"s":"x"}`, `{"s":"a","s":"b"}`, `{"s":"\ud800"}`, "{\"s\":\"\xff\"}", nested(32), nested(33), `{} {}`, "\xef\xbb\xbf{}", `{"raw":{"a":1e5}}`, `{"S":"x"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var text string
		var raw []byte
		if problems := parse(body, func(o *wire.Object) { text, _ = o.Text("s"); raw, _ = o.Raw("raw") }); len(problems) > 0 {
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatalf("%q is accepted: %v", body, err)
		}
		var want string
		if v, ok := m["s"]; ok {
			if err := json.Unmarshal(v, &want); err != nil {
				t.Fatal(err)
			}
		}
		if text != want || strings.Contains(text, "\x00") || string(m["raw"]) != string(raw) && string(m["raw"]) != "null" {
			t.Errorf("%q: %q %s", body, text, raw)
		}
		for name := range m {
			if name != "s" && name != "raw" {
				t.Errorf("%q: unknown field %q", body, name)
			}
		}
	})
}
