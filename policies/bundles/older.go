package bundles

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/portcullis-authz/portcullis/policies"
)

// NotOlder rejects a signed bundle older than the one in force. A signature says who made a bundle, not when: anybody
// able to replace a bundle could bring back an older tree with wider rights. NotOlder compares the revisions if both
// are versions or numbers, and otherwise the times of signing if both have one. It also rejects a bundle it can't
// compare with one of known age.
func NotOlder(next, inForce *policies.Source) error {
	const remedy = "build it anew with a higher revision (opa build -r), or give --policy-bundle-allow-older"
	candidate, isVersion := parseVersion(next.Bundle)
	old, wasVersion := parseVersion(inForce.Bundle)
	switch {
	case isVersion && wasVersion:
		if candidate.compare(old) < 0 {
			return fmt.Errorf("policy bundle: its revision %s is older than %s, which is in force: %s", next.Bundle, inForce.Bundle, remedy)
		}
	case next.Issued > 0 && inForce.Issued > 0:
		if next.Issued < inForce.Issued {
			return fmt.Errorf("policy bundle: it was signed at %s, before the one in force, which was at %s: %s", timestamp(next.Issued), timestamp(inForce.Issued), remedy)
		}
	case wasVersion || inForce.Issued > 0:
		return fmt.Errorf("policy bundle: nothing tells that it is not older than the one in force (revision %q): "+
			"build it with a revision that is a version or a number (opa build -r), or give --policy-bundle-allow-older", inForce.Bundle)
	}
	return nil
}

// SaysAge says whether NotOlder can compare a bundle with others.
func SaysAge(src *policies.Source) bool {
	_, isVersion := parseVersion(src.Bundle)
	return isVersion || src.Issued > 0
}

func timestamp(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

// issued returns the time of signing in Unix seconds; 0 if the signature has none. The signature was verified before.
func issued(config bundle.SignaturesConfig) (int64, error) {
	if len(config.Signatures) == 0 {
		return 0, nil
	}
	var claims bundle.DecodedSignature
	parts := strings.Split(config.Signatures[0], ".")
	if len(parts) != 3 {
		return 0, errors.New("its signature is no JWT")
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(raw, &claims)
	}
	return claims.IssuedAt, err
}

// version is a version (https://semver.org) or a number, without build metadata.
type version struct {
	numbers [3]string // without zeros before them
	before  []string  // the identifiers of a pre-release
}

var versions = regexp.MustCompile(`^v?(\d+)(?:\.(\d+)(?:\.(\d+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]*)?)?)?$`)

func parseVersion(text string) (v version, is bool) {
	parts := versions.FindStringSubmatch(text)
	if parts == nil {
		return v, false
	}
	for i := range v.numbers {
		v.numbers[i] = strings.TrimLeft(parts[i+1], "0")
	}
	if parts[4] != "" {
		v.before = strings.Split(parts[4], ".")
	}
	return v, true
}

func (v version) compare(w version) int {
	for i := range v.numbers {
		if c := compareNumbers(v.numbers[i], w.numbers[i]); c != 0 {
			return c
		}
	}
	if len(v.before) == 0 || len(w.before) == 0 { // a release comes after its pre-releases
		return cmp.Compare(len(w.before), len(v.before))
	}
	for i := range min(len(v.before), len(w.before)) {
		if c := compareIdentifiers(v.before[i], w.before[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.before), len(w.before))
}

// compareNumbers compares digits without zeros before them.
func compareNumbers(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// compareIdentifiers has numbers before texts.
func compareIdentifiers(a, b string) int {
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	switch {
	case digits(a) && digits(b):
		return compareNumbers(strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0"))
	case digits(a):
		return -1
	case digits(b):
		return 1
	}
	return cmp.Compare(a, b)
}
