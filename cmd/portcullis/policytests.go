package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

// watchEvery is how often `policy test --watch` looks at the tree; a change must be the same at two looks.
const watchEvery = 300 * time.Millisecond

var errTests = errors.New("not all tests pass, or they cover too little")

func newPolicyTest() *cobra.Command {
	var tree treeArgument
	var run proof.TestRun
	watch := false
	cmd := &cobra.Command{
		Use: "test [DIR|BUNDLE]", Short: "Run a policy tree's own tests, and show what failed with the values that made it fail",
		Example: "  portcullis policy test --run test_project_is_not own",
		Long: "Runs the tests of a policy tree with OPA's own runner and prints what `opa test` prints. Of each test that\n" +
			"fails it shows the expression that did not hold, with the values of its variables. Exit 0 all passed, 2 else.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := tree.fill(args); err != nil {
				return err
			}
			if !(run.Threshold >= 0 && run.Threshold <= 100) { // which NaN is not
				return fmt.Errorf("--threshold: must be from 0 to 100, not %g", run.Threshold)
			}
			if watch {
				return watchTests(cmd, &tree, run)
			}
			src, err := tree.read()
			if err != nil {
				return err
			}
			return runTests(cmd, src, run)
		},
	}
	tree.flags(cmd)
	f := cmd.Flags()
	f.StringVarP(&run.Run, "run", "r", "", "run the tests whose name, as data.authz_test.test_x, has a match of this `regexp`")
	f.BoolVarP(&run.Verbose, "verbose", "v", false, "name the tests that pass, too, and show how those that fail were evaluated")
	f.BoolVarP(&run.Coverage, "coverage", "c", false, "name the lines that no test reaches")
	f.Float64Var(&run.Threshold, "threshold", 0, "fail where the tests cover less than these `percent`")
	f.BoolVarP(&watch, "watch", "w", false, "run them again whenever the tree changes, until interrupted")
	return cmd
}

func runTests(cmd *cobra.Command, src *policies.Source, run proof.TestRun) error {
	passed, err := run.Tests(cmd.Context(), src, cmd.OutOrStdout())
	if err != nil {
		return tellProblems(cmd, err)
	}
	if !passed {
		return errTests
	}
	return nil
}

// watchTests runs the tests of each state of the tree that two looks found, until the command's context ends.
func watchTests(cmd *cobra.Command, tree *treeArgument, run proof.TestRun) error {
	ctx := cmd.Context()
	look := time.NewTicker(watchEvery)
	defer look.Stop()
	judged, seen := "", ""
	for {
		src, state := lookAt(tree)
		if state != judged && state == seen {
			judged = state
			err := errors.New(state)
			if src != nil {
				err = runTests(cmd, src, run)
			}
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil
			}
			if err != nil && !errors.Is(err, errTests) {
				fmt.Fprintln(cmd.ErrOrStderr(), resources.OneLine(err.Error()))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\nWatching for changes ...\n", strings.Repeat("*", 80))
		}
		seen = state
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// lookAt reads the tree; its state is the revision, or why it can't be read.
func lookAt(tree *treeArgument) (src *policies.Source, state string) {
	src, err := tree.read()
	if err != nil {
		return nil, err.Error()
	}
	return src, src.Revision
}

// isBundle says whether a tree is named by the file of a bundle.
func isBundle(where string) bool {
	info, err := os.Stat(where)
	return err == nil && info.Mode().IsRegular()
}
