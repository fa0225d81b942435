package assertion_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestGoClientVerifiesTheAssertion guarantees that the gateway and the Go client mean the same.
func TestGoClientVerifiesTheAssertion(t *testing.T) {
	keys := must.Get(assertion.NewKeys(masterKey(t, 1), time.Now))(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(keys.JWKS()) }))
	defer server.Close()
	signed := statement()
	token := must.Get(keys.Sign(signed))(t)
	r := httptest.NewRequest(signed.Method, signed.Target, strings.NewReader(string(signed.Body)))
	r.Header.Set("Idempotency-Key", signed.IdempotencyKey)
	r.Header.Set("X-Request-ID", signed.RequestID)
	r.Header.Set(client.AssertionHeader, token)
	v, err := client.NewVerifier(client.VerifierOptions{KeysURL: server.URL, Audience: signed.Upstream, Action: func(*http.Request) string { return signed.Action }})
	if err != nil {
		t.Fatal(err)
	}
	p := signed.Principal
	want := client.Caller{
		ID: p.ID, Kind: p.Kind, UUID: p.UUID, AccountID: p.AccountID, Credential: p.Credential, KeyID: p.KeyID,
		Scopes: p.Scopes, KeyScopes: p.KeyScopes, Account: signed.Account, Action: signed.Action,
	}
	if got, err := v.Verify(t.Context(), r, signed.Body); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := v.Verify(t.Context(), r, []byte(`{"a":2}`)); err == nil {
		t.Error("another body is accepted")
	}
}

// TestGoClientNamesTheCredential guarantees that a service can tell an API key from a token by the names in the Go client.
func TestGoClientNamesTheCredential(t *testing.T) {
	keys := must.Get(assertion.NewKeys(masterKey(t, 1), time.Now))(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(keys.JWKS()) }))
	defer server.Close()
	v := must.Get(client.NewVerifier(client.VerifierOptions{
		KeysURL: server.URL, Audience: statement().Upstream, Action: func(*http.Request) string { return statement().Action },
	}))(t)
	for credential, want := range map[string]string{resources.CredentialToken: client.CredentialToken, resources.CredentialKey: client.CredentialKey} {
		signed := statement()
		signed.Principal.Credential = credential
		r := httptest.NewRequest(signed.Method, signed.Target, strings.NewReader(string(signed.Body)))
		r.Header.Set("Idempotency-Key", signed.IdempotencyKey)
		r.Header.Set("X-Request-ID", signed.RequestID)
		r.Header.Set(client.AssertionHeader, must.Get(keys.Sign(signed))(t))
		if got, err := v.Verify(t.Context(), r, signed.Body); err != nil || got.Credential != want {
			t.Errorf("%s: %q, %v, want %q", credential, got.Credential, err, want)
		}
	}
}
