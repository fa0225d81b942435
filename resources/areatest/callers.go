package areatest

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// As returns a user of the account who signed in with a token.
func As(account, id string) resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalUser, ID: id, UUID: "uuid-" + id, AccountID: account, Credential: resources.CredentialToken,
	}
}

// By returns a user of the account with an API key of these scopes.
func By(account, id, keyID string, scopes ...string) resources.Principal {
	p := As(account, id)
	p.Credential, p.KeyID, p.KeyScopes = resources.CredentialKey, keyID, scopes
	return p
}

// Service returns a service with these scopes.
func Service(scopes ...string) resources.Principal {
	return resources.Principal{
		Kind: resources.PrincipalService, ID: "service-test", Scopes: scopes, Credential: resources.CredentialToken,
	}
}

// Anybody takes every caller, for tests of something else.
func Anybody(context.Context, store.Tx, string, resources.Principal) error { return nil }
