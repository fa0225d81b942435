package wire_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// FuzzPlainTextStandsInJSONAsItIs checks that the encoder does not change plain text.
func FuzzPlainTextStandsInJSONAsItIs(f *testing.F) {
	for c := range 256 {
		f.Add("a" + string([]byte{byte(c)}))
	}
	f.Add("role x grants <project>:*:read & more")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := wire.Render(text); err != nil || wire.Plain(text) && string(got) != `"`+text+`"` {
			t.Errorf("%q is rendered %s, %v", text, got, err)
		}
	})
}

// TestPlainTextIsPrintableASCII checks each byte at each place of a text.
func TestPlainTextIsPrintableASCII(t *testing.T) {
	for c := range 256 {
		want := ' ' <= c && c <= '~' && c != '"' && c != '\\'
		for index := range 3 {
			text := []byte("aaa")
			text[index] = byte(c)
			if got := wire.Plain(string(text)); got != want {
				t.Errorf("%q: %t, want %t", text, got, want)
			}
		}
	}
}
