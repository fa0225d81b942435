package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

func newToken() *cobra.Command {
	settings := &config.Config{}
	var user, service, agent, scope, audience string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "token", Short: "Print a token signed with the data folder's own key", Args: noArguments,
		Example: "  portcullis token --user user-alice-v1\n" +
			"  portcullis token --service widgets --scope authz:check --ttl 14d\n" +
			"  portcullis token --user user-bob-v1 --agent assistant --scope mcp:read --audience https://gateway.example/mcp/issues",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			if (user == "") == (service == "") {
				return errors.New("give one of --user ID and --service NAME")
			}
			if service == "" && (!resources.ValidID(user) || strings.HasPrefix(user, resources.ServicePrefix)) {
				return errors.New("--user must be a user's external id: 1 to 128 characters of [A-Za-z0-9._@-] that do not begin with service-")
			}
			request := authn.TokenRequest{Subject: user, Scopes: strings.Fields(scope), Audience: audience, Agent: agent, TTL: ttl}
			if service != "" {
				request.Subject = resources.ServicePrefix + strings.TrimPrefix(service, resources.ServicePrefix)
			}
			token, err := sign(settings, request)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	cmd.Flags().StringVar(&user, "user", "", "the external `id` of a user")
	cmd.Flags().StringVar(&service, "service", "", "the `name` of a service")
	cmd.Flags().StringVar(&agent, "agent", "", "the `client` of the agent that acts for the user, as their account registered it")
	cmd.Flags().StringVar(&scope, "scope", "", "the `scopes`, separated by spaces: of a service "+strings.Join(resources.ServiceScopes(), ", ")+"; with --audience of an MCP server "+resources.MCPScopeRead+", "+resources.MCPScopeWrite)
	cmd.Flags().StringVar(&audience, "audience", "", "a resource's own `URL`, for which alone the token is (RFC 8707)")
	config.DurationVar(cmd.Flags(), &ttl, "ttl", time.Hour, "how long the token is valid")
	return cmd
}

// readSecret reads a file with a secret, such as a token.
func readSecret(file string) (string, error) {
	raw, err := os.ReadFile(file)
	token := strings.TrimSpace(string(raw))
	if err == nil && token == "" {
		err = fmt.Errorf("%s is empty", file)
	}
	return token, err
}

var errOutside = errors.New("tokens come from the outside issuer that is configured (--jwks-url, --jwks-file or issuers); the data folder's key signs none")

// sign makes a token with the data folder's key.
func sign(settings *config.Config, request authn.TokenRequest) (string, error) {
	if settings.Credentials.Outside() {
		return "", errOutside
	}
	master, err := masterKeyFile(settings.Store).Read()
	if err != nil {
		return "", err
	}
	signer, err := authn.NewSigner(master)
	if err != nil {
		return "", err
	}
	return signer.Sign(request)
}
