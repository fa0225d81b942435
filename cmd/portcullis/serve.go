package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
)

func newServe() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the gateway, its handlers and the health listener", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.fill(cmd.Flags()); err != nil {
				return err
			}
			if err := s.check(); err != nil {
				return err
			}
			signal.Ignore(syscall.SIGPIPE) // a reader of the log that is gone ends no gateway
			log := observe.NewLog(cmd.ErrOrStderr(), s.logFormat, s.level)
			defer log.Close()
			if names := unknownVariables(os.Environ(), cmd.Root()); len(names) > 0 {
				log.Warn("there are no such settings: these environment variables are ignored", "names", names)
			}
			return s.serve(cmd.Context(), log, cmd)
		},
	}
	s.serveFlags(cmd.Flags())
	return cmd
}

// serve runs until ctx ends (SIGTERM) or a listener fails, then drains.
func (s *settings) serve(ctx context.Context, log *observe.Log, cmd *cobra.Command) (err error) {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	a, err := s.assemble(background, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.store.Close()) }()
	demo := false
	if s.demo {
		if demo, err = a.makeDemo(ctx); err != nil {
			return fmt.Errorf("--demo: %w", err)
		}
		if !demo {
			log.Warn("the store has accounts of its own; no demo data was made")
		}
	}
	open, err := s.open(ctx)
	if err != nil {
		return err
	}
	var draining atomic.Bool
	private := s.healthServer(a, draining.Load)
	beside := a.runBackground()
	defer beside.end() // after the last request, before the store is closed
	failed := make(chan error, len(open.edge)+2)
	for _, l := range open.edge {
		go func() { failed <- a.edge.Listen(l) }()
	}
	go func() { failed <- private.Serve(open.health) }()
	if s.policyDir != "" {
		go func() {
			if err := a.policy.Watch(background, s.policyDir); background.Err() == nil {
				failed <- fmt.Errorf("--policy-dir: watching: %w", err)
			}
		}()
	}
	log.Info("ready", append(open.addresses(), "version", version, "policy_revision", a.policy.Revision())...)
	if demo {
		lines, err := a.demoLines(ctx, open.edge[0].Addr())
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n"))
	}
	select {
	case err = <-failed:
		err = fmt.Errorf("a listener ended: %w", err)
	case <-ctx.Done():
		log.Info("stopping")
	}
	draining.Store(true)
	beside.stopMail()
	return errors.Join(err, s.stop(a, private))
}

// stop lets requests under way finish.
func (s *settings) stop(a *app, private *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.drain)
	defer cancel()
	err := a.edge.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("some requests did not end in time", "drain_timeout", s.drain)
		err = nil
	}
	return errors.Join(err, private.Close())
}

// listeners are all that a process answers on.
type listeners struct {
	// edge are those of the edge; a process behind gateways has one, a gateway two.
	edge   []net.Listener
	health net.Listener
}

// open opens all listeners or none.
func (s *settings) open(ctx context.Context) (listeners, error) {
	places := []place{{"--health-listen", s.healthListen}, {"--listen", s.listen}}
	if s.role != roleResources {
		places = append(places, place{"--users-listen", s.usersListen})
	}
	all, err := listen(ctx, places...)
	if err != nil {
		return listeners{}, err
	}
	return listeners{edge: all[1:], health: all[0]}, nil
}

// place is where to listen, and the setting that says so.
type place struct{ setting, address string }

// addresses are the fields of the log line that says where to call.
func (l listeners) addresses() []any {
	out := []any{"listen", l.edge[0].Addr().String()}
	if len(l.edge) > 1 {
		out = append(out, "users_listen", l.edge[1].Addr().String())
	}
	return append(out, "health_listen", l.health.Addr().String())
}

// listen opens all of the places or none.
func listen(ctx context.Context, places ...place) (_ []net.Listener, err error) {
	var open []net.Listener
	defer func() {
		if err != nil {
			for _, l := range open {
				_ = l.Close() // the other error is the one to tell
			}
		}
	}()
	for _, at := range places {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.address)
		if err != nil {
			return nil, fmt.Errorf("%s: can't listen on %s: %w", at.setting, at.address, err)
		}
		open = append(open, l)
	}
	return open, nil
}

// readHeaderTimeout bounds a slow client of the private listener.
const readHeaderTimeout = 5 * time.Second
