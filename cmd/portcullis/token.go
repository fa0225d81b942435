package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

var (
	errOutsideIssuer = errors.New("tokens come from the outside issuer that is configured (--jwks-url, --jwks-file or issuers); the data folder's key signs none")
	errUserForm      = errors.New("--user must be a user's external id: 1 to 128 characters of [A-Za-z0-9._@-] that do not begin with service-")
	errOneSubject    = errors.New("give one of --user ID and --service NAME")
)

func newToken() *cobra.Command {
	s := &settings{}
	var user, service, scope string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "token", Short: "Print a token signed with the data folder's own key", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.fill(cmd.Flags()); err != nil {
				return err
			}
			if (user == "") == (service == "") {
				return errOneSubject
			}
			if service == "" && (!resources.ValidID(user) || strings.HasPrefix(user, resources.ServicePrefix)) {
				return errUserForm
			}
			request := authn.TokenRequest{Subject: user, Scopes: strings.Fields(scope), TTL: ttl}
			if service != "" {
				request.Subject = resources.ServicePrefix + strings.TrimPrefix(service, resources.ServicePrefix)
			}
			token, err := s.sign(request)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	s.commonFlags(cmd.Flags())
	cmd.Flags().StringVar(&user, "user", "", "the external id of a user")
	cmd.Flags().StringVar(&service, "service", "", "the name of a service")
	cmd.Flags().StringVar(&scope, "scope", "", "what the service may do: authz:check, platform:admin, users:sync (separated by spaces)")
	durationVar(cmd.Flags(), &ttl, "ttl", time.Hour, "how long the token holds")
	return cmd
}

// sign makes a token with the data folder's key.
func (s *settings) sign(request authn.TokenRequest) (string, error) {
	if s.outside() {
		return "", errOutsideIssuer
	}
	master, err := s.masterKeyIn().Read()
	if err != nil {
		return "", err
	}
	signer, err := authn.NewSigner(master)
	if err != nil {
		return "", err
	}
	return signer.Sign(request)
}
