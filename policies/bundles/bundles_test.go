package bundles_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/compile"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// build is what `opa build -b DIR -r revision` makes of a tree, signed where there is a key.
func build(t *testing.T, tree policytest.Tree, revision string, key *bundle.SigningConfig) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "policies")
	tree.Write(t, dir)
	var out bytes.Buffer
	c := compile.New().WithAsBundle(true).WithPaths(dir).WithRevision(revision).WithOutput(&out)
	if key != nil {
		c = c.WithBundleSigningConfig(key)
	}
	must.Do(t, c.Build(context.Background()))
	return out.Bytes()
}

// entry is a file of an archive.
type entry struct {
	name, text string
	kind       byte
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Typeflag: tar.TypeReg, Size: int64(len(e.text)), Mode: 0o600}
		if e.kind != 0 {
			header.Typeflag, header.Size, header.Linkname = e.kind, 0, e.text
			e.text = ""
		}
		must.Do(t, w.WriteHeader(header))
		must.Get(io.WriteString(w, e.text))(t)
	}
	for _, c := range []io.Closer{w, zipped} {
		must.Do(t, c.Close())
	}
	return out.Bytes()
}

// entries are the files of an archive.
func entries(t *testing.T, raw []byte) (out []entry) {
	t.Helper()
	unzipped := must.Get(gzip.NewReader(bytes.NewReader(raw)))(t)
	r := tar.NewReader(unzipped)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text := must.Get(io.ReadAll(r))(t)
		out = append(out, entry{name: header.Name, text: string(text)})
	}
}

// keys are a new key to sign with and its public half.
func keys(t *testing.T) (*bundle.SigningConfig, *bundles.Key) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	private := must.Get(x509.MarshalECPrivateKey(key))(t)
	public := must.Get(x509.MarshalPKIXPublicKey(&key.PublicKey))(t)
	file := filepath.Join(t.TempDir(), "signing.pem")
	must.Do(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
	read := must.Get(bundles.ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))(t)
	return bundle.NewSigningConfig(file, "ES256", ""), read
}

// TestABundleOfTheEmbeddedTreeIsThatTree: it passes the gate with all of its tests, and has the same files but for the
// form of its data.
func TestABundleOfTheEmbeddedTreeIsThatTree(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	got := must.Get(bundles.Open(build(t, tree, "v42", nil), nil))(t)
	if want := slices.Sorted(maps.Keys(tree)); !slices.Equal(got.Names, want) {
		t.Errorf("files %v, want %v", got.Names, want)
	}
	folder := must.Get(policies.Read(tree))(t)
	_, wanted := must.Two(proof.Prove(context.Background(), folder))(t)
	set, tests, err := proof.Prove(context.Background(), got)
	if err != nil || tests != wanted {
		t.Fatalf("%d tests, want %d: %v", tests, wanted, err)
	}
	if set.BundleRevision() != "v42" || set.Revision() == folder.Revision {
		t.Errorf("bundle %q, tree %q of %q", set.BundleRevision(), set.Revision(), folder.Revision)
	}
}

// TestAnotherManifestRevisionIsAnotherTree, so that a reload brings it into force.
func TestAnotherManifestRevisionIsAnotherTree(t *testing.T) {
	revisions := map[string]bool{}
	for _, name := range []string{"a", "b"} {
		src := must.Get(bundles.Open(build(t, policytest.Small(t), name, nil), nil))(t)
		revisions[src.Revision] = true
	}
	if len(revisions) != 2 {
		t.Error("both have one revision")
	}
}

// TestAppsHaveTheirOwnDocuments: data.apps.documents is apps/documents/data.json.
func TestAppsHaveTheirOwnDocuments(t *testing.T) {
	tree := policytest.Small(t).With("apps/documents/data.json", `{"shared": {"d1": {}}}`).
		With("apps/documents/documents.rego", "package apps.documents\n\ntypes := {\"document\"}\n\ndecision := false\n")
	src, err := bundles.Open(build(t, tree, "", nil), nil)
	if err != nil || string(src.Files["apps/documents/data.json"]) != `{"shared":{"d1":{}}}` || src.Files["apps/documents/documents.rego"] == nil {
		t.Errorf("%v of %v", err, src)
	}
}

// TestSignatures: with a key its own signature and no other; without one no signature at all.
func TestSignatures(t *testing.T) {
	signing, key := keys(t)
	_, other := keys(t)
	tree := policytest.Small(t)
	signed, unsigned := build(t, tree, "", signing), build(t, tree, "", nil)
	changed := func(change func([]entry) []entry) []byte { return archive(t, change(entries(t, signed))...) }
	for name, c := range map[string]struct {
		raw  []byte
		key  *bundles.Key
		want string
	}{
		"signed":                {signed, key, ""},
		"unsigned, no key":      {unsigned, nil, ""},
		"unsigned with a key":   {unsigned, key, "it is not signed"},
		"signed without a key":  {signed, nil, "give --policy-bundle-key"},
		"signed by another key": {signed, other, "another key"},
		"a rule changed":        {changed(func(all []entry) []entry { return replaced(all, "default decision", "default  decision") }), key, "changed after it was signed"},
		"a role changed":        {changed(func(all []entry) []entry { return replaced(all, "account_admin", "account_admiN") }), key, "changed after it was signed"},
		"the manifest changed":  {changed(func(all []entry) []entry { return replaced(all, `"roots"`, `"metadata":{"x":1},"roots"`) }), key, "changed after it was signed"},
		"a file added":          {changed(func(all []entry) []entry { return append(all, entry{name: "/authz/x.rego", text: "package authz"}) }), key, "added after it was signed"},
		"a file taken away":     {changed(func(all []entry) []entry { return omit(all, "authz_test.rego") }), key, "taken away after it was signed"},
		"the signature is empty": {changed(func(all []entry) []entry {
			return append(omit(all, ".signatures.json"), entry{name: "/.signatures.json", text: `{"signatures":[]}`})
		}), key, "it is not signed"},
		"a member given twice": {changed(func(all []entry) []entry { return replaced(all, `{"grants":`, `{"grants":{"a":{}},"grants":`) }), key, "given twice"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, c.raw, c.key, c.want) })
	}
}

func expect(t *testing.T, raw []byte, key *bundles.Key, want string) {
	t.Helper()
	src, err := bundles.Open(raw, key)
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || src != nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%v, want %q", err, want)
	}
}

func replaced(all []entry, old, text string) []entry {
	for i := range all {
		if !strings.HasSuffix(all[i].name, ".signatures.json") {
			all[i].text = strings.ReplaceAll(all[i].text, old, text)
		}
	}
	return all
}

func omit(all []entry, end string) []entry {
	return slices.DeleteFunc(all, func(e entry) bool { return strings.HasSuffix(e.name, end) })
}
