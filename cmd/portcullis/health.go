package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// errNotReady ends `health` with the code that container engines take for unhealthy.
var errNotReady = errors.New("not ready")

// healthWait is a little more than the longest of the gateway's own checks.
const healthWait = 3 * time.Second

// newHealth is for images that hold nothing but this program: no shell, no curl.
func newHealth() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use: "health", Short: "Ask the gateway of this machine whether it is ready: exit 0 ready, 1 not ready, 2 error", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.fill(cmd.Flags()); err != nil {
				return err
			}
			return s.health(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&s.configFile, "config", "", "a YAML file with the flags' names")
	cmd.Flags().StringVar(&s.healthListen, "health-listen", defaultHealthListen, "where the gateway has its health listener")
	return cmd
}

// health prints the report of readiness.
func (s *settings) health(ctx context.Context, out io.Writer) error {
	host, port, err := net.SplitHostPort(s.healthListen)
	if err != nil {
		return fmt.Errorf("--health-listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost" // it listens on every address
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz/ready", nil)
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
