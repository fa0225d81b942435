package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/resources"
)

// Exit codes of the commands.
const (
	exitOK       = 0
	exitDenied   = 1
	exitNotReady = 1
	exitDamaged  = 1
	exitError    = 2
	exitUnjudged = 3
)

// errDenied ends `check` and `why` with the exit code of a denial and without a message.
var errDenied = errors.New("denied")

func main() { os.Exit(run(os.Args[1:])) }

// run runs the command and returns its exit code. It prints the error, but for one that says no: denied, differs, nothing.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx) // the signal
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDenied), errors.Is(err, errDiffers), errors.Is(err, errNothing):
		return exitDenied
	case errors.Is(err, errUnjudged):
		return exitUnjudged
	}
	fmt.Fprintln(observe.Printable(os.Stderr), "portcullis: "+resources.OneLine(err.Error()))
	if errors.Is(err, errNotReady) {
		return exitNotReady
	}
	if errors.Is(err, errDamaged) {
		return exitDamaged
	}
	return exitError
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "portcullis",
		Short: "A policy-engine-centred authorization gateway",
		Long: "Portcullis decides with Rego whether a user may do an action on a path, and guards\n" +
			"the services behind it with the same decision.\n\n" +
			"Exit codes: 0 done, allowed, ready; 1 denied (check, why), not ready (health), damage (verify), differences\n" +
			"(policy diff, replay), nothing found (decisions); 2 an error, in one line; 3 not all could be judged (policy replay).",
		Example: "  portcullis serve --demo\n" +
			"  portcullis check --user user-bob-v1 --account acct-demo-v1 --action project:instance:read \\\n" +
			"    accounts/acct-demo-v1/projects/proj-demo-v1/instances",
		Version: version(), SilenceUsage: true, SilenceErrors: true, Args: oneOfItsCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("portcullis {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newServe(), newToken(), newBootstrap(), newCheck(), newWhy(), newPolicy(), newDecisions(), newProvisioner(), newStore(), newKeys(), newHealth(), newVersion())
	group(root)
	return root
}

// noArguments refuses arguments that are no flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, and %q is one (`%s --help` lists the flags)", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}
