package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// issuerFlags name one outside issuer.
type issuerFlags struct{ jwksURL, jwksFile, name, audience string }

// issuerSettings are one issuer of the configuration file.
type issuerSettings struct {
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
	JWKSURL  string `yaml:"jwks_url"`
	JWKSFile string `yaml:"jwks_file"`
	// Subjects is external_id, partner_id or both.
	Subjects string `yaml:"subjects"`
	Services struct {
		Allowed bool     `yaml:"allowed"`
		Scopes  []string `yaml:"scopes"`
	} `yaml:"services"`
}

var (
	errIssuerParts = errors.New("--jwt-issuer, --jwt-audience and one of --jwks-url and --jwks-file belong together: give all three or none")
	errIssuerTwice = errors.New("issuers stand in the configuration file and in flags; use one of them")
)

// set says whether the flags name an issuer.
func (f issuerFlags) set() bool { return f != issuerFlags{} }

func (f issuerFlags) check(inFile int) error {
	if !f.set() {
		return nil
	}
	if f.name == "" || f.audience == "" || (f.jwksURL == "") == (f.jwksFile == "") {
		return errIssuerParts
	}
	if inFile > 0 {
		return errIssuerTwice
	}
	return nil
}

// outside says whether tokens come from somebody else than the data folder's own key.
func (s *settings) outside() bool { return s.issuer.set() || len(s.issuers) > 0 }

// authenticator is the configured issuers, or the data folder's own one. The
// background work that keeps key sets fresh ends with ctx.
func (s *settings) authenticator(ctx context.Context, a *app, cache *rolecache.Cache, signer *authn.Signer) (*authn.Authenticator, error) {
	var issuers []authn.Issuer
	list := s.issuers
	if s.issuer.set() {
		list = []issuerSettings{trustedForAll(s.issuer)}
	}
	for _, one := range list {
		keys, err := one.keys(a.log.Logger)
		if err != nil {
			return nil, fmt.Errorf("issuer %q: %w", one.Issuer, err)
		}
		issuers = append(issuers, authn.Issuer{
			Issuer: one.Issuer, Audience: one.Audience, Keys: keys, Subjects: authn.Subjects(one.Subjects),
			Services: authn.Services{Allowed: one.Services.Allowed, Scopes: one.Services.Scopes},
		})
	}
	if len(issuers) == 0 {
		issuers = []authn.Issuer{signer.Issuer()}
	}
	made, err := authn.New(authn.Options{
		Issuers: issuers, Directory: directory{cache}, Now: time.Now,
		Keys: keyDirectory{cache}, APIKeys: resources.NewAPIKeys(a.master), Used: a.uses.Note,
		SignIn: a.users.SignIn, Checks: a.gates.work, Remembered: orNone(s.kept.tokens),
	})
	if err != nil {
		return nil, err
	}
	for _, one := range issuers { // not before all settings have proved right
		if source, ok := one.Keys.(*authn.URLSource); ok {
			go source.Run(ctx)
		}
	}
	return made, nil
}

// trustedForAll is the one issuer that flags name: it may name users by both of
// their names, and services with every scope.
func trustedForAll(f issuerFlags) issuerSettings {
	one := issuerSettings{
		Issuer: f.name, Audience: f.audience, JWKSURL: f.jwksURL, JWKSFile: f.jwksFile, Subjects: string(authn.SubjectsBoth),
	}
	one.Services.Allowed = true
	one.Services.Scopes = []string{resources.ServiceScopeCheck, resources.ServiceScopeAdmin, resources.ServiceScopeUsers}
	return one
}

func (i issuerSettings) keys(log *slog.Logger) (authn.KeySource, error) {
	switch {
	case (i.JWKSURL == "") == (i.JWKSFile == ""):
		return nil, errors.New("one of jwks_url and jwks_file is needed")
	case i.JWKSFile != "":
		return authn.NewFileSource(authn.FileOptions{Path: i.JWKSFile, Now: time.Now, Log: log})
	}
	return authn.NewURLSource(authn.URLOptions{URL: i.JWKSURL, Now: time.Now, Log: log})
}

// directory finds users by their token's subject, through the cache.
type directory struct{ cache *rolecache.Cache }

// BySubject implements authn.Directory.
func (d directory) BySubject(ctx context.Context, sub string, by authn.Subjects) (authn.Identity, bool, error) {
	id, found, err := d.cache.Identify(ctx, sub, by != authn.SubjectsPartnerID, by != authn.SubjectsExternalID)
	return authn.Identity{
		ExternalID: id.UserID, UUID: id.UUID, AccountID: id.AccountID, Status: id.Status,
	}, found, err
}
