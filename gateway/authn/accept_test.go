package authn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestGoodTokenIsAccepted(t *testing.T) {
	a, k := standard(t), testKeys()
	good := claims().json()
	offset := func(d time.Duration) int64 { return start.Add(d).Unix() }
	for name, token := range map[string]string{
		"EdDSA":                   edToken(nil),
		"ES256":                   forge(`{"alg":"ES256","kid":"es"}`, good, "ES256", k.es),
		"RS256":                   forge(`{"alg":"RS256","kid":"rs"}`, good, "RS256", k.rs),
		"PS256":                   forge(`{"alg":"PS256","kid":"rs"}`, good, "PS256", k.rs),
		"no kid, one key fits":    forge(`{"alg":"EdDSA"}`, good, "EdDSA", k.ed),
		"typ at+jwt":              forge(`{"alg":"EdDSA","kid":"ed","typ":"at+JWT"}`, good, "EdDSA", k.ed),
		"a thumbprint in the way": forge(`{"alg":"EdDSA","kid":"ed","x5t":"abc"}`, good, "EdDSA", k.ed),
		"aud a list":              edToken(object{"aud": []string{"other.test", audience}}),
		"expired within leeway":   edToken(object{"exp": offset(-29 * time.Second)}),
		"nbf within leeway":       edToken(object{"nbf": offset(30 * time.Second)}),
		"iat within leeway":       edToken(object{"iat": offset(30 * time.Second)}),
		"nbf and iat of before":   edToken(object{"nbf": offset(-time.Hour), "iat": 0}),
		"exp with a fraction":     edToken(object{"exp": float64(offset(time.Hour)) + 0.75}),
		"exp in the year 9999":    edToken(object{"exp": 253402300799}),
		"a surrogate pair":        forge(edHead().json(), strings.Replace(good, "{", `{"name":"\ud83d\ude00 \\ud800 \ufffd",`, 1), "EdDSA", k.ed),
		"white space in JSON":     forge(edHead().json(), " \n"+good+"\t", "EdDSA", k.ed),
		"nearly 8 KiB":            edToken(object{"x": strings.Repeat("x", 5800)}),
	} {
		t.Run(name, func(t *testing.T) {
			p := mustAccept(t, a, token)
			want := resources.Principal{
				Kind: resources.PrincipalUser, ID: "user-alice-v1", UUID: "uuid-of-user-alice-v1",
				AccountID: "acct-1-v1", Credential: resources.CredentialToken,
			}
			p.Client = nil // see TestAPrincipalHasItsClient
			if fmt.Sprintf("%+v", p) != fmt.Sprintf("%+v", want) {
				t.Errorf("principal %+v", p)
			}
		})
	}
}

func TestTokenExpires(t *testing.T) {
	c := newClock()
	a := authenticator(t, c, issuer(keySet(t, standardKeys()...)))
	token := edToken(nil)
	c.Advance(time.Hour + 29*time.Second)
	mustAccept(t, a, token)
	c.Advance(time.Second)
	mustRefuse(t, a, token)
}

func TestBlankTokenIsNoCredential(t *testing.T) {
	for _, token := range []string{"", "  ", "\t"} {
		if _, err := standard(t).Verify(t.Context(), token); !resources.IsKind(err, resources.KindNoCredential) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestServiceHasScopesOfItsIssuerOnly(t *testing.T) {
	a := standard(t)
	for scope, want := range map[string][]string{
		"authz:check":                         {"authz:check"},
		"authz:check platform:admin":          {"authz:check"},
		"users:sync  authz:check authz:check": {"authz:check", "users:sync"},
		"platform:admin":                      {},
		"":                                    {},
		"AUTHZ:CHECK authz:* authz:checks * authz": {},
		"authz:check,users:sync":                   {},
		"authz:check\u00a0users:sync":              {},
	} {
		p := mustAccept(t, a, edToken(object{"sub": "service-caller", "scope": scope}))
		if p.Kind != resources.PrincipalService || p.ID != "service-caller" || p.Credential != resources.CredentialToken ||
			p.AccountID != "" || p.UUID != "" || !slices.Equal(p.Scopes, want) {
			t.Errorf("scope %q: %+v", scope, p)
		}
	}
	if p := mustAccept(t, a, edToken(object{"sub": "service-caller"})); len(p.Scopes) != 0 {
		t.Errorf("without a scope: %+v", p)
	}
}

func TestUserHasNoScopes(t *testing.T) {
	for _, sub := range []string{"user-1", "Service-x", "_service-x", "xservice-x"} {
		if p := mustAccept(t, standard(t), edToken(object{"sub": sub, "scope": "authz:check"})); p.Kind != resources.PrincipalUser || p.Scopes != nil {
			t.Errorf("%+v", p)
		}
	}
}

func TestServiceOfAnIssuerWithoutServicesIsRefused(t *testing.T) {
	settings := issuer(keySet(t, standardKeys()...))
	settings.Services = authn.Services{}
	a := authenticator(t, newClock(), settings)
	mustRefuse(t, a, edToken(object{"sub": "service-caller", "scope": "authz:check"}))
	mustAccept(t, a, edToken(nil))
}

// TestAnAgentActsForNoService guarantees that a service's token with an actor is refused, also at a resource: no ceiling
// would hold the actor to less than the service. The operator's own application is not an agent.
func TestAnAgentActsForNoService(t *testing.T) {
	settings := issuer(keySet(t, standardKeys()...))
	settings.Apps = []string{"web"}
	a := authenticator(t, newClock(), settings)
	for name, claims := range map[string]object{
		"an actor":              {"act": object{"sub": "bot"}},
		"one of a client":       {"act": object{"sub": "bot"}, "client_id": "web"},
		"one before an own":     {"act": object{"sub": "bot", "act": object{"sub": "web"}}},
		"a malformed actor":     {"act": "bot"},
		"a malformed client":    {"client_id": 7},
		"another service as it": {"act": object{"sub": "service-caller"}},
	} {
		t.Run(name, func(t *testing.T) {
			token := edToken(object{"aud": []string{audience, tools}, "sub": "service-caller", "scope": "authz:check users:sync"}.merged(claims))
			for range 2 { // cached the second time
				mustRefuse(t, a, token)
				p, err := a.AuthenticateFor(t.Context(), tools, "", sent("Bearer "+token))
				if !resources.IsKind(err, resources.KindBadCredential) || p.Kind != "" {
					t.Errorf("%+v, %v", p, err)
				}
			}
			if _, err := a.Verify(t.Context(), token); authn.ReasonOf(err) != authn.ReasonService {
				t.Errorf("refused for the reason %s: %v", authn.ReasonOf(err), err)
			}
		})
	}
	for _, claims := range []object{{"client_id": "bot"}, {"act": object{"sub": "web", "act": object{"sub": "bot"}}}} {
		if p := mustAccept(t, a, edToken(object{"sub": "service-caller", "scope": "authz:check"}.merged(claims))); len(p.Scopes) != 1 {
			t.Errorf("%v: %+v", claims, p)
		}
	}
}

func TestInactiveUserIsRefused(t *testing.T) {
	a := standard(t)
	for _, sub := range []string{"user-unknown", "status-INACTIVE", "status-SUSPENDED", "status-INVITED", "status-active", "status-", "status-NEW"} {
		t.Run(sub, func(t *testing.T) { mustRefuse(t, a, edToken(object{"sub": sub})) })
	}
	for name, id := range map[string]string{"no id": "", "a service's id": "service-x"} {
		t.Run(name, func(t *testing.T) {
			broken := directory(func(context.Context, string, bool, bool) (resources.Identity, bool, error) {
				return resources.Identity{ID: id, Status: resources.StatusActive}, true, nil
			})
			a, err := authn.New(authn.Options{Issuers: []authn.Issuer{issuer(keySet(t, standardKeys()...))}, Directory: broken, Now: newClock().Now})
			if err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, a, edToken(nil))
		})
	}
}

func TestDirectoryThatIsDownIsUnavailable(t *testing.T) {
	_, err := standard(t).Verify(t.Context(), edToken(object{"sub": "user-unreachable"}))
	if !resources.IsKind(err, resources.KindUnavailable) || !errors.Is(err, errDirectory) {
		t.Errorf("%v", err)
	}
}

func TestDirectoryIsAskedForTheIssuersSubjects(t *testing.T) {
	for subjects, kinds := range map[authn.Subjects]string{
		authn.SubjectsExternalID: "true, false", authn.SubjectsPartnerID: "false, true", authn.SubjectsBoth: "true, true",
	} {
		var asked []string
		settings := issuer(keySet(t, standardKeys()...))
		settings.Subjects = subjects
		a := must.Get(authn.New(authn.Options{Issuers: []authn.Issuer{settings}, Now: newClock().Now, Directory: directory(
			func(ctx context.Context, sub string, byExternal, byPartner bool) (resources.Identity, bool, error) {
				asked = append(asked, fmt.Sprintf("%s by %t, %t", sub, byExternal, byPartner))
				return users(ctx, sub, byExternal, byPartner)
			})}))(t)
		mustAccept(t, a, edToken(object{"sub": "idp|Ünï"}))
		mustAccept(t, a, edToken(object{"sub": "service-a"}))
		mustRefuse(t, a, edToken(object{"aud": "other"}))
		if want := []string{"idp|Ünï by " + kinds}; !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
	}
}

func TestClaimsOfAnUnknownSubjectAreRead(t *testing.T) {
	a := standard(t)
	got := must.Get(a.Claims(t.Context(), edToken(object{"sub": "new", "email": "a@b.test", "email_verified": true, "scope": "x y"})))(t)
	want := authn.Claims{
		Issuer: issuerName, Subject: "new", Email: "a@b.test", EmailVerified: true,
		Scope: []string{"x", "y"}, ExpiresAt: resources.At(start.Add(time.Hour)),
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v", got)
	}
	for _, unverified := range []any{"true", 1, false, []bool{true}} {
		if got, err := a.Claims(t.Context(), edToken(object{"email": []string{"a@b.test"}, "email_verified": unverified})); err != nil || got.EmailVerified || got.Email != "" {
			t.Errorf("%v: %+v %v", unverified, got, err)
		}
	}
	if _, err := a.Claims(t.Context(), edToken(object{"sub": nil})); !resources.IsKind(err, resources.KindBadCredential) {
		t.Errorf("claims without a subject: %v", err)
	}
	if _, err := a.Principal(t.Context(), authn.Claims{Subject: "user-1"}); !resources.IsKind(err, resources.KindBadCredential) {
		t.Errorf("claims of no issuer: %v", err)
	}
}

func TestConcurrentCallersGetTheirOwnPrincipal(t *testing.T) {
	a := standard(t)
	var wg sync.WaitGroup
	for i := range 16 {
		sub := fmt.Sprintf("user-%d", i)
		token := edToken(object{"sub": sub})
		wg.Go(func() {
			for range 20 {
				if p, err := a.Verify(t.Context(), token); err != nil || p.ID != sub {
					t.Errorf("%s: %+v %v", sub, p, err)
				}
				if _, err := a.Verify(t.Context(), token[:len(token)-3]); err == nil {
					t.Error("accepted a cut token")
				}
			}
		})
	}
	wg.Wait()
}
