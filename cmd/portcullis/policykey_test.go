package main

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// signedBundle writes a tree, and a bundle of it with the public key of its signature.
func signedBundle(t *testing.T) (dir, file, key string) {
	t.Helper()
	dir, file, key = filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "b.tar.gz"), filepath.Join(t.TempDir(), "key.pub")
	rows := policytest.Copy(t, policies.Tree())[routesFile] // policy check wants all of them
	policytest.Small(t).With(routesFile, string(rows.Data)).Write(t, dir)
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&pair.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.NewCustomReader(bundle.NewDirectoryLoader(dir)).WithSkipBundleVerification(true).Read()
	if err != nil {
		t.Fatal(err)
	}
	signing := string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
	if err := b.GenerateSignature(bundle.NewSigningConfig(signing, "ES256", ""), "", false); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).Write(b); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{file: out.Bytes(), key: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, file, key
}

// TestToolsForAuthorsTakeSignedBundles guarantees that each reads one with its key, and refuses it without. A key for
// anything but a bundle is refused.
func TestToolsForAuthorsTakeSignedBundles(t *testing.T) {
	dir, file, key := signedBundle(t)
	decisions, facts := t.TempDir(), filepath.Join(t.TempDir(), "facts.json")
	if err := os.WriteFile(facts, []byte(`{"action": {"id": "project:instance:read"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"DIR": dir, "BUNDLE": file, "KEY": key, "DECISIONS": decisions, "FACTS": facts}
	var out bytes.Buffer
	run := func(line string) error {
		args := strings.Fields(line)
		for i, arg := range args {
			args[i] = cmp.Or(paths[arg], arg)
		}
		root := newRoot()
		out.Reset()
		root.SetOut(&out)
		root.SetErr(&bytes.Buffer{})
		root.SetArgs(args)
		return root.ExecuteContext(t.Context())
	}
	for line, says := range map[string]string{
		"policy check BUNDLE":                        "",
		"policy check DIR":                           "is for a bundle, and ",
		"policy check DIR --against DIR":             "is for a bundle, and ",
		"policy check DIR --against BUNDLE":          "",
		"policy check BUNDLE --against DIR":          "",
		"policy check BUNDLE --against BUNDLE":       "",
		"policy diff DIR BUNDLE":                     "",
		"policy diff BUNDLE DIR":                     "",
		"policy diff DIR DIR":                        "is for a bundle, and neither",
		"policy replay --decisions DECISIONS BUNDLE": "no decision could be judged",
		"why --facts FACTS --policy-bundle BUNDLE":   errDenied.Error(),
	} {
		if err := run(line + " --policy-bundle-key KEY"); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s with the key: %v", line, err)
		}
		if err := run(line); strings.Contains(line, "BUNDLE") && (err == nil || !strings.Contains(err.Error(), "there is no key")) {
			t.Errorf("%s without the key: %v", line, err)
		}
	}
	if err := run("policy check BUNDLE --policy-bundle-key KEY"); err != nil || !strings.Contains(out.String(), "--policy-bundle "+file+" --policy-bundle-key "+key+"`") {
		t.Errorf("the next command lacks the key: %s, %v", out.String(), err)
	}
}

// TestServeTakesOlderBundlesWhereItIsToldSo, and no others.
func TestServeTakesOlderBundlesWhereItIsToldSo(t *testing.T) {
	_, file, key := signedBundle(t)
	settings, _ := serveSettings()
	settings.Policy.Bundle, settings.Policy.BundleKey, settings.Store.DataDir = file, key, t.TempDir()
	for _, older := range []bool{false, true} {
		settings.Policy.BundleAllowOlder = older
		_, feed, err := openPolicy(t.Context(), settings, engine.Options{}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if feed.Key == nil || feed.AllowOlder != older {
			t.Errorf("allowed is %t, where it should be %t", feed.AllowOlder, older)
		}
	}
}
