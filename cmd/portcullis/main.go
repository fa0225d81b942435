package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
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
			"(policy diff, replay, mcp pin), nothing found (decisions); 2 an error, in one line; 3 not all could be judged (policy replay).",
		Example: "  portcullis serve --demo\n" +
			"  portcullis check --user user-bob-v1 --account acct-demo-v1 --action project:instance:read \\\n" +
			"    accounts/acct-demo-v1/projects/proj-demo-v1/instances",
		Version: version(), SilenceUsage: true, SilenceErrors: true, Args: oneOfItsCommands,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return config.RefuseEmpty(cmd.Flags()) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("portcullis {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newServe(), newToken(), newBootstrap(), newCheck(), newWhy(), newPolicy(), newMCP(), newDecisions(), newConsoleCommand(), newProvisioner(), newStore(), newKeys(), newHealth(), newVersion())
	group(root)
	return root
}

// family returns a command that only has commands.
func family(use, short string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{Use: use, Short: short, Args: oneOfItsCommands, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	parent.AddCommand(commands...)
	return parent
}

// filled returns a command's function that first fills the settings from the flags, the environment and the file.
func filled(settings *config.Config, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := settings.Fill(cmd.Flags()); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// printJSON prints a value for people.
func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// noArguments refuses arguments other than flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, and %q is one (`%s --help` lists the flags)", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}

// misspelt is how many letters a name may differ from the one that was meant.
const misspelt = 2

// group sorts the commands for the list of --help.
func group(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []string
	}{
		{"run", "Run a gateway:", []string{"serve", "health", "bootstrap", "token", "console", "provisioner"}},
		{"decide", "Ask for decisions, and write what decides:", []string{"check", "why", "policy", "mcp"}},
		{"keep", "Look after the data:", []string{"store", "keys", "decisions"}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range g.commands {
			if cmd, _, err := root.Find([]string{name}); err == nil {
				cmd.GroupID = g.id
			}
		}
	}
}

// usageByConcern writes the usage of serve, with its flags in the groups of docs/reference/configuration.md.
func usageByConcern(cmd *cobra.Command) error {
	out := cmd.OutOrStderr()
	fmt.Fprintf(out, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
	for _, concern := range new(config.Config).Concerns() {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		concern.AddFlags(flags)
		fmt.Fprintf(out, "\n%s:\n%s", concern.Title, flags.FlagUsages())
	}
	return nil
}

// hideAllBut hides the flags of other commands. A command reads them so that all commands can use one file and one
// environment.
func hideAllBut(flags *pflag.FlagSet, names ...string) {
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(names, f.Name) })
}

// oneOfItsCommands refuses what is none of the commands below, with the one that was probably meant.
func oneOfItsCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = misspelt
	return fmt.Errorf("unknown command %q%s (`%s --help` lists the commands)", args[0], meant(cmd.SuggestionsFor(args[0])), cmd.CommandPath())
}

// arguments refuses fewer than least and more than most arguments; title says which are wanted.
func arguments(least, most int, title string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s; it was given %d (`%s --help` has more)", cmd.Name(), title, len(args), cmd.CommandPath())
		}
		return nil
	}
}

// flagError returns the error of a command line, with the remedy.
func flagError(cmd *cobra.Command, err error) error {
	err = config.FlagError(err)
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		err = fmt.Errorf("%w%s", err, meant(like(unknown.GetSpecifiedName(), cmd.Flags())))
	}
	return fmt.Errorf("%w (`%s --help` lists the flags)", err, cmd.CommandPath())
}

// like returns the flags whose names are near to a name or begin with it.
func like(name string, flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		begins := len(name) > misspelt && strings.HasPrefix(f.Name, name)
		if !f.Hidden && (begins || levenshtein.ComputeDistance(name, f.Name) <= misspelt) {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// meant asks whether one of the names was meant, "" for none.
func meant(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(names, " or ") + "?"
}
