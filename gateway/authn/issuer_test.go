package authn_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

func TestBadSettingsAreRefusedAtConstruction(t *testing.T) {
	good := func() authn.Issuer { return issuer(keySet(t, standardKeys()...)) }
	change := func(f func(*authn.Issuer)) []authn.Issuer { i := good(); f(&i); return []authn.Issuer{i} }
	for name, tc := range map[string]struct {
		issuers []authn.Issuer
		says    string
	}{
		"no issuer":          {nil, "no issuer"},
		"empty name":         {change(func(i *authn.Issuer) { i.Issuer = "" }), "name is empty"},
		"blank name":         {change(func(i *authn.Issuer) { i.Issuer = "  " }), "name is empty"},
		"empty audience":     {change(func(i *authn.Issuer) { i.Audience = "" }), "audience is empty"},
		"no keys":            {change(func(i *authn.Issuer) { i.Keys = nil }), "no keys"},
		"empty key set":      {change(func(i *authn.Issuer) { i.Keys = authn.KeySet{} }), "key set is empty"},
		"no subjects":        {change(func(i *authn.Issuer) { i.Subjects = "" }), "subjects must be"},
		"unknown subjects":   {change(func(i *authn.Issuer) { i.Subjects = "email" }), "subjects must be"},
		"services, no scope": {change(func(i *authn.Issuer) { i.Services.Scopes = nil }), "services"},
		"scopes, no service": {change(func(i *authn.Issuer) { i.Services.Allowed = false }), "services"},
		"unknown scope":      {change(func(i *authn.Issuer) { i.Services.Scopes = []string{"root"} }), `unknown scope "root"`},
		"blank app":          {change(func(i *authn.Issuer) { i.Apps = []string{""} }), `apps: ""`},
		"padded app":         {change(func(i *authn.Issuer) { i.Apps = []string{"web", "web "} }), `apps: "web "`},
		"an app twice":       {change(func(i *authn.Issuer) { i.Apps = []string{"web", "web"} }), `apps: "web"`},
		"twice":              {[]authn.Issuer{good(), good()}, "configured twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := authn.New(authn.Options{Issuers: tc.issuers, Directory: directory(users)})
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := authn.New(authn.Options{Issuers: []authn.Issuer{good()}}); err == nil {
		t.Error("accepted no directory")
	}
}

func TestOneKidInTwoIssuersIsNotConfused(t *testing.T) {
	k := testKeys()
	first := issuer(keySet(t, jwk("same", "EdDSA", "sig", k.ed.Public())))
	second := issuer(keySet(t, jwk("same", "EdDSA", "sig", k.otherEd.Public()), jwk("es", "ES256", "sig", k.es.Public())))
	second.Issuer, second.Audience, second.Services = "https://second.test", "second.aud", authn.Services{}
	a := authenticator(t, newClock(), first, second)

	head := `{"alg":"EdDSA","kid":"same"}`
	ofSecond := claims().merged(object{"iss": second.Issuer, "aud": second.Audience})
	mustAccept(t, a, forge(head, claims().json(), "EdDSA", k.ed))
	mustAccept(t, a, forge(head, ofSecond.json(), "EdDSA", k.otherEd))
	mustRefuse(t, a, forge(head, claims().json(), "EdDSA", k.otherEd))
	mustRefuse(t, a, forge(head, ofSecond.json(), "EdDSA", k.ed))
	// A key, an audience or a service scope of one issuer is not valid for the other.
	mustRefuse(t, a, forge(`{"alg":"ES256","kid":"es"}`, claims().json(), "ES256", k.es))
	mustRefuse(t, a, forge(head, ofSecond.merged(object{"aud": audience}).json(), "EdDSA", k.otherEd))
	mustRefuse(t, a, forge(head, ofSecond.merged(object{"sub": "service-x", "scope": resources.ServiceScopeCheck}).json(), "EdDSA", k.otherEd))
}

func TestSettingsAreCopied(t *testing.T) {
	settings := issuer(keySet(t, standardKeys()...))
	a := authenticator(t, newClock(), settings)
	settings.Services.Scopes[0] = resources.ServiceScopeAdmin
	p := mustAccept(t, a, edToken(object{"sub": "service-x", "scope": "platform:admin authz:check"}))
	if len(p.Scopes) != 1 || p.Scopes[0] != resources.ServiceScopeCheck {
		t.Errorf("%+v", p)
	}
}
