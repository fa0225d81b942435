package cli_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestUnusableCredentialForAServerEndsServeWithOneLine guarantees that serve names the setting and the problem. It quotes
// no secret, also for one in place of a file.
func TestUnusableCredentialForAServerEndsServeWithOneLine(t *testing.T) {
	t.Parallel()
	secret := rand.Text()
	good := harness.TempFile(t, "secret", secret)
	desk := func(value string) []string {
		return []string{"--upstream", "desk=http://127.0.0.1:1", "--upstream-secret-file", value}
	}
	endpoint := func(url string, more ...string) []string {
		return append([]string{"--upstream", "desk=http://127.0.0.1:1", "--exchange-url", url, "--exchange-client-id", "gateway", "--exchange-client-secret-file", good}, more...)
	}
	const idp = "https://idp.example/token"
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

		"tokens over the open net":          {endpoint("http://idp.example/token"), []string{"--exchange-url", "must be https://"}},
		"tokens over the open net, a trick": {endpoint("http://127.0.0.1.idp.example/token"), []string{"--exchange-url", "must be https://"}},
		"an endpoint with a password":       {endpoint("https://ada:" + secret + "@idp.example/token"), []string{"--exchange-url", "without a user"}},
		"an endpoint with a query":          {endpoint(idp + "?key=" + secret), []string{"--exchange-url", "without a user and a query"}},
		"an endpoint without a client":      {[]string{"--exchange-url", idp}, []string{"--exchange-url", "--exchange-client-id", "--exchange-client-secret-file"}},
		"a client without an endpoint":      {[]string{"--exchange-client-id", "gateway"}, []string{"--exchange-url", "is missing"}},
		"a target without an endpoint":      {[]string{"--upstream", "desk=http://127.0.0.1:1", "--exchange-audience", "desk=a"}, []string{"--exchange-url", "is missing"}},
		"a client's secret that is missing": {append(endpoint(idp), "--exchange-client-secret-file", "/nonexistent/secret"), []string{"--exchange-client-secret-file", "must name a file"}},
		"a client's secret that is empty":   {append(endpoint(idp), "--exchange-client-secret-file", harness.TempFile(t, "secret", "")), []string{"--exchange-client-secret-file", "1 to 8,192"}},
		"a client's secret for everybody":   {append(endpoint(idp), "--exchange-client-secret-file", moded(t, 0o604, "secret", secret)), []string{"--exchange-client-secret-file", "chmod o-rwx"}},
		"an audience of another upstream":   {endpoint(idp, "--exchange-audience", "other=a"), []string{"--exchange-audience", "name of an --upstream"}},
		"an audience with a line break":     {endpoint(idp, "--exchange-audience", "desk=a\nb"), []string{"--exchange-audience desk", "visible characters"}},
		"two audiences":                     {endpoint(idp, "--exchange-audience", "desk=a", "--exchange-audience", "desk=b"), []string{"--exchange-audience desk", "twice"}},
		"a resource without a scheme":       {endpoint(idp, "--exchange-resource", "desk=issues"), []string{"--exchange-resource desk", "absolute URI"}},
		"a resource with a fragment":        {endpoint(idp, "--exchange-resource", "desk=https://h/#a"), []string{"--exchange-resource desk", "without a fragment"}},
		"a scope without a target":          {endpoint(idp, "--exchange-scope", "desk=a"), []string{"--exchange-scope desk", "needs --exchange-audience or --exchange-resource"}},
		"two scopes in one":                 {endpoint(idp, "--exchange-audience", "desk=a", "--exchange-scope", "desk=a b"), []string{"--exchange-scope desk", "one scope"}},
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
