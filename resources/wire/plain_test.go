package wire_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// FuzzPlainTextStandsInJSONAsItIs: what is called plain, the encoder does not change.
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

// TestPlainIsToldByteByByte: whatever stands beside it, each byte is judged by itself.
func TestPlainIsToldByteByByte(t *testing.T) {
	plain := func(c byte) bool { return ' ' <= c && c <= '~' && c != '"' && c != '\\' }
	for pair := range 1 << 16 {
		one, two := byte(pair), byte(pair>>8)
		for at := range 12 {
			text := []byte("aaaaaaaaaaaaa")
			text[at], text[at+1] = one, two
			if got, want := wire.Plain(string(text)), plain(one) && plain(two); got != want {
				t.Fatalf("%q: %t, want %t", text, got, want)
			}
		}
	}
}
