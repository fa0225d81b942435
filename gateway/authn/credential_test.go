package authn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

func sent(values ...string) []string { return values }

func TestCredentialsOfTheHeaders(t *testing.T) {
	for _, c := range []struct {
		name          string
		authorization []string
		apiKey        []string
		bearer, key   string
		kind          resources.Kind
	}{
		{"a token", sent("Bearer a.b.c"), nil, "a.b.c", "", 0},
		{"a bearer key", sent("bearer pcl_sk_live_x"), nil, "pcl_sk_live_x", "", 0},
		{"a key", nil, sent("pcl_sk_live_x"), "", "pcl_sk_live_x", 0},
		{"both", sent("Bearer a.b.c"), sent("k"), "a.b.c", "k", 0},
		{"nothing", nil, nil, "", "", resources.KindNoCredential},
		{"blank token", sent(" "), nil, "", "", resources.KindNoCredential},
		{"blank key", nil, sent(""), "", "", resources.KindNoCredential},
		{"both blank", sent(""), sent(""), "", "", resources.KindNoCredential},
		{"blank key beside a token", sent("Bearer a.b.c"), sent(""), "", "", resources.KindBadCredential},
		{"blank token beside a key", sent(""), sent("k"), "", "k", 0},
		{"a bearer of nothing", sent("Bearer"), nil, "", "", resources.KindNoCredential},
		{"a bearer of nothing beside a key", sent("bearer "), sent("k"), "", "k", 0},
		{"a bearer of nothing beside a blank key", sent("Bearer "), sent(" "), "", "", resources.KindNoCredential},
		{"two bearers of nothing", sent("Bearer", "Bearer"), nil, "", "", resources.KindBadRequest},
		{"another scheme", sent("Basic eA=="), nil, "", "", resources.KindBadCredential},
		{"another scheme beside a key", sent("Basic eA=="), sent("k"), "", "", resources.KindBadCredential},
		{"two tokens", sent("Bearer a.b.c", "Bearer a.b.c"), nil, "", "", resources.KindBadRequest},
		{"two keys", nil, sent("k", "k"), "", "", resources.KindBadRequest},
		{"two keys, one blank", nil, sent("k", ""), "", "", resources.KindBadRequest},
		{"two blank ones", nil, sent("", ""), "", "", resources.KindBadRequest},
		{"two keys beside a token", sent("Bearer a.b.c"), sent("k", "k"), "", "", resources.KindBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			bearer, key, err := authn.Credential(c.authorization, c.apiKey)
			if bearer != c.bearer || key != c.key || (err != nil) != (c.kind != 0) || err != nil && !resources.IsKind(err, c.kind) {
				t.Errorf("%q, %q, %v", bearer, key, err)
			}
		})
	}
	_, _, err := authn.Credential(sent("a", "b"), sent("c", "d"))
	if problems := resources.AsError(err).Problems; len(problems) != 2 || problems[0].Field != "Authorization" || problems[1].Field != "X-API-Key" {
		t.Errorf("problems %v", problems)
	}
}

func TestBothCredentialsMustBeValidAndOfOneUser(t *testing.T) {
	k := newKeyed(t)
	const alice = "user-alice-v1"
	key, id := k.key(alice)
	second, _ := k.key(alice)
	bobs, _ := k.key("user-bob-v1")
	elsewhere, _ := k.key(alice, func(i *resources.KeyIdentity) { i.Owner.AccountID = "acct-2-v1" })
	unknown, _ := k.unknown()
	token, bearer := "Bearer "+edToken(nil), "Bearer "+key
	for _, c := range []struct {
		name          string
		authorization []string
		apiKey        []string
		want          string // token or key
		kind          resources.Kind
	}{
		{"a token", sent(token), nil, resources.CredentialToken, 0},
		{"a key", nil, sent(key), resources.CredentialKey, 0},
		{"a bearer key", sent(bearer), nil, resources.CredentialKey, 0},
		{"a key twice", sent(bearer), sent(key), resources.CredentialKey, 0},
		{"a token and a key of one user", sent(token), sent(key), resources.CredentialKey, 0},
		{"400 two keys of one user", sent("Bearer " + second), sent(key), "", resources.KindBadRequest},
		{"400 a token and another's key", sent(token), sent(bobs), "", resources.KindBadRequest},
		{"400 a service's token and a key", sent("Bearer " + edToken(object{"sub": "service-a"})), sent(key), "", resources.KindBadRequest},
		{"400 a key of another account", sent(token), sent(elsewhere), "", resources.KindBadRequest},
		{"401 a token and a malformed key", sent(token), sent("pcl_sk_live_"), "", resources.KindBadCredential},
		{"401 a token and no key", sent(token), sent("x"), "", resources.KindBadCredential},
		{"401 a token as a key", nil, sent(edToken(nil)), "", resources.KindBadCredential},
		{"401 a token in both", sent(token), sent(edToken(nil)), "", resources.KindBadCredential},
		{"401 a token and an unknown key", sent(token), sent(unknown), "", resources.KindBadCredential},
		{"401 a token and a blank key", sent(token), sent(""), "", resources.KindBadCredential},
		{"401 a refused token and a key", sent(token + "x"), sent(key), "", resources.KindBadCredential},
		{"401 an unknown bearer key and a key", sent("Bearer " + unknown), sent(key), "", resources.KindBadCredential},
		{"401 Basic and a key", sent("Basic eA=="), sent(key), "", resources.KindBadCredential},
		{"401 an unknown bearer key", sent("Bearer " + unknown), nil, "", resources.KindBadCredential},
		{"401 a key without a scheme", sent(key), nil, "", resources.KindBadCredential},
		{"401 nothing", nil, nil, "", resources.KindNoCredential},
	} {
		t.Run(c.name, func(t *testing.T) {
			k.used = nil
			p, err := k.Authenticate(t.Context(), c.authorization, c.apiKey)
			if c.kind != 0 {
				if !resources.IsKind(err, c.kind) || p.Kind != "" || p.ID != "" {
					t.Errorf("%+v, %v", p, err)
				}
				forbidSecret(t, err, key)
				forbidSecret(t, err, bobs)
				if c.kind == resources.KindBadCredential && resources.AsError(err).Message != refusal {
					t.Errorf("the text %q", resources.AsError(err).Message)
				}
				return
			}
			if err != nil || p.Credential != c.want || p.ID != alice {
				t.Fatalf("%+v, %v", p, err)
			}
			if p.Credential == resources.CredentialKey && (p.KeyID != id || len(p.KeyScopes) != 1 || len(k.used) != 1) {
				t.Errorf("%+v, used %q", p, k.used)
			}
		})
	}
}

func TestCredentialsThatCannotBeCheckedAreUnavailable(t *testing.T) {
	k := newKeyed(t)
	key, _ := k.key("user-alice-v1")
	gone := "Bearer " + edToken(object{"sub": "user-unreachable"})
	if _, err := k.Authenticate(t.Context(), sent(gone), sent(key)); !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("the token: %v", err)
	}
	k.dir.err = errDirectory
	p, err := k.Authenticate(t.Context(), sent("Bearer "+edToken(nil)), sent(key))
	if !resources.IsKind(err, resources.KindUnavailable) || !errors.Is(err, errDirectory) || p.ID != "" {
		t.Errorf("the key: %+v %v", p, err)
	}
	if strings.Contains(err.Error(), key) {
		t.Error("the error holds the key")
	}
}
