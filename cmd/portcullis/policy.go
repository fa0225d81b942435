package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy", Short: "Tools for policy authors", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		policyCommand("check [DIR]", "Hold a policy tree to everything that a reload demands, and say what is wrong",
			func(s *engine.Set) string {
				return fmt.Sprintf("ok: policy %s with %d routes, %d system roles and %d tests", s.Revision(), len(s.Routes()), len(s.Roles()), s.Tests())
			}),
		policyCommand("test [DIR]", "Run a policy tree's own tests as the gateway would",
			func(s *engine.Set) string { return fmt.Sprintf("PASS: %d/%d", s.Tests(), s.Tests()) }),
	)
	return cmd
}

// policyCommand loads a tree, the embedded one where none is named, and prints its report.
func policyCommand(use, short string, tell func(*engine.Set) string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tree, err := policyTree(strings.Join(args, ""))
			if err != nil {
				return err
			}
			set, err := engine.Load(cmd.Context(), tree, engine.LoadOptions{})
			if err != nil {
				// One line a problem here: this is a list to work through, not a log.
				if _, werr := fmt.Fprintln(cmd.ErrOrStderr(), err); werr != nil {
					return werr
				}
				return fmt.Errorf("the policy tree is not acceptable")
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), tell(set))
			return err
		},
	}
}

// policyTree returns the tree in a folder, or the embedded one for "".
func policyTree(dir string) (fs.FS, error) {
	if dir == "" {
		return policies.Tree(), nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder that can be read", dir)
	}
	return policies.Dir(dir), nil
}
