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
)

// TestAnOlderBundleIsFoundOut guarantees that the revisions tell where both are versions or numbers, else the times of signing, and
// that a bundle which can't be compared does not take the place of one that says its age.
func TestAnOlderBundleIsFoundOut(t *testing.T) {
	const older, unknown = "older than", "nothing tells"
	of := func(revision string, issued int64) *policies.Source {
		return &policies.Source{Bundle: revision, Issued: issued}
	}
	for _, c := range []struct {
		inForce, next *policies.Source
		want          string
	}{
		{of("1.2.3", 0), of("1.2.3", 0), ""},
		{of("1.2.3", 0), of("1.2.4", 0), ""},
		{of("1.2.3", 0), of("1.2.2", 0), older},
		{of("1.9.0", 0), of("1.10.0", 0), ""},
		{of("1.10.0", 0), of("1.9.0", 0), older},
		{of("v2", 0), of("v10", 0), ""},
		{of("v10", 0), of("v2", 0), older},
		{of("1.0.0", 0), of("1.0.0-rc.1", 0), older},
		{of("1.0.0-rc.1", 0), of("1.0.0", 0), ""},
		{of("1.0.0-rc.10", 0), of("1.0.0-rc.9", 0), older},
		{of("1.0.0-rc.9", 0), of("1.0.0-rc.10", 0), ""},
		{of("1.0.0-1", 0), of("1.0.0-alpha", 0), ""},
		{of("1.0.0-alpha.1", 0), of("1.0.0-alpha", 0), older},
		{of("1.0.0-beta", 0), of("1.0.0-alpha", 0), older},
		{of("1.0.0+a", 0), of("1.0.0+b", 0), ""},
		{of("20261231235959", 0), of("20270101000000", 0), ""},
		{of("99999999999999999999999", 0), of("9999999999999999999999", 0), older},
		{of("007", 0), of("7", 0), ""},
		{of("8", 0), of("007", 0), older},
		{of("2", 100), of("1", 200), older}, // revisions come first
		{of("1", 200), of("2", 100), ""},
		{of("3f2a", 100), of("9c1d", 200), ""},
		{of("9c1d", 200), of("3f2a", 100), "before the one in force"},
		{of("9c1d", 200), of("3f2a", 200), ""},
		{of("1", 100), of("3f2a", 200), ""},
		{of("1", 0), of("3f2a", 200), unknown},
		{of("3f2a", 100), of("1", 0), unknown},
		{of("3f2a", 100), of("9c1d", 0), unknown},
		{of("1", 0), of("", 0), unknown},
		{of("3f2a", 0), of("9c1d", 0), ""}, // of two that say nothing either may be in force
		{of("", 0), of("1", 0), ""},
		{of("1.", 0), of("1.2.3.4", 0), ""},
		{of("1.0.0-", 0), of("1..0", 0), ""},
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
	if err := os.WriteFile(claims, []byte(`{"iat": 1767225600}`), 0o600); err != nil {
		t.Fatal(err)
	}
	timed := bundle.NewSigningConfig(signing.Key, signing.Algorithm, claims)
	for name, c := range map[string]struct {
		with *bundle.SigningConfig
		key  *bundles.Key
		want int64
	}{"a time": {timed, key, 1767225600}, "none": {signing, key, 0}, "not signed": {nil, nil, 0}} {
		src, err := bundles.Open(build(t, policytest.Small(t), "r1", c.with), c.key)
		if err != nil || src.Issued != c.want || bundles.SaysAge(src) != (c.want > 0) {
			t.Errorf("%s: %v, %v", name, src, err)
		}
	}
}
