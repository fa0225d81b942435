package authn_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

func TestBearerToken(t *testing.T) {
	for _, value := range []string{"Bearer a.b.c", "bearer a.b.c", "BEARER a.b.c"} {
		if got, err := authn.BearerToken(value); err != nil || got != "a.b.c" {
			t.Errorf("%q: %q %v", value, got, err)
		}
	}
	for _, values := range [][]string{nil, {""}, {"  "}, {"Bearer"}, {"Bearer "}, {"bearer  "}, {"BEARER\t"}} {
		if _, err := authn.BearerToken(values...); !resources.IsKind(err, resources.KindNoCredential) {
			t.Errorf("%q: %v", values, err)
		}
	}
	for _, values := range [][]string{
		{"Bearer", "Bearer"},
		{"Bearer  a.b.c"},
		{"Bearer a.b.c "},
		{"Bearer\ta.b.c"},
		{" Bearer a.b.c"},
		{"Bearer a.b.c d"},
		{"Bearer a.b.c, Bearer d.e.f"},
		{"Bearer: a.b.c"},
		{"a.b.c"},
		{"Basic dTpw"},
		{"Bearera.b.c"},
		{"DPoP a.b.c"},
		{"Bearer a\nb"},
		{"Bearer a\rb"},
		{"Bearer a\tb"},
		{"Bearer a,b"},
		{"Bearer a", "Bearer a"},
		{"", ""},
		{"", "Bearer a"},
		{"Béarer a"},
		{"\u212aearer a"},
	} {
		token, err := authn.BearerToken(values...)
		if token != "" || !resources.IsKind(err, resources.KindBadCredential) || resources.AsError(err).Message != refusal {
			t.Errorf("%q: %q %v", values, token, err)
		}
	}
}
