package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
)

// errNotReady ends `health` with the exit code that container engines take for unhealthy.
var errNotReady = errors.New("not ready")

// healthWait is a little more than the longest of the gateway's own checks.
const healthWait = 3 * time.Second

// newHealth returns the probe of images that hold nothing but this program: no shell, no curl.
func newHealth() *cobra.Command {
	settings := &config.Config{}
	cmd := &cobra.Command{
		Use: "health", Short: "Ask the gateway of this machine whether it is ready: exit 0 ready, 1 not ready, 2 error", Args: noArguments,
		Example: "  portcullis health\n  portcullis health --health-listen 127.0.0.1:9003",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			return askReady(cmd.Context(), cmd.OutOrStdout(), settings.Listeners.Health)
		}),
	}
	settings.AddFlags(cmd.Flags(), "config", "health-listen")
	return cmd
}

// askReady prints the report of readiness of the gateway with this health listener.
func askReady(ctx context.Context, out io.Writer, listener string) error {
	host, port, err := net.SplitHostPort(listener)
	if err != nil {
		return fmt.Errorf("--health-listen: must be host:port or :port, not %q", listener)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost" // it listens on every address
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	target := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/healthz/ready"}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(out, resp.Body); err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errNotReady, resp.Status)
	}
	return nil
}
