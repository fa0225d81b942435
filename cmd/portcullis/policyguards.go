package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// askGuards has the guards of the tree in force judge the next one, and says how long that took.
func (a *app) askGuards(ctx context.Context, inForce, next *engine.Set) error {
	if !guards.Guarded(inForce) {
		return nil
	}
	began := time.Now()
	err := guards.Check(ctx, inForce, next)
	a.log.Info("guards asked about a policy change", "policy_revision", next.Revision(), "passed", err == nil,
		"duration_ms", time.Since(began).Milliseconds())
	return err
}

// checkAgainst adds the guards of another tree to `policy check`.
func checkAgainst(cmd *cobra.Command, tree *treeArgument) {
	check := cmd.RunE
	var url string
	cmd.Flags().StringVar(&tree.other, "against", "", "have the guards of this `tree` judge the change as well: a folder, embedded, or live (--url)")
	cmd.Flags().StringVar(&url, "url", defaultPrivateURL, "the private listener of the gateway whose tree is live")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		other := tree.other
		if other != liveTreeName && cmd.Flags().Changed("url") {
			return errors.New("--url is for --against live: add that, or leave the URL out")
		}
		if err := check(cmd, args); err != nil || other == "" {
			return err
		}
		var sets [2]*engine.Set
		for i, read := range []func() (*policies.Source, error){
			func() (*policies.Source, error) { return readTree(cmd.Context(), other, url, tree.key) }, tree.read,
		} {
			src, err := read()
			if err != nil {
				return err
			}
			if sets[i], _, err = proof.Compile(cmd.Context(), src); err != nil {
				return fmt.Errorf("%s does not compile: %w", []string{other, tree.where}[i], err)
			}
		}
		if !guards.Guarded(sets[0]) {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "ok: policy %s has no guards\n", sets[0].Revision())
			return err
		}
		if err := guards.Check(cmd.Context(), sets[0], sets[1]); err != nil {
			if _, werr := fmt.Fprintln(cmd.ErrOrStderr(), err); werr != nil {
				return werr
			}
			return errors.New("the guards refuse the change")
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "ok: the guards of policy %s take it\n", sets[0].Revision())
		return err
	}
}
