package attacks_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// attacksWorld is a program under attack with two accounts that have one of everything.
type attacksWorld struct {
	*program
	t      testing.TB
	issuer *issuer
	marks  *marks

	tenant, foreign *tenant
	// Tokens of services with one scope each.
	platform, checker, sync, provisioner string
	// claim is one of the provisioner, on a cluster of one of the accounts.
	claim string
}

// newWorld starts the program and fills it.
func newWorld(t testing.TB, binary string, args ...string) *attacksWorld {
	t.Helper()
	w := &attacksWorld{t: t, issuer: newIssuer(t), marks: &marks{}}
	dir := t.TempDir()
	key := base64.StdEncoding.EncodeToString([]byte(word(32)))
	w.marks.add("the master key", key)
	masterKey := file(t, dir, "master.key", key+"\n")
	keys := file(t, dir, "jwks.json", `{"keys":[`+w.issuer.jwk()+`]}`)
	w.program = start(t, binary, append([]string{
		"--data-dir", filepath.Join(dir, "data"), "--master-key-file", masterKey,
		"--jwks-file", keys, "--jwt-issuer", issuerName, "--jwt-audience", audienceName,
	}, args...)...)
	w.platform, w.checker, w.sync = w.service("platform:admin"), w.service("authz:check"), w.service("users:sync")
	w.provisioner = w.service("clusters:provision")
	w.tenant, w.foreign = newTenant(w, "ours"), newTenant(w, "theirs")
	claims, _ := w.must(t, 200, "POST", "/api/v1/provisioner/claims", w.provisioner, `{"lease_seconds":600}`)["claims"].([]any)
	w.claim = w.wanted(claims[0], "claim_id")
	return w
}

func file(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// user and service are marked tokens.
func (w *attacksWorld) user(subject string) string {
	token := w.issuer.token(subject, "")
	w.marks.token("a user's token", token)
	return token
}

func (w *attacksWorld) service(scope string) string {
	token := w.issuer.token("service-attacks", scope)
	w.marks.token("a service's token", token)
	return token
}

// changing is what differs between two readings of the same state: when a key was used last.
var changing = regexp.MustCompile(`,?"last_used_at":"[^"]*"`)

// state is all that can be read of both accounts, a line for each list.
func (w *attacksWorld) state() string {
	var b strings.Builder
	for _, t := range []*tenant{w.tenant, w.foreign} {
		for _, target := range t.everything() {
			line := w.read(target, t)
			fmt.Fprintf(&b, "%s %s\n", target, changing.ReplaceAllString(line, ""))
		}
	}
	return b.String()
}

// read is one answer to the account's admin, or to the service that may read it.
func (w *attacksWorld) read(target string, t *tenant) string {
	token := t.adminToken
	if strings.HasPrefix(target, "/api/v1/users?") {
		token = w.sync
	}
	a, err := w.decided(request("GET", target, "", bearer(token), "X-Account-ID: "+t.account))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(a.Status, " ", strings.TrimSpace(a.Body))
}
