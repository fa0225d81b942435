package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy", Short: "Tools for policy authors", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		policyCommand("check [DIR|BUNDLE]", "Hold a policy tree to everything that a reload demands, and say what is wrong",
			func(s *engine.Set, tests int) string {
				others := "takes others"
				if s.Strict() {
					others = "denies others"
				}
				return fmt.Sprintf(
					"ok: policy %s; routes: %d, system roles: %d, apps: %d, tests: %d; it lists %d actions and %s",
					s.Revision(), len(s.Routes()), len(s.Roles()), len(s.Apps()), tests, len(s.Actions()), others,
				)
			}),
		policyCommand("test [DIR|BUNDLE]", "Run a policy tree's own tests as the gateway would",
			func(_ *engine.Set, tests int) string { return fmt.Sprintf("PASS: %d/%d", tests, tests) }),
	)
	return cmd
}

// policyCommand loads a tree, the embedded one where none is named, and prints its report.
func policyCommand(use, short string, tell func(*engine.Set, int) string) *cobra.Command {
	key := ""
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := readTree(args, key)
			if err != nil {
				return err
			}
			set, tests, err := proof.Prove(cmd.Context(), src)
			if err != nil {
				// One line a problem here: this is a list to work through, not a log.
				if _, werr := fmt.Fprintln(cmd.ErrOrStderr(), err); werr != nil {
					return werr
				}
				return fmt.Errorf("the policy tree is not acceptable")
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), tell(set, tests))
			return err
		},
	}
	cmd.Flags().StringVar(&key, "policy-bundle-key", "", "the `file` of the public key of a bundle's signature; an unsigned bundle is refused then")
	return cmd
}

// readTree reads the tree that is named, the embedded one where none is.
func readTree(args []string, keyFile string) (*policies.Source, error) {
	key, err := bundleKey(keyFile)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return bundles.ReadTree(bundles.Embedded, key)
	}
	return bundles.ReadTree(args[0], key)
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
