package cli_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// unsafe is a way to start the gateway that would let in unintended callers.
type unsafe struct {
	args []string
	// says are the setting, what is wrong with it and what to do.
	says []string
}

// TestUnsafeSettingEndsServeWithOneLine that names the setting, the problem and the remedy,
// and nothing listens.
func TestUnsafeSettingEndsServeWithOneLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]unsafe{
		"health on the edge's address":       {[]string{"--listen", "127.0.0.1:1", "--health-listen", "127.0.0.1:1"}, []string{"--health-listen", "--listen", "private", "port of its own"}},
		"health on all addresses":            {[]string{"--users-listen", "127.0.0.1:1", "--health-listen", ":1"}, []string{"--health-listen", "--users-listen", "port of its own"}},
		"both edges on one":                  {[]string{"--users-listen", "0.0.0.0:1", "--listen", "[::]:1"}, []string{"--listen", "--users-listen", "port of its own"}},
		"a listener without a port":          {[]string{"--health-listen", "127.0.0.1"}, []string{"--health-listen", "host:port"}},
		"a read for hours":                   {[]string{"--read-timeout", "2h"}, []string{"--read-timeout", "at most 5m", "slow on purpose"}},
		"a write for days":                   {[]string{"--write-timeout", "48h"}, []string{"--write-timeout", "at most 1h"}},
		"idle for a year":                    {[]string{"--idle-timeout", "8760h"}, []string{"--idle-timeout", "at most 24h"}},
		"an upstream for days":               {[]string{"--upstream-timeout", "48h"}, []string{"--upstream-timeout", "at most 1h"}},
		"a stop that takes an hour":          {[]string{"--drain-timeout", "1h"}, []string{"--drain-timeout", "at most 10m"}},
		"a write without an end":             {[]string{"--write-timeout", "0s"}, []string{"--write-timeout", "too small"}},
		"bodies of a gigabyte":               {[]string{"--body-limit", "1073741824"}, []string{"--body-limit", "at most 67108864", "memory"}},
		"headers of ten megabytes":           {[]string{"--header-limit", "10485760"}, []string{"--header-limit", "at most 1048576", "memory"}},
		"keys over the open net":             {outside("--jwks-url", "http://idp.example/keys"), []string{"JWKS URL", "http://", "use https://"}},
		"keys over the open net, by a trick": {outside("--jwks-url", "http://127.0.0.1.idp.example/keys"), []string{"JWKS URL", "use https://"}},
		"a certificate without its key":      {[]string{"--tls-cert-file", "c.pem"}, []string{"--tls-cert-file", "needs --tls-key-file"}},
		"a key without its certificate":      {[]string{"--tls-key-file", "k.pem"}, []string{"--tls-key-file", "needs --tls-cert-file"}},
		"client certificates without TLS":    {[]string{"--tls-client-ca-file", "ca.pem"}, []string{"--tls-client-ca-file", "needs --tls-cert-file and --tls-key-file"}},
		"proxies without TLS":                {[]string{"--ext-authz-client-ca-file", "ca.pem", "--ext-authz-listen", "127.0.0.1:0"}, []string{"--ext-authz-client-ca-file", "needs --tls-cert-file and --tls-key-file"}},
		"proxies that ask nowhere":           {[]string{"--ext-authz-client-ca-file", "ca.pem", "--tls-cert-file", "c.pem", "--tls-key-file", "k.pem"}, []string{"--ext-authz-client-ca-file", "needs --ext-authz-listen"}},
		"a certificate that is not there":    {[]string{"--tls-cert-file", "/nonexistent/c.pem", "--tls-key-file", "/nonexistent/k.pem"}, []string{"TLS", "/nonexistent/c.pem", "/nonexistent/k.pem"}},
		"a device for a certificate":         {[]string{"--tls-cert-file", "/dev/null", "--tls-key-file", "/dev/null"}, []string{"TLS", "/dev/null", "regular file"}},
		"demo commands for plain HTTP":       {[]string{"--demo", "--tls-cert-file", "c.pem", "--tls-key-file", "k.pem"}, []string{"--demo", "leave it or --tls-cert-file out"}},
		"an audience of white space":         {[]string{"--jwt-issuer", "i", "--jwt-audience", " ", "--jwks-url", "https://idp.example/keys"}, []string{"audience", "empty", "set it to the"}},
	} {
		t.Run(name, func(t *testing.T) {
			harness.WantOneLine(t, harness.Command(t, nil, harness.Ephemeral(t.TempDir(), c.args...)...), c.says...)
		})
	}
}

func outside(args ...string) []string {
	return append([]string{"--jwt-issuer", "i", "--jwt-audience", "a"}, args...)
}

// TestFileThatOthersReachEndsServeWithOneLine: what holds a secret and can be read, and what
// decides who is let in and can be changed, by every user of the machine. None of it is quoted.
func TestFileThatOthersReachEndsServeWithOneLine(t *testing.T) {
	t.Parallel()
	secret := rand.Text()
	private := fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":"1","x":%q,"d":%q}]}`,
		base64.RawURLEncoding.EncodeToString([]byte(secret+"------")), base64.RawURLEncoding.EncodeToString([]byte(secret)))
	public := harness.NewIdentityProvider(t, "i", "k").Jwks()
	config := func(name, text string, mode os.FileMode) unsafe {
		path := moded(t, mode, "c.yaml", name+": "+text+"\n")
		return unsafe{[]string{"--config", path}, []string{"--config " + path, name, "password", "chmod o-rwx", "PORTCULLIS_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}}
	}
	policies := harness.CopyPolicies(t)
	must.Do(t, os.Chmod(filepath.Join(policies, "authz", "decision.rego"), 0o646))
	open := t.TempDir()
	must.Do(t, os.Chmod(open, 0o757))
	authority := must.Get(servers.NewAuthority())(t)
	cert, readable := authority.Certificate(t)
	writable, private2 := authority.Certificate(t)
	anybodys := moded(t, 0o646, "ca.pem", "")
	tlsArgs := func(cert, key string) []string { return []string{"--tls-cert-file", cert, "--tls-key-file", key} }
	for path, mode := range map[string]os.FileMode{readable: 0o644, writable: 0o646} {
		must.Do(t, os.Chmod(path, mode))
	}
	consoleOf := []string{"--console-listen", "127.0.0.1:0", "--console-issuer", "https://i.example", "--console-client-id", "c", "--console-client-secret-file"}
	anybodysSecret := moded(t, 0o644, "secret", secret)
	key, keys, more := moded(t, 0o644, "jwks.json", private), moded(t, 0o646, "jwks.json", public), moded(t, 0o602, "c.yaml", "pprof: true\n")
	for name, c := range map[string]unsafe{
		"password of the database":  config("mongo-url", "mongodb://ada:"+secret+"@db1:1,db2:2/p?replicaSet=r", 0o604),
		"password of Redis":         config("redis-url", "rediss://:"+secret+"@h:1", 0o644),
		"password of a sentinel":    config("redis-url", "redis://h:1?master_name=m&sentinel_password="+secret, 0o644),
		"password of the mail":      config("smtp-url", "smtps://ada:"+secret+"@h?from=a@b.example", 0o644),
		"configuration":             {[]string{"--config", more}, []string{"--config", more, "can change", "chmod o-w"}},
		"private key of the issuer": {outside("--jwks-file", key), []string{"JWKS file", key, "private key", "public keys only"}},
		"public keys of the issuer": {outside("--jwks-file", keys), []string{"--jwks-file", keys, "can change", "chmod o-w"}},
		"public keys, several":      {[]string{"--config", harness.TempFile(t, "c.yaml", "issuers: [{issuer: i, audience: a, jwks_file: "+keys+", subjects: both}]\n")}, []string{"issuers[0]", keys, "chmod o-w"}},
		"a file of the policy":      {[]string{"--policy-dir", policies}, []string{"policy tree", "decision.rego", "can change", "chmod o-w"}},
		"the key of TLS":            {tlsArgs(cert, readable), []string{"TLS", readable, "can read", "chmod o-r"}},
		"the certificate of TLS":    {tlsArgs(writable, private2), []string{"TLS", writable, "can change", "chmod o-w"}},
		"authorities of clients":    {append(tlsArgs(authority.Certificate(t)), "--tls-client-ca-file", anybodys), []string{"TLS", anybodys, "can change", "chmod o-w"}},
		"the console's secret":      {append(consoleOf, anybodysSecret), []string{"--console-client-secret-file", anybodysSecret, "chmod o-rwx"}},
		"the data folder":           {[]string{"--data-dir", open}, []string{"--data-dir", open, "can change", "chmod o-w"}},
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

// moded writes a file with these rights, under any umask.
func moded(t *testing.T, mode os.FileMode, name, text string) string {
	t.Helper()
	path := harness.TempFile(t, name, text)
	must.Do(t, os.Chmod(path, mode))
	return path
}

// TestFilesForTheGroupStart: a group may be the operators', and what holds no password may
// be read by anybody.
func TestFilesForTheGroupStart(t *testing.T) {
	t.Parallel()
	secret := rand.Text()
	for name, path := range map[string]string{
		"a password for the group": moded(t, 0o640, "c.yaml", "smtp-url: smtps://ada:"+secret+"@h?from=a@b.example\nlog-level: nonsense\n"),
		"no password for anybody":  moded(t, 0o644, "c.yaml", "smtp-url: smtps://ada@h?from=a:b@b.example\nlog-level: nonsense\n"),
	} {
		t.Run(name, func(t *testing.T) { // the level is refused after the file has been looked at
			harness.WantOneLine(t, harness.Command(t, nil, harness.Ephemeral(t.TempDir(), "--config", path)...), "nonsense")
		})
	}
}

// TestPolicyThatAllowsThoseWithoutRightsEndsServeWithOneLine guarantees it for `policy check`, too,
// and for each condition somebody could leave out. The tree's own tests do not matter.
func TestPolicyThatAllowsThoseWithoutRightsEndsServeWithOneLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   string
		edits  []string // old, new, …
		caller string
	}{
		"a default that allows": {"decision.rego", []string{`default decision := {"allow": false`, `default decision := {"allow": true`}, "by default"},
		"accounts that are gone": {"conditions.rego", []string{
			"\tinput.account.exists\n", "", `if input.account.status == "ACTIVE"`, `if input.account.status != "SUSPENDED"`,
		}, "an account that is deleted"},
		"suspended users":          {"conditions.rego", []string{"\tinput.subject.status == \"ACTIVE\"\n", ""}, "a suspended user"},
		"ended assignments":        {"roles.rego", []string{"\tassignment.running == true\n", ""}, "whose only assignment has ended"},
		"callers without a name":   {"access.rego", []string{`input.route.access.public`, `input.route.name != ""`}, "a caller without a credential"},
		"services without a scope": {"access.rego", []string{`input.route.access.public`, `input.principal.kind == "service"`}, "a service without a scope"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := withoutItsTests(t)
			path := filepath.Join(tree, "authz", c.file)
			raw := must.Get(os.ReadFile(path))(t)
			for i := 0; i < len(c.edits); i += 2 {
				if strings.Count(string(raw), c.edits[i]) != 1 {
					t.Fatalf("%q is not there once", c.edits[i])
				}
			}
			harness.WriteFile(t, path, strings.NewReplacer(c.edits...).Replace(string(raw)))
			harness.WantOneLine(t, harness.Command(t, nil, harness.Ephemeral(t.TempDir(), "--policy-dir", tree)...), "policy: authz/", "allows", c.caller)
			if o := harness.Command(t, nil, "policy", "check", tree); o.Code != 2 || !strings.Contains(o.Stderr, c.caller) {
				t.Errorf("policy check: %+v", o)
			}
		})
	}
}

// withoutItsTests is the policy tree with one test that says nothing.
func withoutItsTests(t *testing.T) string {
	t.Helper()
	dir := harness.CopyPolicies(t)
	tests, err := filepath.Glob(filepath.Join(dir, "authz", "*_test.rego"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("%v %v", tests, err)
	}
	for _, path := range tests {
		must.Do(t, os.Remove(path))
	}
	harness.WriteFile(t, filepath.Join(dir, "authz", "nothing_test.rego"), "package authz_test\n\ntest_nothing if true\n")
	return dir
}
