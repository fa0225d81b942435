package wire_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// TestStreamReadsValuesInTheirOrder guarantees it with all escapes, and the bytes of each value.
func TestStreamReadsValuesInTheirOrder(t *testing.T) {
	s := wire.NewStream([]byte(" {\"a\" : [1, \"x\", {\"b\":null}] ,\"\\u0063\":\"\\u00e9\\n\", \"d\":{}} "))
	var names, texts, raw []string
	for name := range s.Members() {
		names = append(names, name)
		raw = append(raw, string(s.Raw(func() {
			switch s.Kind() {
			case '"':
				texts = append(texts, s.Text())
			case '[':
				for i := range s.Items() {
					if i == 1 {
						texts = append(texts, s.Text())
						continue
					}
					s.Skip()
				}
			default:
				s.Skip()
			}
		})))
	}
	if err := s.Err(); err != nil || strings.Join(names, "|") != "a|c|d" || strings.Join(texts, "|") != "x|é\n" ||
		strings.Join(raw, "|") != `[1, "x", {"b":null}]|"\u00e9\n"|{}` {
		t.Errorf("%q %q %q, %v", names, texts, raw, err)
	}
}

// TestStreamRefusesWhatABodyMayNotHold, wherever it stands, and nothing is read after it.
func TestStreamRefusesWhatABodyMayNotHold(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "open": `{"a":1`, "trailing": `{} {}`, "name twice": `{"a":1,"a":2}`, "name twice, skipped": `{"x":{"a":1,"\u0061":2}}`, "NUL": `{"a":"\u0000"}`,
		"NUL in a name": `{"\u0000":1}`, "NUL, skipped": `{"x":["\u0000"]}`, "invalid UTF-8": "{\"a\":\"\xff\"}", "lone surrogate": `{"a":"\ud800"}`,
		"33 levels": `{"x":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`,
	} {
		s := wire.NewStream([]byte(body))
		if s.Kind() == '{' {
			for name := range s.Members() {
				if s.Kind() == '"' && name == "a" {
					s.Text()
				} else {
					s.Skip()
				}
			}
		} else {
			s.Skip()
		}
		if s.Err() == nil {
			t.Errorf("%s is taken", name)
		}
		if s.Skip(); s.Kind() != 0 || s.Text() != "" {
			t.Errorf("%s: read on", name)
		}
	}
}
