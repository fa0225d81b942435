package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
)

// misspelt is how many letters a name may differ from the one that was meant.
const misspelt = 2

// group sorts the commands for the list of --help.
func group(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []string
	}{
		{"run", "Run a gateway:", []string{"serve", "health", "bootstrap", "token", "provisioner"}},
		{"decide", "Ask for decisions, and write what decides:", []string{"check", "why", "policy"}},
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

// usageByConcern writes the usage of serve, with its flags in the groups of CONFIGURATION.md.
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

// hideAllBut hides the flags of other commands that a command reads so that one file and one environment
// serve them all.
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

// arguments refuses fewer than least and more than most arguments; what says which are wanted.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s; it was given %d (`%s --help` has more)", cmd.Name(), what, len(args), cmd.CommandPath())
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
