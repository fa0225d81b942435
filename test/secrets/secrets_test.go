package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestSecretsInOutputsAreFound, in each form and in the middle of a line; what only begins like
// one is none.
func TestSecretsInOutputsAreFound(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdefghijklmnopqrstuvwxyzABCDEF"
	for form, text := range map[string]string{
		"as it is": secret, "in a value": `{"x":"y` + secret + `z"}`, "in base64": base64.StdEncoding.EncodeToString([]byte("x" + secret + "yz")), "in base64url": base64.URLEncoding.EncodeToString([]byte(secret)), "in hexadecimal": fmt.Sprintf("%x", secret), "in upper case": fmt.Sprintf("%X", secret),
		"a password": "postgres://u:short@h", "nothing": "", "its beginning": secret[:30], "its end": secret[5:],
	} {
		var s Secrets
		output := &strings.Builder{}
		s.Watch(output)
		s.add("the secret", secret)
		s.add("a password", "short")
		_, _ = fmt.Fprintf(output, "a line\nmore %s and more\n", text)
		if want := form != "nothing" && !strings.HasPrefix(form, "its "); (len(s.Found()) == 1) != want {
			t.Errorf("%s: %q", form, s.Found())
		}
	}
}
