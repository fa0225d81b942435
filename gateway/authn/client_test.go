package authn_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

const tools = "https://gateway.test/mcp/github"

// nested returns an act of actors a1, a2, …
func nested(depth int) object {
	act := object{"sub": fmt.Sprintf("a%d", depth)}
	for n := depth - 1; n > 0; n-- {
		act = object{"sub": fmt.Sprintf("a%d", n), "act": act}
	}
	return act
}

// TestAPrincipalHasItsClient guarantees that the actor is the outermost act.sub, else client_id, else azp, for whichever
// audience the token is used.
func TestAPrincipalHasItsClient(t *testing.T) {
	settings := issuer(keySet(t, standardKeys()...))
	settings.Apps = []string{"web", "a1"}
	a := authenticator(t, newClock(), settings)
	both := []string{audience, tools}
	eight := []string{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}
	end := resources.At(start.Add(time.Hour + 30*time.Second)) // exp, and the clocks' leeway
	for name, c := range map[string]struct {
		changes object
		want    resources.Client
	}{
		"no client":              {object{}, resources.Client{}},
		"client_id":              {object{"client_id": "ide", "azp": "web"}, resources.Client{ID: "ide"}},
		"azp":                    {object{"azp": "web"}, resources.Client{ID: "web", Own: true}},
		"an actor before them":   {object{"client_id": "web", "azp": "web", "act": object{"sub": "bot", "x": 1}}, resources.Client{ID: "bot", Actors: []string{"bot"}}},
		"a chain of eight":       {object{"act": nested(8)}, resources.Client{ID: "a1", Own: true, Actors: eight}},
		"an own one further in":  {object{"act": object{"sub": "bot", "act": object{"sub": "web"}}}, resources.Client{ID: "bot", Actors: []string{"bot", "web"}}},
		"scopes":                 {object{"scope": "mcp:read  x", "azp": "WEB"}, resources.Client{ID: "WEB", Scopes: []string{"mcp:read", "x"}}},
		"a service with a token": {object{"sub": "service-s", "client_id": "s"}, resources.Client{ID: "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			token := edToken(object{"aud": both}.merged(c.changes))
			p := must.Get(a.AuthenticateFor(t.Context(), tools, "", sent("Bearer "+token)))(t)
			c.want.Issuer = issuerName
			for _, got := range []*resources.Client{p.Client, mustAccept(t, a, token).Client} {
				shown := *got
				if shown.Until = 0; len(shown.Scopes) == 0 {
					shown.Scopes = nil
				}
				if !reflect.DeepEqual(shown, c.want) {
					t.Errorf("%+v", shown)
				}
				if got.Until != end {
					t.Errorf("rejected from %s on, want %s", got.Until, end)
				}
			}
		})
	}
}

// TestATokenWithAMalformedClientIsForNoResource guarantees that nobody takes its client for none: E3 takes the token as
// before, with an actor without a name.
func TestATokenWithAMalformedClientIsForNoResource(t *testing.T) {
	a := standard(t)
	for name, claims := range map[string]string{
		"act a string":         `"act":"bot"`,
		"act null":             `"act":null`,
		"act a list":           `"act":[{"sub":"bot"}]`,
		"act without sub":      `"act":{}`,
		"act with sub null":    `"act":{"sub":null}`,
		"act with an empty":    `"act":{"sub":""}`,
		"act with a padded":    `"act":{"sub":" bot"}`,
		"act with a number":    `"act":{"sub":1}`,
		"act in other letters": `"act":{"SUB":"bot"}`,
		"act within malformed": `"act":{"sub":"bot","act":"x"}`,
		"act nine deep":        `"act":` + nested(9).json(),
		"client_id a number":   `"client_id":7,"azp":"web"`,
		"client_id empty":      `"client_id":"","azp":"web"`,
		"azp a list":           `"azp":["web"]`,
		"azp beside client_id": `"client_id":"ide","azp":null`,
		"azp beside act":       `"act":{"sub":"bot"},"azp":null`,
	} {
		t.Run(name, func(t *testing.T) {
			text := object{"aud": []string{audience, tools}}
			payload := strings.Replace(claimsOf(text), "{", "{"+claims+",", 1)
			token := forge(edHead().json(), payload, "EdDSA", testKeys().ed)
			for range 2 { // cached the second time
				p, err := a.AuthenticateFor(t.Context(), tools, "", sent("Bearer "+token))
				if !resources.IsKind(err, resources.KindBadCredential) || p.ID != "" || authn.ReasonOf(err) != authn.ReasonClaims {
					t.Errorf("%+v %v", p, err)
				}
				if client := mustAccept(t, a, token).Client; client.ID != "" || !reflect.DeepEqual(client.Actors, []string{""}) || client.Own {
					t.Errorf("%+v", client)
				}
			}
		})
	}
}

func claimsOf(changes object) string { return claims().merged(changes).json() }

// TestACachedTokenIsForItsAudiences guarantees that its aud must name the audience at each use. A refusal elsewhere does
// not end its use.
func TestACachedTokenIsForItsAudiences(t *testing.T) {
	other := "https://gateway.test/mcp/gitlab"
	for name, c := range map[string]struct {
		aud               any
		issuers, resource bool
	}{
		"the issuer's own": {audience, true, false},
		"a resource":       {tools, false, true},
		"both":             {[]string{audience, tools}, true, true},
		"another resource": {other, false, false},
		"none":             {nil, false, false},
		"a part":           {[]string{tools + "/", tools[:20]}, false, false},
		"an empty one":     {"", false, false},
	} {
		for _, first := range []string{"own", "resource"} {
			t.Run(name+", first "+first, func(t *testing.T) {
				a, token := standard(t), edToken(object{"aud": c.aud})
				useOwn := func() {
					if !c.issuers {
						mustRefuse(t, a, token)
						return
					}
					mustAccept(t, a, token)
				}
				useResource := func() {
					if _, err := a.AuthenticateFor(t.Context(), tools, "", sent("Bearer "+token)); (err == nil) != c.resource ||
						err != nil && (!resources.IsKind(err, resources.KindBadCredential) || authn.ReasonOf(err) != authn.ReasonClaims) {
						t.Error("the resource:", err)
					}
					for _, no := range []string{"", other + "x", strings.ToUpper(tools)} {
						if p, err := a.AuthenticateFor(t.Context(), no, "", sent("Bearer "+token)); err == nil {
							t.Errorf("for %q: %+v", no, p)
						}
					}
				}
				for range 2 {
					if first == "own" {
						useOwn()
						useResource()
					} else {
						useResource()
						useOwn()
					}
				}
				if cached := a.Cached(token) != nil; cached != (c.issuers || c.resource) {
					t.Error("cached:", cached)
				}
			})
		}
	}
}

// TestAResourceTakesTokensAlone: no API key, and no other credential.
func TestAResourceTakesTokensAlone(t *testing.T) {
	k := newKeyed(t)
	key, _ := k.key("user-alice-v1")
	for credential, want := range map[string]resources.Kind{
		"Bearer " + key: resources.KindBadCredential, "": resources.KindNoCredential, "Bearer": resources.KindNoCredential, "Basic eA==": resources.KindBadCredential,
	} {
		if p, err := k.AuthenticateFor(t.Context(), tools, "", sent(credential)); !resources.IsKind(err, want) || p.ID != "" {
			t.Errorf("%.12q: %+v %v", credential, p, err)
		} else if strings.HasSuffix(credential, key) && authn.ReasonOf(err) != authn.ReasonAPIKey {
			t.Error("a key is refused as", authn.ReasonOf(err))
		}
	}
	if _, err := k.AuthenticateFor(t.Context(), tools, "", nil); !resources.IsKind(err, resources.KindNoCredential) {
		t.Error(err)
	}
}
