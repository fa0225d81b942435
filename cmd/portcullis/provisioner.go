package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/provision"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

const (
	defaultStep = 2 * time.Second
	// provisionerTTL is how long a token lives that a provisioner beside the gateway signs for itself.
	provisionerTTL = time.Hour
)

func newProvisioner() *cobra.Command {
	settings := &config.Config{}
	var simulate bool
	var token string
	s := &provision.Simulator{}
	cmd := &cobra.Command{
		Use: "provisioner", Short: "Make the clusters of a running gateway, in play", Args: noArguments,
		Example: "  portcullis provisioner --simulate --failure-rate 0.1 --step 2s",
		Long: "Claims clusters and reports them as made or taken away, over HTTP alone. There are no machines\n" +
			"behind them: it is the reference for a provisioner of your own.",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			switch {
			case !simulate:
				return errors.New("--simulate is needed: this program makes no real clusters; see docs/integrate/provisioners.md for how to write one that does")
			case !(s.FailureRate >= 0 && s.FailureRate <= 1): // which NaN is not
				return fmt.Errorf("--failure-rate must be from 0 to 1, not %v", s.FailureRate)
			case s.Step < 0 || s.Step > provision.LongestStep:
				return fmt.Errorf("--step must be from 0s to %s, not %s", provision.LongestStep, s.Step)
			}
			if err := checkGatewayURL(s.URL); err != nil {
				return err
			}
			s.Token = func() (string, error) { return token, nil }
			if token == "" {
				s.Token = func() (string, error) { return sign(settings, provisionerToken()) }
				if _, err := s.Token(); err != nil {
					return fmt.Errorf("there is no --token, and none can be signed: %w", err)
				}
			}
			s.Log = slog.New(slog.NewTextHandler(cmd.OutOrStdout(), nil))
			return s.Run(cmd.Context())
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	f := cmd.Flags()
	f.BoolVar(&simulate, "simulate", false, "make no machines, and report as if")
	f.StringVar(&s.URL, "url", "http://127.0.0.1:8080", "the `URL` of the gateway")
	f.StringVar(&token, "token", "", "a service's `token` with the scope clusters:provision (default: one signed with the data folder's key)")
	f.Float64Var(&s.FailureRate, "failure-rate", 0.1, "the `share` of claims that fail, from 0 to 1")
	config.DurationVar(f, &s.Step, "step", defaultStep, "how long each step takes")
	return cmd
}

// provisionerToken returns the token of a provisioner on the machine of the gateway.
func provisionerToken() authn.TokenRequest {
	return authn.TokenRequest{
		Subject: resources.ServicePrefix + "provisioner", Scopes: []string{resources.ServiceScopeClusters}, TTL: provisionerTTL,
	}
}
