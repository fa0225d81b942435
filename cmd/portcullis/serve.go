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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/resources"
)

func newServe() *cobra.Command {
	settings := &config.Config{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the gateway, its handlers and the health listener", Args: noArguments,
		Example: "  portcullis serve --demo\n" +
			"  portcullis serve --data-dir /var/lib/portcullis --policy-dir ./policies --listen :8080\n" +
			"  portcullis serve --config /etc/portcullis/config.yaml",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			if settings.Demo && !cmd.Flags().Changed("console-listen") {
				settings.Listeners.Console = config.DemoConsole
			}
			if err := refuse(settings.Validate()); err != nil {
				return err
			}
			format := settings.Log.Format
			if settings.Demo && !cmd.Flags().Changed("log-format") && isTerminal(cmd.ErrOrStderr()) {
				format = observe.FormatText
			}
			log := serverLog(cmd, format, settings)
			defer log.Close()
			if names := unknownVariables(os.Environ(), cmd.Root()); len(names) > 0 {
				log.Warn("there are no such settings: these environment variables are ignored", "names", names)
			}
			err := serve(cmd, settings, log)
			if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
				return nil // it was stopped before it was ready
			}
			return err
		}),
	}
	settings.AddFlags(cmd.Flags())
	cmd.SetUsageFunc(usageByConcern)
	return cmd
}

// serverLog makes the log of a serving process. The end of the log's reader does not end the process.
func serverLog(cmd *cobra.Command, format string, settings *config.Config) *observe.Log {
	signal.Ignore(syscall.SIGPIPE)
	return observe.NewLog(cmd.ErrOrStderr(), format, settings.Log.Level())
}

// refuse returns one error that names every problem, nil for none.
func refuse(problems []resources.Problem) error {
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return errors.New(problems[0].String())
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = fmt.Sprintf("(%d) %s", i+1, p)
	}
	return fmt.Errorf("%d problems: %s", len(problems), strings.Join(texts, "; "))
}

// unknownVariables returns the environment variables with a setting's prefix but no flag in any
// command.
func unknownVariables(environment []string, root *cobra.Command) []string {
	var all []*pflag.FlagSet
	commands := []*cobra.Command{root}
	for len(commands) > 0 {
		all = append(all, commands[0].Flags())
		commands = append(commands[1:], commands[0].Commands()...)
	}
	return config.UnknownVariables(environment, all...)
}

// serve runs until the command's context ends (SIGTERM) or a listener fails, then drains.
func serve(cmd *cobra.Command, settings *config.Config, log *observe.Log) (err error) {
	ctx := cmd.Context()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	hangups, giveBack := catchHangups()
	defer giveBack()
	desk, err := openDesk(ctx, settings)
	if err != nil {
		return err
	}
	defer desk.close()
	a, err := assemble(background, settings, log)
	if err != nil {
		return err
	}
	started := false
	defer func() {
		if started || ctx.Err() != nil {
			log.Always("stopped", "served", a.served.Load())
		}
	}()
	defer func() { err = errors.Join(err, a.close()) }()
	hasDemo, err := makeDemo(ctx, a)
	if err != nil {
		return fmt.Errorf("--demo: %w", err)
	}
	open, err := openListeners(ctx, settings)
	if err != nil {
		return err
	}
	logSettings(settings, cmd.Flags(), log)
	if err := a.warnWithoutAccounts(ctx); err != nil {
		return err
	}
	desk.serve(a, open, hasDemo)
	var draining atomic.Bool
	private := a.newPrivate(draining.Load).Server()
	site, err := a.newConsole(ctx, open, hasDemo)
	if err != nil {
		return errors.Join(err, open.close())
	}
	jobs := a.runBackground()
	defer jobs.end() // after the last request, before the store is closed
	started = true
	failed := a.listen(background, open, private, site, hangups)
	log.Always("ready", append(open.addresses(), "tls", settings.Listeners.HasTLS(), "version", version(), "policy_revision", a.policy.Revision())...)
	if hasDemo {
		if err := (demoGuide{a, open, site, desk}).show(ctx, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		log.Info("stopping", "shutdown_delay", settings.Limits.Delay.String())
	}
	draining.Store(true)
	if err == nil {
		err = a.leave(failed)
	}
	jobs.stopMail()
	return errors.Join(err, a.drain(private, site))
}

// logSettings logs the settings in force, and warns of those that a production would not want.
func logSettings(settings *config.Config, flags *pflag.FlagSet, log *observe.Log) {
	log.Info("settings", settings.InForce(flags)...)
	for _, warning := range settings.Warnings(flags) {
		log.Warn(warning)
	}
}

// listen answers on all listeners and watches the policy tree. The channel tells the first
// failure.
func (a *app) listen(ctx context.Context, open listeners, private *http.Server, site *consoleServer, h hangups) <-chan error {
	failed := make(chan error, len(open.edge)+7)
	if open.extAuthz != nil {
		go func() { failed <- listenerEnded(a.checks.Serve(a.edge.Listener(open.extAuthz, "h2"))) }()
	}
	for _, l := range open.edge {
		go func() { failed <- listenerEnded(a.edge.Listen(l)) }()
	}
	go func() { failed <- listenerEnded(private.Serve(open.health)) }()
	if site != nil {
		go func() { failed <- listenerEnded(a.edge.ListenInside(site.edge)) }()
		go func() { failed <- listenerEnded(private.Serve(site.operators)) }()
		go func() { failed <- listenerEnded(site.server.Serve(a.edge.Listener(open.console, "http/1.1"))) }()
	}
	if a.certificates != nil {
		go a.certificates.Watch(ctx, h.certificates, a.certificatesReloaded)
	}
	go a.followHangups(ctx, h)
	if a.shadow != nil {
		go a.shadow.Run(ctx)
	}
	if a.feed != nil {
		go func() {
			if err := a.feed.Follow(ctx, a.policy, h.policy); ctx.Err() == nil {
				failed <- fmt.Errorf("--policy-bundle: following: %w", err)
			}
		}()
	}
	if dir := a.settings.Policy.Dir; dir != "" {
		go func() {
			if err := a.policy.Watch(ctx, dir, h.policy); ctx.Err() == nil {
				failed <- fmt.Errorf("--policy-dir: watching: %w", err)
			}
		}()
	}
	return failed
}

func listenerEnded(err error) error { return fmt.Errorf("a listener ended: %w", err) }

// listeners are all listeners of a process.
type listeners struct {
	// edge has one listener in a process behind gateways, and two in a gateway.
	edge   []net.Listener
	health net.Listener
	// extAuthz and console are nil if they are not configured.
	extAuthz, console net.Listener
}

// close closes all of them.
func (l listeners) close() error {
	var errs []error
	for _, one := range append(l.edge, l.health, l.extAuthz, l.console) {
		if one != nil {
			errs = append(errs, one.Close())
		}
	}
	return errors.Join(errs...)
}

// addresses returns the fields of the log line with the addresses.
func (l listeners) addresses() []any {
	out := []any{"listen", l.edge[0].Addr().String()}
	if len(l.edge) > 1 {
		out = append(out, "users_listen", l.edge[1].Addr().String())
	}
	if l.extAuthz != nil {
		out = append(out, "ext_authz_listen", l.extAuthz.Addr().String())
	}
	if l.console != nil {
		out = append(out, "console_listen", l.console.Addr().String())
	}
	return append(out, "health_listen", l.health.Addr().String())
}

// openListeners opens all listeners or none.
func openListeners(ctx context.Context, settings *config.Config) (listeners, error) {
	var all listeners
	for _, listener := range settings.Listeners.All(settings.Areas.BehindGateways()) {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listener.Address)
		if err != nil {
			_ = all.close() // the first error is reported
			return listeners{}, fmt.Errorf("%s: can't listen on %s: %w", listener.Flag, listener.Address, err)
		}
		switch listener.Flag {
		case "--health-listen":
			all.health = l
		case "--ext-authz-listen":
			all.extAuthz = l
		case "--console-listen":
			all.console = l
		default:
			all.edge = append(all.edge, l)
		}
	}
	return all, nil
}
