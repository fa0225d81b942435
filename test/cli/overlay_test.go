package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// ownPolicy writes a first policy of one's own into a new folder.
func ownPolicy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	wantExit(t, harness.Command(t, nil, "policy", "init", dir), 0, "5 files")
	return dir
}

// lines counts the lines of the files that an author keeps.
func lines(t *testing.T, dir string, names ...string) (n int) {
	t.Helper()
	for _, name := range names {
		text := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		n += strings.Count(string(text), "\n")
	}
	return n
}

// TestPolicyInitWritesAnOverlay guarantees that a new author keeps few files. They pass the gate over this program's tree, and
// nothing is overwritten.
func TestPolicyInitWritesAnOverlay(t *testing.T) {
	t.Parallel()
	dir := ownPolicy(t)
	if n := lines(t, dir, "policy.json", "authz/own_keys.rego", "authz/own_keys_test.rego"); n > 60 {
		t.Errorf("an author keeps %d lines for one rule", n)
	}
	checked := harness.Command(t, nil, "policy", "check", dir)
	embedded := harness.Command(t, nil, "policy", "check")
	_, base, _ := strings.Cut(embedded.Stdout, "ok: policy ")
	base, _, _ = strings.Cut(base, ";")
	wantExit(t, checked, 0, "ok: policy ", " of its own over base "+base+"\n", "\nnext: ")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "init", dir), "not empty")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "init"), "takes the folder to make; it was given 0")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "init", filepath.Join(dir, "policy.json")), "new folder")
}

// TestOverlayIsTestedAndCompared guarantees that the author's test fails with the rule. A weakened base is refused by the
// author's own file, and `policy diff` prints the overlay's changes.
func TestOverlayIsTestedAndCompared(t *testing.T) {
	t.Parallel()
	dir := ownPolicy(t)
	rule := filepath.Join(dir, "authz", "own_keys.rego")
	text := must.Get(os.ReadFile(rule))(t)
	harness.WriteFile(t, rule, strings.Replace(string(text), `"token"`, `"tokn"`, 1))
	o := harness.Command(t, nil, "policy", "test", dir)
	if o.Code != 2 || !strings.Contains(o.Stdout, "authz/own_keys_test.rego:10:") {
		t.Errorf("%+v", o)
	}
	harness.WriteFile(t, rule, string(text))
	wantExit(t, harness.Command(t, nil, "policy", "test", dir), 0, "PASS: ")
	wantExit(t, harness.Command(t, nil, "policy", "test", "--coverage", "--threshold", "100", dir), 0, "COVERAGE: 100.0 %") // of the author's rules
	diff := harness.Command(t, nil, "policy", "diff", "--fail-on", "new-access", "embedded", dir)
	wantExit(t, diff, 0, "Lost access", "account:project:delete")
	if strings.Contains(diff.Stdout, "New access") || strings.Contains(diff.Stdout, "Not exhaustive") {
		t.Errorf("%s", diff.Stdout)
	}
	harness.WriteFile(t, filepath.Join(dir, "authz", "own_more.rego"), "package authz\n\nmet contains \"needs_active_member\" if true\n")
	for _, command := range [][]string{{"policy", "check", dir}, {"policy", "export", dir, filepath.Join(t.TempDir(), "out")}} {
		if o := harness.Command(t, nil, command...); o.Code != 2 || !strings.HasPrefix(o.Stderr, "authz/own_more.rego:3: met: an overlay says with") {
			t.Errorf("%q: %+v", command, o)
		}
	}
}

// TestPolicyReplace guarantees that a part of the base is copied, noted with its revision, and in force once it is edited.
func TestPolicyReplace(t *testing.T) {
	t.Parallel()
	dir := ownPolicy(t)
	wantExit(t, harness.Command(t, nil, "policy", "replace", "grants/team_member", dir), 0, "replaces grants/team_member", filepath.Join(dir, "grants", "data.json"))
	wantExit(t, harness.Command(t, nil, "policy", "check", dir), 0, "ok: ")
	manifest, err := os.ReadFile(filepath.Join(dir, "policy.json"))
	if err != nil || !strings.Contains(string(manifest), `"grants/team_member": "`) {
		t.Fatalf("%s %v", manifest, err)
	}
	harness.WriteFile(t, filepath.Join(dir, "policy.json"), strings.Replace(string(manifest), `"grants/team_member": "`, `"grants/team_member": "0`, 1))
	wantExit(t, harness.Command(t, nil, "policy", "check", dir), 0, "warning: grants/team_member was replaced at revision 0")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "replace", "grants/nobody", dir), "the base has no part grants/nobody")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "replace", "grants/team_member", t.TempDir()), "not an overlay")
}

// TestExportIsAPlainTree guarantees that OPA's own commands run on an exported tree. They find as many tests, and all pass.
func TestExportIsAPlainTree(t *testing.T) {
	t.Parallel()
	opa := must.Get(filepath.Abs("../../.tools/bin/opa"))(t)
	if _, err := os.Stat(opa); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no opa: make tool-opa")
		}
		t.Skip("there is no opa: make tool-opa")
	}
	dir, out := ownPolicy(t), filepath.Join(t.TempDir(), "out")
	wantExit(t, harness.Command(t, nil, "policy", "export", dir, out), 0, "files in "+out)
	want := harness.Command(t, nil, "policy", "test", dir)
	for _, args := range [][]string{{"test", out}, {"check", "--strict", "--schema", filepath.Join(out, "schemas"), out}} {
		got, err := exec.Command(opa, args...).CombinedOutput()
		if err != nil || args[0] == "test" && string(got) != want.Stdout {
			t.Errorf("opa %q: %s %v, want %s", args, got, err, want.Stdout)
		}
	}
	wantExit(t, harness.Command(t, nil, "policy", "base", filepath.Join(t.TempDir(), "base")), 0, "files in ")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "base", out), "not empty")
}

// TestPolicyBuild guarantees that a bundle of an overlay decides as the overlay does.
func TestPolicyBuild(t *testing.T) {
	t.Parallel()
	dir, file := ownPolicy(t), filepath.Join(t.TempDir(), "policies.tar.gz")
	wantExit(t, harness.Command(t, nil, "policy", "build", dir, "-o", file, "-r", "v7"), 0, "bundle revision v7")
	wantExit(t, harness.Command(t, nil, "policy", "check", file), 0, " of its own over base ", "\nbundle revision: v7\n")
	harness.WriteFile(t, filepath.Join(dir, "key.txt"), "no key")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "build", dir, "-o", file, "--signing-key", filepath.Join(dir, "key.txt")), "--signing-key: must be a private key in PEM")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "build"), "the policy folder")
	harness.WriteFile(t, filepath.Join(dir, "authz", "own_x.rego"), "package authz\n\nown_x := nothing\n")
	if o := harness.Command(t, nil, "policy", "build", dir, "-o", file); o.Code == 0 || !strings.Contains(o.Stderr, "authz/own_x.rego:3: ") {
		t.Errorf("%d %s", o.Code, o.Stderr)
	}
}

// TestPolicyBuildReplacesAWholeFile guarantees that a gateway reads the old bundle or the new one. No device, link or folder
// is replaced. The next command names the key of a signed bundle.
func TestPolicyBuildReplacesAWholeFile(t *testing.T) {
	t.Parallel()
	dir, file := ownPolicy(t), filepath.Join(t.TempDir(), "policies.tar.gz")
	harness.WriteFile(t, file, "what was there before")
	reader := must.Get(os.Open(file))(t)
	defer func() { _ = reader.Close() }()
	wantExit(t, harness.Command(t, nil, "policy", "build", dir, "-o", file), 0, "`portcullis policy check "+file+"`")
	if seen, err := io.ReadAll(reader); err != nil || string(seen) != "what was there before" {
		t.Errorf("a reader of the old bundle sees %d bytes, %v", len(seen), err)
	}
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(file, link))
	for _, name := range []string{os.DevNull, link, dir} {
		harness.WantOneLine(t, harness.Command(t, nil, "policy", "build", dir, "-o", name), "--output: "+name, "regular file")
	}
	pair := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	private := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: must.Get(x509.MarshalECPrivateKey(pair))(t)})
	key := filepath.Join(t.TempDir(), "signing.pem")
	harness.WriteFile(t, key, string(private))
	signed := harness.Command(t, nil, "policy", "build", dir, "-o", file, "--signing-key", key)
	wantExit(t, signed, 0, "`portcullis policy check --policy-bundle-key PUBLIC-KEY "+file+"`")
}

const ownGuard = `package guards

deny contains "nobody new may delete" if {
	some row in input.new_access
	row.action == "project:kubernetes_cluster:delete"
}
`

// TestANewBaseIsJudged guarantees that a start with a new base asks the last guards. It ends with their reasons if they refuse,
// and takes the base with --accept-base.
func TestANewBaseIsJudged(t *testing.T) {
	dir, data := ownPolicy(t), t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "guards"), 0o750))
	harness.WriteFile(t, filepath.Join(dir, "guards", "guards.rego"), ownGuard)
	g := harness.Launch(t, data, "--policy-dir", dir)
	status := partsOf(t, g.HealthURL)
	g.Kill(t)
	tree := must.Get(overlay.Unpack(lastTree(t, data, nil)))(t)
	base := tree.Base
	if status.Base != base || status.Own == "" || status.Revision != tree.Revision {
		t.Errorf("/status has %+v of %s over %s", status, tree.Revision, base)
	}
	// The program before had a base in which project admins only read.
	tree.Base = "000000000000"
	grants := string(tree.Files["base:grants/data.json"])
	start := strings.Index(grants, `"project_admin"`)
	tree.Files["base:grants/data.json"] = []byte(grants[:start] + strings.Replace(grants[start:], "project:*:*", "project:*:read", 1))
	raw := must.Get(overlay.Pack(tree))(t)
	lastTree(t, data, raw)
	o := harness.Command(t, nil, harness.Ephemeral(data, "--policy-dir", dir)...)
	if o.Code != 2 || !strings.Contains(o.Stderr, "nobody new may delete") || !strings.Contains(o.Stderr, "--accept-base "+base) {
		t.Fatalf("%+v", o)
	}
	harness.Launch(t, data, "--policy-dir", dir, "--accept-base", base).Kill(t)
	harness.Launch(t, data, "--policy-dir", dir).Kill(t)
	lastTree(t, data, []byte("x"))
	if o := harness.Command(t, nil, harness.Ephemeral(data, "--policy-dir", dir)...); o.Code != 2 || !strings.Contains(o.Stderr, "--accept-base "+base) {
		t.Errorf("a tree that can't be read: %+v", o)
	}
}

// lastTree returns the tree in the store of a data folder, and puts another one in its place if it is given one.
func lastTree(t *testing.T, data string, next []byte) []byte {
	t.Helper()
	c := records.NewCollections()
	s := must.Get(sqlite.Open(t.Context(), sqlite.Options{Dir: data, Schemas: c.Schemas()}))(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if next != nil {
		must.Do(t, c.SavePolicyTree(t.Context(), s, next))
	}
	return must.Get(c.LastPolicyTree(t.Context(), s))(t)
}

// partsOf returns what /status has of the policy.
func partsOf(t *testing.T, url string) private.PolicyStatus {
	t.Helper()
	resp := must.Get(http.Get(url + "/status"))(t)
	defer func() { _ = resp.Body.Close() }()
	var status private.Status
	must.Do(t, json.NewDecoder(resp.Body).Decode(&status))
	return status.Policy
}
