package definition_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/definition"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestADefinitionIsTheHashOfTheCanonicalTool as RFC 8785 has it, of the six members alone.
func TestADefinitionIsTheHashOfTheCanonicalTool(t *testing.T) {
	for tool, canonical := range map[string]string{
		`{"name":"a"}`: `{"name":"a"}`,
		`{ "title" : "T" , "name" : "a", "_meta": {"x": 1}, "icons": [], "execution": {}, "Name": "b" }`:                                                 `{"name":"a","title":"T"}`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"b":{"minimum":1.0},"a":{"maximum":1E3}}},"outputSchema":{},"annotations":{"z":-0}}`:   `{"annotations":{"z":0},"inputSchema":{"properties":{"a":{"maximum":1000},"b":{"minimum":1}},"type":"object"},"name":"a","outputSchema":{}}`,
		`{"name":"\u0061","description":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"}`:                                                                `{"description":"€$\u000f\nA'B\"\\\\\"/","name":"a"}`,
		`{"name":"a","inputSchema":{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}}`:                                         `{"inputSchema":{"\r":2,"1":4,"` + "\u0080" + `":6,"ö":7,"€":1,"😀":5,"` + "\ufb33" + `":3},"name":"a"}`,
		`{"name":"a","inputSchema":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,9007199254740993,0.1e1,1e21,123456789012345678901]}`: `{"inputSchema":[333333333.3333333,1e+30,4.5,0.002,1e-27,9007199254740992,1,1e+21,123456789012345680000],"name":"a"}`,
		`{"name":"a","title":null,"description":""}`: `{"description":"","name":"a","title":null}`,
	} {
		sum := sha256.Sum256([]byte(canonical))
		if got, err := definition.Of([]byte(tool)); err != nil || got != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %s %v", tool, got, err)
		}
	}
}

// TestWhatCanBeReadTwiceHasNoDefinition at any depth, in members of the definition or beside them.
func TestWhatCanBeReadTwiceHasNoDefinition(t *testing.T) {
	for _, tool := range []string{
		``, `null`, `[]`, `"a"`, `{}`, `{"name":null}`, `{"name":""}`, `{"name":1}`, `{"Name":"a"}`, `{"name":"a"`, `{"name":"a"}{}`, `{"name":"a"} x`, `{"name":"a",}`, `{'name':'a'}`,
		`{"name":"a","name":"a"}`, `{"name":"a","n\u0061me":"b"}`, `{"name":"a","inputSchema":{"a":[{"b":1,"b":1}]}}`, `{"name":"a","_meta":{"b":1,"b":2}}`,
		"{\"name\":\"a\xff\"}", "{\"name\":\"a\",\"_meta\":\"\xc3\"}", `{"name":"\ud800"}`, `{"name":"a","title":"\udc00\ud800"}`, "{\"name\":\"a\x00\"}",
		`{"name":"a","inputSchema":1e400}`, `{"name":"a","inputSchema":{"a":[-1e309]}}`, `{"name":"a","inputSchema":01}`, `{"name":"a","inputSchema":NaN}`, `{"name":"a"/**/}`,
		"\ufeff" + `{"name":"a"}`,
	} {
		if got, err := definition.Of([]byte(tool)); err == nil || got != "" {
			t.Errorf("%s has the definition %s", tool, got)
		}
	}
}

// spelling writes JSON values in many ways.
type spelling struct{ *rand.Rand }

func (s spelling) space() string {
	return strings.Repeat([]string{" ", "\t", "\n", "\r"}[s.IntN(4)], max(0, s.IntN(5)-2))
}

func (s spelling) text(v string) string {
	var b strings.Builder
	for _, r := range v {
		switch {
		case r < 0x10000 && s.IntN(3) == 0:
			fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[s.IntN(2)], r)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '/' && s.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func (s spelling) number(v float64) string {
	switch s.IntN(4) {
	case 0:
		return strconv.FormatFloat(v, 'e', -1, 64)
	case 1:
		return strings.Replace(strconv.FormatFloat(v*100, 'f', 2, 64), ".", "", 1) + "E-04"
	case 2:
		return strconv.FormatFloat(v, 'f', 3, 64) + "000"
	default:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
}

func (s spelling) write(v any) string {
	switch v := v.(type) {
	case string:
		return s.text(v)
	case float64:
		return s.number(v)
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, s.space()+s.write(item)+s.space())
		}
		return "[" + strings.Join(parts, ",") + s.space() + "]"
	case map[string]any:
		var parts []string
		for name, item := range v {
			parts = append(parts, s.space()+s.text(name)+s.space()+":"+s.space()+s.write(item))
		}
		s.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return "{" + strings.Join(parts, ",") + s.space() + "}"
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func (s spelling) value(depth int) any {
	switch kind := s.IntN(7); {
	case kind == 0:
		return []any{nil, true, false}[s.IntN(3)]
	case kind == 1 || depth == 0 && kind > 2:
		return float64(s.IntN(2_000_000)-1_000_000) / 8
	case kind == 2:
		return []string{"", "a", "ä/\"\\", "€😀", "é", "e\u0301", "\ufb33", "<&>\u2028"}[s.IntN(8)]
	case kind < 5:
		out := []any{}
		for range s.IntN(4) {
			out = append(out, s.value(depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range s.IntN(4) {
		out[[]string{"a", "b", "A", "$ref", "€", "😀", "\ufb33", ""}[s.IntN(8)]] = s.value(depth - 1)
	}
	return out
}

// changed changes one value somewhere, and returns whether it has found one.
func (s spelling) changed(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name := range v {
			if item, ok := s.changed(v[name]); ok && s.IntN(3) > 0 {
				out[name] = item
				return out, true
			}
		}
		out["more"] = nil
		return out, true
	case []any:
		out := slices.Clone(v)
		if len(v) > 0 && s.IntN(2) == 0 {
			i := s.IntN(len(v))
			out[i], _ = s.changed(v[i])
			return out, true
		}
		return append(out, nil), true
	case string:
		return v + ".", true
	case float64:
		return v + 0.125, true
	case bool:
		return !v, true
	}
	return false, true
}

// TestASpellingChangesNoDefinitionAndAValueDoes for random tools.
func TestASpellingChangesNoDefinitionAndAValueDoes(t *testing.T) {
	names := []string{"title", "description", "inputSchema", "outputSchema", "annotations"}
	for seed := range uint64(3000) {
		s := spelling{rand.New(rand.NewPCG(seed, 7))}
		tool := map[string]any{"name": "tool"}
		for _, name := range names {
			if s.IntN(3) > 0 {
				tool[name] = s.value(3)
			}
		}
		first, err := definition.Of([]byte(s.write(tool)))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		beside := map[string]any{"_meta": s.value(2), "more": s.value(2)}
		maps.Copy(beside, tool)
		for range 5 {
			text := s.write(beside)
			if again, err := definition.Of([]byte(text)); err != nil || again != first {
				t.Fatalf("seed %d: %s has %s and not %s: %v", seed, text, again, first, err)
			}
		}
		member := append([]string{"name"}, names...)[s.IntN(6)]
		other := maps.Clone(tool)
		if value, exists := other[member]; exists {
			other[member], _ = s.changed(value)
		} else {
			other[member] = nil
		}
		text := s.write(other)
		if got, err := definition.Of([]byte(text)); err != nil || got == first {
			t.Fatalf("seed %d: %s in %s changes nothing: %s %v", seed, member, text, got, err)
		}
	}
}

// FuzzDefinition: JSON with a definition is read by the standard library in one way, and has it after that, too.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"type":"object","maximum":1e3},"annotations":{"readOnlyHint":true}}`))
	f.Add([]byte(`{"name":"a","n\u0061me":"b"}`))
	f.Fuzz(func(t *testing.T, tool []byte) {
		got, err := definition.Of(tool)
		if err != nil {
			return
		}
		var members map[string]any
		if err := json.Unmarshal(tool, &members); err != nil {
			t.Fatalf("%s has a definition: %v", tool, err)
		}
		again := must.Get(json.Marshal(members))(t)
		if next, err := definition.Of(again); err != nil || next != got {
			t.Errorf("%s has %s, and as %s it has %s (%v)", tool, got, again, next, err)
		}
	})
}
