package cli_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// badSetting is what serve is given, and what its line has to say.
type badSetting struct {
	args []string
	env  []string
	says []string
}

// TestBadSettingEndsServeWithOneLine: exit 2, before anything listens or is written.
func TestBadSettingEndsServeWithOneLine(t *testing.T) {
	t.Parallel()
	settings := map[string]badSetting{
		"deny status":           {args: []string{"--deny-status", "500"}, says: []string{"--deny-status", "200 or 403"}},
		"older bundles":         {args: []string{"--policy-bundle-allow-older"}, says: []string{"--policy-bundle-allow-older", "--policy-bundle-key"}},
		"deny status no number": {args: []string{"--deny-status", "no"}, says: []string{"--deny-status"}},
		"log level":             {args: []string{"--log-level", "x"}, says: []string{"--log-level", "debug"}},
		"log format":            {args: []string{"--log-format", "xml"}, says: []string{"--log-format"}},
		"half an issuer":        {args: []string{"--jwt-issuer", "https://idp.example"}, says: []string{"--jwt-audience", "--jwks-url"}},
		"two key sets":          {args: []string{"--jwt-issuer", "i", "--jwt-audience", "a", "--jwks-url", "https://x/k", "--jwks-file", "f"}, says: []string{"--jwks-url"}},
		"empty issuer":          {args: []string{"--jwt-issuer", "", "--jwt-audience", "a", "--jwks-file", "f"}, says: []string{"--jwt-issuer"}},
		"upstream without name": {args: []string{"--upstream", "http://h:1"}, says: []string{"--upstream"}},
		"upstream without host": {args: []string{"--upstream", "access=http://"}, says: []string{"--upstream", "access"}},
		"upstream of no web":    {args: []string{"--upstream", "access=ftp://h"}, says: []string{"--upstream", "access"}},
		"upstream twice":        {args: []string{"--upstream", "access=http://a", "--upstream", "access=http://b"}, says: []string{"--upstream", "twice"}},
		"upstream built in":     {args: []string{"--upstream", "access=http://a"}, says: []string{"--upstream access", "the gateway itself", "firewall"}},
		"upstream of decisions": {args: []string{"--upstream", "authorize=http://a"}, says: []string{"--upstream authorize", "the gateway itself"}},
		"empty flag":            {args: []string{"--policy-dir", ""}, says: []string{"--policy-dir is empty", "leave it out"}},
		"empty config":          {args: []string{"--config", ""}, says: []string{"--config is empty"}},
		"log level beyond":      {args: []string{"--log-level", "error+100"}, says: []string{"--log-level", "error+100"}},
		"size of another unit":  {args: []string{"--body-limit", "1MB"}, says: []string{"--body-limit", "MiB"}},
		"size with a fraction":  {args: []string{"--header-limit", "1.5MiB"}, says: []string{"--header-limit", "KiB"}},
		"duration of no unit":   {args: []string{"--idle-timeout", "10"}, says: []string{"--idle-timeout", "90s"}},
		"size by environment":   {env: []string{"PORTCULLIS_BODY_LIMIT=lots"}, says: []string{"PORTCULLIS_BODY_LIMIT", "lots", "MiB"}},
		"accounts URL":          {args: []string{"--accounts-url", "accounts:8080"}, says: []string{"--accounts-url"}},
		"notifications URL":     {args: []string{"--notifications-url", "http://u:p@h"}, says: []string{"--notifications-url"}},
		"no limit":              {args: []string{"--body-limit", "0"}, says: []string{"--body-limit"}},
		"no role":               {args: []string{"--role", "edge"}, says: []string{"--role", "gateway", "resources"}},
		"resources of no area":  {args: []string{"--role", "resources", "--master-key-file", "k"}, says: []string{"--areas", "firewall"}},
		"resources, no key":     {args: []string{"--role", "resources", "--areas", "firewall"}, says: []string{"--master-key-file"}},
		"resources, upstream":   {args: []string{"--role", "resources", "--areas", "firewall", "--master-key-file", "k", "--upstream", "a=http://b"}, says: []string{"--upstream"}},
		"an unknown area":       {args: []string{"--role", "resources", "--areas", "firewall,users", "--master-key-file", "k"}, says: []string{"--areas", "users"}},
		"an area twice":         {args: []string{"--role", "resources", "--areas", "firewall,firewall", "--master-key-file", "k"}, says: []string{"--areas", "once"}},
		"clusters alone":        {args: []string{"--role", "resources", "--areas", "clusters", "--master-key-file", "k"}, says: []string{"--areas", "firewall"}},
		"areas of a gateway":    {args: []string{"--areas", "firewall"}, says: []string{"--areas", "--role resources"}},
		"gateway, no upstream":  {args: []string{"--role", "gateway"}, says: []string{"clusters", "--upstream"}},
		"too much time":         {args: []string{"--handle-timeout", "61s"}, says: []string{"--handle-timeout", "1m"}},
		"database, no key":      {args: []string{"--mongo-url", "mongodb://h/?replicaSet=r"}, says: []string{"--mongo-url", "--master-key-file"}},
		"Redis alone":           {args: []string{"--redis-url", "redis://h:1"}, says: []string{"--redis-url", "--mongo-url"}},
		"a long lease":          {args: []string{"--freshness-lease", "11s"}, says: []string{"--freshness-lease", "10s"}},
		"a lease below nothing": {args: []string{"--freshness-lease", "-1s"}, says: []string{"--freshness-lease"}},
		"no unit of a rate":     {args: []string{"--rate-principal", "100"}, says: []string{"--rate-principal", "100/s"}},
		"an empty rate":         {args: []string{"--rate-account", ""}, says: []string{"--rate-account", "off"}},
		"a rate of nothing":     {args: []string{"--rate-service", "0/s"}, says: []string{"--rate-service"}},
		"a burst of nothing":    {args: []string{"--rate-failures", "10/m,0"}, says: []string{"--rate-failures"}},
		"connections below 0":   {args: []string{"--max-connections", "-1"}, says: []string{"--max-connections"}},
		"no groups":             {args: []string{"--max-security-groups", "0"}, says: []string{"--max-security-groups"}},
		"verdicts below none":   {args: []string{"--cached-verdicts", "-1"}, says: []string{"--cached-verdicts", "0 to 16777216"}},
		"too many tokens":       {args: []string{"--cached-tokens", "16777217"}, says: []string{"--cached-tokens", "0 to 16777216"}},
		"no facts":              {args: []string{"--cached-facts", "0"}, says: []string{"--cached-facts", "1 to 16777216"}},
		"no time for policy":    {args: []string{"--policy-timeout", "0s"}, says: []string{"--policy-timeout", "too small"}},
		"a policy for too long": {args: []string{"--policy-timeout", "11s"}, says: []string{"--policy-timeout", "at most --handle-timeout (10s)"}},
		"no time":               {args: []string{"--read-timeout", "0s"}, says: []string{"--read-timeout"}},
		"empty listener":        {args: []string{"--health-listen", ""}, says: []string{"--health-listen"}},
		"unknown flag":          {args: []string{"--deny", "1"}, says: []string{"--deny"}},
		"an argument":           {args: []string{"now"}, says: []string{"now"}},
		"environment":           {env: []string{"PORTCULLIS_DENY_STATUS=many"}, says: []string{"PORTCULLIS_DENY_STATUS", "many"}},
		"demo, outside issuer":  {args: []string{"--demo", "--jwt-issuer", "i", "--jwt-audience", "a", "--jwks-file", "f"}, says: []string{"--demo"}},
		"two at once":           {args: []string{"--deny-status", "500", "--log-level", "x"}, says: []string{"2 problems: (1) --deny-status", "; (2) --log-level"}},
		"no such config":        {args: []string{"--config", "/nothing/here.yaml"}, says: []string{"--config", "/nothing/here.yaml"}},
		"config: unknown key":   {args: []string{"--config", harness.TempFile(t, "c.yaml", "deny_status: 403\n")}, says: []string{"deny_status", "deny-status"}},
		"config: no YAML":       {args: []string{"--config", harness.TempFile(t, "c.yaml", "a: [\n b: {")}, says: []string{"--config"}},
		"config: key twice":     {args: []string{"--config", harness.TempFile(t, "c.yaml", "pprof: true\npprof: false\n")}, says: []string{"pprof"}},
		"config: two documents": {args: []string{"--config", harness.TempFile(t, "c.yaml", "pprof: true\n---\nlog-level: debug\n")}, says: []string{"--config", "YAML document", "put all settings into one"}},
		"config: no issuers":    {args: []string{"--config", harness.TempFile(t, "c.yaml", "issuers: []\n")}, says: []string{"issuers", "is empty", "leave it out"}},
		"config: null issuers":  {args: []string{"--config", harness.TempFile(t, "c.yaml", "issuers:\n")}, says: []string{"issuers", "is empty"}},
		"config: issuer twice":  {args: []string{"--config", harness.TempFile(t, "c.yaml", "issuers: [{issuer: a, issuer: b}]\n")}, says: []string{"line 1", `"issuer"`}},
		"config: no value":      {args: []string{"--config", harness.TempFile(t, "c.yaml", "policy-dir:\n")}, says: []string{"policy-dir", "is empty"}},
		"config: empty value":   {args: []string{"--config", harness.TempFile(t, "c.yaml", "jwt-issuer: ''\n")}, says: []string{"jwt-issuer", "is empty"}},
		"config: empty list":    {args: []string{"--config", harness.TempFile(t, "c.yaml", "upstream: []\n")}, says: []string{"upstream", "is empty"}},
		"config: list for one":  {args: []string{"--config", harness.TempFile(t, "c.yaml", "jwt-audience: [a, b]\n")}, says: []string{"jwt-audience", "one value"}},
		"config: wrong type":    {args: []string{"--config", harness.TempFile(t, "c.yaml", "pprof: maybe\n")}, says: []string{"pprof", "maybe"}},
		"config: a config":      {args: []string{"--config", harness.TempFile(t, "c.yaml", "config: other.yaml\n")}, says: []string{"config"}},
		"config: issuer's key":  {args: []string{"--config", harness.TempFile(t, "c.yaml", "issuers: [{isuer: x}]\n")}, says: []string{"isuer"}},
		"config: issuers twice": {args: []string{"--config", harness.TempFile(t, "c.yaml", "issuers: [{issuer: x}]\n"), "--jwt-issuer", "i", "--jwt-audience", "a", "--jwks-file", "f"}, says: []string{"issuers"}},
	}
	for name, c := range settings {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			harness.WantOneLine(t, harness.Command(t, c.env, harness.Ephemeral(dir, c.args...)...), c.says...)
			if _, err := os.Stat(dir); err == nil {
				t.Error("a data folder was made")
			}
		})
	}
}

// TestBadFileEndsServeWithOneLine: what is found out only when the file is read; none of
// it is quoted.
func TestBadFileEndsServeWithOneLine(t *testing.T) {
	t.Parallel()
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	readable := harness.TempFile(t, "readable.key", key+"\n")
	must.Do(t, os.Chmod(readable, 0o644))
	symmetric := harness.TempFile(t, "jwks.json", `{"keys":[{"kty":"oct","k":"`+key+`","kid":"1","alg":"HS256"}]}`)
	outside := []string{"--jwt-issuer", "i", "--jwt-audience", "a"}
	listening := harness.Shared(t).URL[len("http://"):]
	for name, c := range map[string]badSetting{
		"master key readable":  {args: []string{"--master-key-file", readable}, says: []string{readable, "chmod 600"}},
		"master key short":     {args: []string{"--master-key-file", harness.TempFile(t, "short.key", key[:20]+"\n")}, says: []string{"line 1", "32"}},
		"master key no base64": {args: []string{"--master-key-file", harness.TempFile(t, "junk.key", "# ok\n*"+key+"\n")}, says: []string{"line 2"}},
		"master key of zeros":  {args: []string{"--master-key-file", harness.TempFile(t, "zero.key", base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n")}, says: []string{"master key", "line 1", "random"}},
		"master key absent":    {args: []string{"--master-key-file", "/nothing/master.key"}, says: []string{"/nothing/master.key"}},
		"symmetric key":        {args: append([]string{"--jwks-file", symmetric}, outside...), says: []string{symmetric, "symmetric"}},
		"no keys":              {args: append([]string{"--jwks-file", harness.TempFile(t, "jwks.json", `{"keys":[]}`)}, outside...), says: []string{"jwks.json"}},
		"config: empty issuer": {args: []string{"--config", harness.TempFile(t, "c.yaml", "issuers: [{issuer: '', audience: a, jwks_url: 'https://h/k', subjects: both}]\n")}, says: []string{"issuer", "empty"}},
		"no policy folder":     {args: []string{"--policy-dir", "/nothing/policies"}, says: []string{"polic"}},
		"port in use":          {args: []string{"--users-listen", listening}, says: []string{listening}},
	} {
		t.Run(name, func(t *testing.T) {
			o := harness.Command(t, c.env, harness.Ephemeral(t.TempDir(), c.args...)...)
			harness.WantOneLine(t, o, c.says...)
			if strings.Contains(o.Stderr, key[:20]) {
				t.Errorf("a key is quoted: %q", o.Stderr)
			}
		})
	}
}

// TestFlagGoesBeforeEnvironmentBeforeFile, and one file serves every command.
func TestFlagGoesBeforeEnvironmentBeforeFile(t *testing.T) {
	t.Parallel()
	config := harness.TempFile(t, "c.yaml", "deny-status: 999\nlog-level: nonsense\nlisten: 127.0.0.1:0\n")
	dir := t.TempDir()
	for name, c := range map[string]badSetting{
		"the file":                    {says: []string{"999"}},
		"environment before the file": {env: []string{"PORTCULLIS_DENY_STATUS=998"}, says: []string{"998"}},
		"flag before environment":     {env: []string{"PORTCULLIS_DENY_STATUS=998"}, args: []string{"--deny-status", "997"}, says: []string{"997"}},
		"flag for one, file for all":  {args: []string{"--deny-status", "403"}, says: []string{"nonsense"}},
	} {
		t.Run(name, func(t *testing.T) {
			harness.WantOneLine(t, harness.Command(t, c.env, harness.Ephemeral(dir, append(c.args, "--config", config)...)...), c.says...)
			env := append(c.env, "PORTCULLIS_CONFIG="+config)
			harness.WantOneLine(t, harness.Command(t, env, harness.Ephemeral(dir, c.args...)...), c.says...)
		})
	}
	g := harness.Shared(t)
	env := []string{"PORTCULLIS_CONFIG=" + config, "PORTCULLIS_DATA_DIR=" + g.DataDir}
	if o := harness.Command(t, env, "token", "--user", "user-x-v1"); o.Code != 0 || o.Stderr != "" {
		t.Errorf("a file with serve's settings stops token: %+v", o)
	}
}
