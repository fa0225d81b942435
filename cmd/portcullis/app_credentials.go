package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// newAuthenticator accepts tokens of the outside issuers, or else of the data folder's own
// key. Key sets are refreshed until ctx ends, and only once all settings have proved right.
func (a *app) newAuthenticator(ctx context.Context, signer *authn.Signer) (*authn.Authenticator, error) {
	var issuers []authn.Issuer
	for _, one := range a.settings.Credentials.Issuers() {
		keys, err := newKeySource(one, a.log.Logger, a.metrics.KeySetFetched)
		if err != nil {
			return nil, fmt.Errorf("issuer %q: %w", one.Issuer, err)
		}
		if file, ok := keys.(*authn.FileSource); ok {
			a.keyFiles = append(a.keyFiles, file)
		}
		a.state.keySets = append(a.state.keySets, keySet{one.Issuer, keys})
		issuers = append(issuers, authn.Issuer{
			Issuer: one.Issuer, Audience: one.Audience, Keys: keys, Subjects: authn.Subjects(one.Subjects),
			Services: authn.Services{Allowed: one.Services.Allowed, Scopes: one.Services.Scopes}, Apps: one.Apps,
		})
	}
	if len(issuers) == 0 {
		issuers = []authn.Issuer{signer.Issuer()}
	}
	made, err := authn.New(authn.Options{
		Issuers: issuers, Directory: a.cache, Now: time.Now,
		APIKeys: resources.NewAPIKeys(a.master), Used: a.uses.Note,
		SignIn: a.users.SignIn, Checks: a.gates.work, CachedTokens: sizeOrNone(a.settings.Caches.Tokens),
	})
	if err != nil {
		return nil, err
	}
	for _, one := range issuers {
		if source, ok := one.Keys.(*authn.URLSource); ok {
			go source.Run(ctx)
		}
	}
	return made, nil
}

func newKeySource(one config.Issuer, log *slog.Logger, fetched func(error)) (agingSource, error) {
	if one.JWKSFile != "" {
		return authn.NewFileSource(authn.FileOptions{Path: one.JWKSFile, Now: time.Now, Log: log})
	}
	return authn.NewURLSource(authn.URLOptions{URL: one.JWKSURL, Now: time.Now, Log: log, Fetched: fetched})
}

// agingSource is a key set that may grow old.
type agingSource interface {
	authn.KeySource
	// Age returns the age of the keys in use, false without keys.
	Age() (time.Duration, bool)
}
