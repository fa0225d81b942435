package bundles_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestWhatIsNoBundleIsRefused, each with what to do.
func TestWhatIsNoBundleIsRefused(t *testing.T) {
	good := entries(t, build(t, policytest.Small(t), "", nil))
	added := func(more ...entry) []byte { return archive(t, append(append([]entry{}, good...), more...)...) }
	manifest := func(text string) []byte {
		return archive(t, append(omit(append([]entry{}, good...), ".manifest"), entry{name: "/.manifest", text: text})...)
	}
	whole := archive(t, good...)
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"as it is":                     {whole, ""},
		"nothing":                      {nil, "is not a bundle"},
		"a text":                       {[]byte("package authz"), "is not a bundle"},
		"an empty archive":             {archive(t), "no files"},
		"half of it":                   {whole[:len(whole)/2], "is not a bundle"},
		"its end cut":                  {whole[:len(whole)-6], "is not whole"},
		"a path out of it":             {added(entry{name: "../../etc/x.rego", text: "package authz"}), "place within the bundle"},
		"a path out below a folder":    {added(entry{name: "/authz/../../x.rego", text: "package authz"}), "place within the bundle"},
		"a link":                       {added(entry{name: "authz/x.rego", text: "/etc/passwd", kind: tar.TypeSymlink}), "link or a device"},
		"a hard link":                  {added(entry{name: "authz/x.rego", text: "data.json", kind: tar.TypeLink}), "link or a device"},
		"a device":                     {added(entry{name: "authz/x.rego", kind: tar.TypeChar}), "link or a device"},
		"a file twice":                 {added(entry{name: "data.json", text: "{}"}), "comes twice"},
		"a delta":                      {archive(t, entry{name: "/patch.json", text: `{"data": [{"op": "upsert", "path": "/grants", "value": {}}]}`}), "delta bundle"},
		"a patch beside a tree":        {added(entry{name: "/patch.json", text: `{"data": []}`}), "delta bundle"},
		"a patch in a folder":          {added(entry{name: "/authz/patch.json", text: `{}`}), "delta bundle"},
		"compiled rules":               {added(entry{name: "/policy.wasm", text: "x"}), "compiled rules"},
		"a plan":                       {added(entry{name: "/plan.json", text: "{}"}), "compiled rules"},
		"roots without the routes":     {manifest(`{"revision": "", "roots": ["authz", "authz_test", "grants"]}`), "leave out routes"},
		"roots that leave the rules":   {manifest(`{"revision": "", "roots": ["grants", "routes"]}`), "do not cover"},
		"roots below the roles":        {manifest(`{"revision": "", "roots": ["authz", "authz_test", "grants/account_admin", "routes"]}`), "leave out grants"},
		"two roots in one":             {manifest(`{"revision": "", "roots": ["authz", "authz/x"]}`), "can't be read"},
		"a revision of two lines":      {manifest(`{"revision": "a\r\nX-Evil: 1", "roots": [""]}`), "printable"},
		"a long revision":              {manifest(`{"revision": "` + strings.Repeat("a", 129) + `", "roots": [""]}`), "128"},
		"two manifests":                {added(entry{name: "/authz/.manifest", text: `{"revision": "b"}`}), "can't be read"},
		"a hidden module":              {added(entry{name: "/policies/_drafts/x.rego", text: "package authz"}), "--ignore"},
		"a module of no Rego":          {added(entry{name: "/policies/authz/x.rego", text: "package"}), "can't be read"},
		"data in two places":           {added(entry{name: "/grants/data.json", text: "{}"}), "there already"},
		"YAML":                         {added(entry{name: "/limits/data.yaml", text: "a: 1"}), "opa build -b makes JSON of it"},
		"data of a name with a slash":  {replacedData(t, good, `{"a/b": {}}`), "name of a folder"},
		"data of a name with a dot":    {replacedData(t, good, `{"..": {}}`), "part of a tree"},
		"data with something after it": {replacedData(t, good, `{} {}`), "there is more"},
		"data that is a list":          {replacedData(t, good, `[]`), "isn't a JSON object"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, c.raw, nil, c.want) })
	}
}

func replacedData(t *testing.T, good []entry, data string) []byte {
	t.Helper()
	return archive(t, append(omit(append([]entry{}, good...), "/data.json"), entry{name: "/data.json", text: data})...)
}

// TestALargeBundleIsRefused before it is in memory: it is small where it is sent, and inflates.
func TestALargeBundleIsRefused(t *testing.T) {
	zeros := make([]byte, bundles.MaxSize)
	var large []entry
	for _, name := range []string{"a", "b", "c"} {
		large = append(large, entry{name: name + "/data.json", text: string(zeros[:30<<20])})
	}
	half := "package x\n#" + strings.Repeat(" ", policies.MaxRules/2)
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"rules together": {archive(t, entry{name: "a.rego", text: half}, entry{name: "b.rego", text: half}), "more than 4 MiB of rules"},
		"one file":       {archive(t, entry{name: "data.json", text: string(zeros[:33<<20])}), "larger than 32 MiB"},
		"files together": {archive(t, large...), "larger than 64 MiB"},
		"as it is sent":  {make([]byte, bundles.MaxSize+1), "larger than 64 MiB"},
		"after its end":  {inflates(t), "larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, c.raw, nil, c.want) })
	}
}

// inflates is an archive with nothing but zeros after it.
func inflates(t *testing.T) []byte {
	t.Helper()
	var more bytes.Buffer
	zipped := gzip.NewWriter(&more)
	must.Get(zipped.Write(make([]byte, bundles.MaxSize)))(t)
	must.Do(t, zipped.Close())
	return append(archive(t, entry{name: "data.json", text: "{}"}), more.Bytes()...)
}

// TestOnlyPublicKeysCheck: a private one or a shared secret could sign.
func TestOnlyPublicKeysCheck(t *testing.T) {
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	public := must.Get(x509.MarshalPKIXPublicKey(&key.PublicKey))(t)
	if _, err := bundles.ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})); err != nil {
		t.Error(err)
	}
	for name, text := range map[string][]byte{
		"private": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"secret":  []byte("a shared word"),
		"nothing": nil,
		"broken":  pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public[1:]}),
	} {
		if _, err := bundles.ReadKey(text); err == nil || !strings.Contains(err.Error(), "public key") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadTree guarantees that an author may name a folder, a bundle or the tree of the binary. With a key, only a
// bundle signed by it is read.
func TestReadTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	policytest.Small(t).Write(t, dir)
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	must.Do(t, os.WriteFile(file, build(t, policytest.Small(t), "r1", nil), 0o600))
	embedded := must.Get(policies.Read(policies.Tree()))(t)
	for where, want := range map[string]string{dir: "", file: "r1", bundles.Embedded: ""} {
		src, err := bundles.ReadTree(where, nil)
		if err != nil || src.Bundle != want || where == bundles.Embedded && src.Revision != embedded.Revision {
			t.Errorf("%s: %v, %v", where, src, err)
		}
	}
	_, key := keys(t)
	for where, want := range map[string]string{dir: "is for a bundle, and " + dir, file: "not signed", bundles.Embedded: "is for a bundle, and embedded"} {
		if _, err := bundles.ReadTree(where, key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with a key: %v", where, err)
		}
	}
	if _, err := bundles.ReadTree(dir+"x", nil); err == nil {
		t.Error("a place where nothing is was read")
	}
}
