package cli_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestUnusableCredentialForAServerEndsServeWithOneLine guarantees that serve names the setting and the problem, and quotes
// no secret, also one that stands in place of a file.
func TestUnusableCredentialForAServerEndsServeWithOneLine(t *testing.T) {
	t.Parallel()
	secret := rand.Text()
	good := harness.TempFile(t, "secret", secret)
	desk := func(value string) []string {
		return []string{"--upstream", "desk=http://127.0.0.1:1", "--upstream-secret-file", value}
	}
	for name, c := range map[string]unsafe{
		"a missing file":             {desk("desk=/nonexistent/secret"), []string{"--upstream-secret-file desk", "must name a file", "no such file"}},
		"an empty file":              {desk("desk=" + harness.TempFile(t, "secret", " \n")), []string{"--upstream-secret-file desk", "1 to 8,192 visible characters"}},
		"several lines":              {desk("desk=" + harness.TempFile(t, "secret", secret+"\n"+secret)), []string{"--upstream-secret-file desk", "one line"}},
		"a file that others read":    {desk("desk=" + moded(t, 0o644, "secret", secret)), []string{"--upstream-secret-file desk", "can read", "chmod o-rwx"}},
		"a file that others change":  {desk("desk=" + moded(t, 0o602, "secret", secret)), []string{"--upstream-secret-file desk", "change", "chmod o-rwx"}},
		"a folder":                   {desk("desk=" + t.TempDir()), []string{"--upstream-secret-file desk", "regular file"}},
		"a device":                   {desk("desk=/dev/zero"), []string{"--upstream-secret-file desk", "regular file"}},
		"the secret itself":          {desk("desk=" + secret), []string{"--upstream-secret-file desk", "must name a file"}},
		"the secret alone":           {desk(secret), []string{"--upstream-secret-file", "upstream=value"}},
		"the secret before a sign":   {desk(secret + "=="), []string{"--upstream-secret-file", "upstream=value"}},
		"an upstream without a file": {desk("desk="), []string{"--upstream-secret-file", "upstream=value"}},
		"another upstream":           {desk("other=" + good), []string{"--upstream-secret-file", "name of an --upstream"}},
		"an upstream twice":          {append(desk("desk="+good), "--upstream-secret-file", "desk="+good), []string{"--upstream-secret-file desk", "twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := harness.Command(t, nil, harness.Ephemeral(t.TempDir(), c.args...)...)
			harness.WantOneLine(t, o, c.says...)
			if strings.Contains(o.Stderr, secret) {
				t.Errorf("a secret is quoted: %q", o.Stderr)
			}
		})
	}
}
