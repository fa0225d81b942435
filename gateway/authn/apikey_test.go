package authn_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// keyDirectory is a fake: keys by id, and the ids that were looked up.
type keyDirectory struct {
	directory
	identities map[string]resources.KeyIdentity
	err        error
	asked      []string
}

func (d *keyDirectory) IdentifyKey(_ context.Context, id string) (resources.KeyIdentity, bool, error) {
	d.asked = append(d.asked, id)
	identity, ok := d.identities[id]
	return identity, ok, d.err
}

// keyed is an Authenticator with API keys.
type keyed struct {
	*authn.Authenticator
	t     testing.TB
	dir   *keyDirectory
	clock *clock
	keys  resources.APIKeys
	used  []string
}

func newKeyed(t testing.TB) *keyed {
	t.Helper()
	secret := make([]byte, 32)
	must.Get(rand.Read(secret))(t)
	master := must.Get(resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(secret))))(t)
	k := &keyed{t: t, dir: &keyDirectory{directory: users, identities: map[string]resources.KeyIdentity{}}, clock: newClock(), keys: resources.NewAPIKeys(master)}
	k.Authenticator = must.Get(authn.New(authn.Options{
		Issuers: []authn.Issuer{issuer(keySet(t, standardKeys()...))}, Directory: k.dir, Now: k.clock.Now,
		APIKeys: k.keys,
		Used:    func(id string, moment resources.Time) { k.used = append(k.used, fmt.Sprint(id, " ", moment)) },
	}))(t)
	return k
}

// key makes a key of the user, and applies the changes to its entry in the directory.
func (k *keyed) key(user string, changes ...func(*resources.KeyIdentity)) (raw, id string) {
	raw, id = k.unknown()
	identity := resources.KeyIdentity{
		Owner: resources.Identity{ID: user, UUID: "uuid-of-" + user, AccountID: "acct-1-v1", Status: resources.StatusActive},
		Key:   resources.KeyFact{ID: id, Hash: k.keys.Hash(raw), Scopes: []string{resources.KeyScopeRead}},
	}
	for _, change := range changes {
		change(&identity)
	}
	k.dir.identities[id] = identity
	return raw, id
}

// unknown makes a key that is not in the directory.
func (k *keyed) unknown() (raw, id string) {
	return k.keys.New(resources.IDs{Now: k.clock.Now, Random: rand.Reader})
}

// forbidSecret fails the test if an error has the key's secret.
func forbidSecret(t testing.TB, err error, raw string) {
	t.Helper()
	if len(raw) > 40 && strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), raw[38:]) {
		t.Errorf("the error holds the key: %v", err)
	}
}

func TestAPIKeyIsItsOwner(t *testing.T) {
	k := newKeyed(t)
	raw, id := k.key("user-alice-v1", func(i *resources.KeyIdentity) { i.Key.ExpiresAt = resources.At(start) + 1 })
	got := must.Get(k.VerifyKey(t.Context(), raw))(t)
	want := resources.Principal{
		Kind: resources.PrincipalUser, ID: "user-alice-v1", UUID: "uuid-of-user-alice-v1", AccountID: "acct-1-v1",
		Credential: resources.CredentialKey, KeyScopes: []string{resources.KeyScopeRead}, KeyID: id,
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v", got)
	}
	if wanted := []string{fmt.Sprint(id, " ", resources.At(start))}; !slices.Equal(k.used, wanted) {
		t.Errorf("used %q", k.used)
	}
	got.KeyScopes[0] = resources.KeyScopeWrite
	if k.dir.identities[id].Key.Scopes[0] != resources.KeyScopeRead {
		t.Error("the principal's scopes are the cache's own")
	}
	k.clock.Advance(time.Millisecond)
	if _, err := k.VerifyKey(t.Context(), raw); !resources.IsKind(err, resources.KindBadCredential) {
		t.Errorf("at its end: %v", err)
	}
}

// TestRefusedAPIKeysLookTheSame guarantees one answer for every refused key in every area, byte for
// byte. A refused token has the same answer.
func TestRefusedAPIKeysLookTheSame(t *testing.T) {
	k := newKeyed(t)
	good, _ := k.key("user-alice-v1")
	unknown, _ := k.unknown() // revoked is the same to the directory
	changed := func(f func(*resources.KeyIdentity)) string { raw, _ := k.key("user-alice-v1", f); return raw }
	other := changed(func(i *resources.KeyIdentity) { i.Key.Hash = k.keys.Hash(good) })
	end := len(good) - 1
	mistyped := good[:end] + map[bool]string{true: "0", false: "1"}[good[end] != '0']
	_, tokenErr := k.Verify(t.Context(), "no-token")
	k.dir.asked = nil
	for _, c := range []struct {
		name, raw string
		looked    bool
	}{
		{"unknown or revoked", unknown, true},
		{"wrong secret", other, true},
		{"no hash", changed(func(i *resources.KeyIdentity) { i.Key.Hash = nil }), true},
		{"a hash of zeros", changed(func(i *resources.KeyIdentity) { i.Key.Hash = make([]byte, 32) }), true},
		{"expired", changed(func(i *resources.KeyIdentity) { i.Key.ExpiresAt = resources.At(start) }), true},
		{"owner suspended", changed(func(i *resources.KeyIdentity) { i.Owner.Status = resources.StatusSuspended }), true},
		{"owner invited", changed(func(i *resources.KeyIdentity) { i.Owner.Status = resources.StatusInvited }), true},
		{"owner's status blank", changed(func(i *resources.KeyIdentity) { i.Owner.Status = "" }), true},
		{"owner blank", changed(func(i *resources.KeyIdentity) { i.Owner.ID = "" }), true},
		{"owner a service", changed(func(i *resources.KeyIdentity) { i.Owner.ID = "service-x" }), true},
		{"no account", changed(func(i *resources.KeyIdentity) { i.Owner.AccountID = "" }), true},
		{"facts of another key", changed(func(i *resources.KeyIdentity) { i.Key.ID = "apikey-x-v1" }), true},
		{"mistyped", mistyped, false},
		{"cut", good[:end], false},
		{"longer", good + "0", false},
		{"upper case", strings.ToUpper(good), false},
		{"prefix alone", "pcl_sk_live_", false},
		{"a token", edToken(nil), false},
		{"huge", "pcl_sk_live_" + strings.Repeat("0", 1<<20), false},
		{"two joined", good + "," + good, false},
		{"padded", " " + good, false},
	} {
		t.Run("401 "+c.name, func(t *testing.T) {
			k.dir.asked, k.used = nil, nil
			p, err := k.VerifyKey(t.Context(), c.raw)
			var e *resources.Error
			if !errors.As(err, &e) || e.Kind != resources.KindBadCredential || e.Cause == nil || p.Kind != "" || p.ID != "" || p.KeyScopes != nil {
				t.Fatalf("%+v, %#v", p, err)
			}
			for _, area := range []string{resources.AreaUsers, resources.AreaAccess, resources.AreaFirewall, resources.AreaCompute} {
				got, want := wire.ErrorBody(area, e), wire.ErrorBody(area, resources.AsError(tokenErr))
				if string(got) != string(want) {
					t.Errorf("%s: %s\nwant %s", area, got, want)
				}
			}
			if body := string(wire.ErrorBody(resources.AreaUsers, e)); !strings.Contains(body, `"AUTH_002"`) {
				t.Error(body)
			}
			forbidSecret(t, err, c.raw)
			if (len(k.dir.asked) == 1) != c.looked || len(k.dir.asked) > 1 {
				t.Errorf("looked up %q", k.dir.asked)
			}
			if len(k.used) > 0 {
				t.Errorf("a refused key counts as used: %q", k.used)
			}
		})
	}
	if _, err := k.VerifyKey(t.Context(), good); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestBlankAPIKeyIsNoCredential(t *testing.T) {
	for _, raw := range []string{"", "  "} {
		if _, err := newKeyed(t).VerifyKey(t.Context(), raw); !resources.IsKind(err, resources.KindNoCredential) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestKeyDirectoryThatIsDownIsUnavailable(t *testing.T) {
	k := newKeyed(t)
	raw, _ := k.key("user-alice-v1")
	k.dir.err = errDirectory
	if p, err := k.VerifyKey(t.Context(), raw); !resources.IsKind(err, resources.KindUnavailable) || !errors.Is(err, errDirectory) || p.Kind != "" {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestNoAPIKeyIsTakenWithoutAMasterKey, nor looked up.
func TestNoAPIKeyIsTakenWithoutAMasterKey(t *testing.T) {
	k := newKeyed(t)
	raw, _ := k.key("user-alice-v1")
	off := must.Get(authn.New(authn.Options{Issuers: []authn.Issuer{issuer(keySet(t, standardKeys()...))}, Directory: k.dir}))(t)
	if _, err := off.VerifyKey(t.Context(), raw); !resources.IsKind(err, resources.KindBadCredential) || len(k.dir.asked) > 0 {
		t.Errorf("%v, asked for %q", err, k.dir.asked)
	}
}
