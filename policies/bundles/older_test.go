package bundles_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestAnOlderBundleIsFoundOut guarantees that NotOlder compares versions or numbers first, and times of signing
// otherwise. It rejects a bundle without an age after one with an age.
func TestAnOlderBundleIsFoundOut(t *testing.T) {
	const older, unknown = "older than", "nothing tells"
	src := func(revision string, issued int64) *policies.Source {
		return &policies.Source{Bundle: revision, Issued: issued}
	}
	for _, c := range []struct {
		inForce, next *policies.Source
		want          string
	}{
		{src("1.2.3", 0), src("1.2.3", 0), ""},
		{src("1.2.3", 0), src("1.2.4", 0), ""},
		{src("1.2.3", 0), src("1.2.2", 0), older},
		{src("1.9.0", 0), src("1.10.0", 0), ""},
		{src("1.10.0", 0), src("1.9.0", 0), older},
		{src("v2", 0), src("v10", 0), ""},
		{src("v10", 0), src("v2", 0), older},
		{src("1.0.0", 0), src("1.0.0-rc.1", 0), older},
		{src("1.0.0-rc.1", 0), src("1.0.0", 0), ""},
		{src("1.0.0-rc.10", 0), src("1.0.0-rc.9", 0), older},
		{src("1.0.0-rc.9", 0), src("1.0.0-rc.10", 0), ""},
		{src("1.0.0-1", 0), src("1.0.0-alpha", 0), ""},
		{src("1.0.0-alpha.1", 0), src("1.0.0-alpha", 0), older},
		{src("1.0.0-beta", 0), src("1.0.0-alpha", 0), older},
		{src("1.0.0+a", 0), src("1.0.0+b", 0), ""},
		{src("20261231235959", 0), src("20270101000000", 0), ""},
		{src("99999999999999999999999", 0), src("9999999999999999999999", 0), older},
		{src("007", 0), src("7", 0), ""},
		{src("8", 0), src("007", 0), older},
		{src("2", 100), src("1", 200), older}, // revisions come first
		{src("1", 200), src("2", 100), ""},
		{src("3f2a", 100), src("9c1d", 200), ""},
		{src("9c1d", 200), src("3f2a", 100), "before the one in force"},
		{src("9c1d", 200), src("3f2a", 200), ""},
		{src("1", 100), src("3f2a", 200), ""},
		{src("1", 0), src("3f2a", 200), unknown},
		{src("3f2a", 100), src("1", 0), unknown},
		{src("3f2a", 100), src("9c1d", 0), unknown},
		{src("1", 0), src("", 0), unknown},
		{src("3f2a", 0), src("9c1d", 0), ""}, // of two that say nothing either may be in force
		{src("", 0), src("1", 0), ""},
		{src("1.", 0), src("1.2.3.4", 0), ""},
		{src("1.0.0-", 0), src("1..0", 0), ""},
	} {
		err := bundles.NotOlder(c.next, c.inForce)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q, %d in place of %q, %d: %v, want %q", c.next.Bundle, c.next.Issued, c.inForce.Bundle, c.inForce.Issued, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "--policy-bundle-allow-older") {
			t.Errorf("no remedy: %v", err)
		}
	}
}

// TestTheTimeOfSigningIsThatOfTheSignature, and none of a bundle that is not signed.
func TestTheTimeOfSigningIsThatOfTheSignature(t *testing.T) {
	signing, key := keys(t)
	claims := filepath.Join(t.TempDir(), "claims.json")
	must.Do(t, os.WriteFile(claims, []byte(`{"iat": 1767225600}`), 0o600))
	timed := bundle.NewSigningConfig(signing.Key, signing.Algorithm, claims)
	for name, c := range map[string]struct {
		sign *bundle.SigningConfig
		key  *bundles.Key
		want int64
	}{"a time": {timed, key, 1767225600}, "none": {signing, key, 0}, "not signed": {nil, nil, 0}} {
		src, err := bundles.Open(build(t, policytest.Small(t), "r1", c.sign), c.key)
		if err != nil || src.Issued != c.want || bundles.SaysAge(src) != (c.want > 0) {
			t.Errorf("%s: %v, %v", name, src, err)
		}
	}
}
