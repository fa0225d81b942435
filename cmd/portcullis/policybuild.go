package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

func newPolicyBuild() *cobra.Command {
	var out, revision, keyFile string
	cmd := &cobra.Command{
		Use: "build DIR", Short: "Make a bundle of a policy folder, for --policy-bundle; opa build leaves an overlay's policy.json out",
		Example: "  portcullis policy build own -o policies.tar.gz --signing-key key.pem",
		Args:    arguments(1, 1, "the policy folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := policies.Read(policies.Dir(args[0]))
			if err != nil {
				return err
			}
			tree, err := overlay.Over(folder)
			if err == nil {
				_, _, err = proof.Compile(cmd.Context(), tree)
			}
			if err != nil {
				return tellProblems(cmd, err)
			}
			var key []byte
			if keyFile != "" {
				if key, err = bundles.ReadFile(keyFile); err != nil {
					return fmt.Errorf("--signing-key: %w", err)
				}
			}
			if revision == "" {
				revision = strconv.FormatInt(time.Now().Unix(), 10) // a gateway compares the revisions of bundles
			}
			raw, err := bundles.Build(folder, revision, key)
			if err != nil {
				return err
			}
			if err := os.WriteFile(out, raw, 0o644); err != nil { //nolint:gosec // a policy is not secret
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: bundle revision %s\nnext: `portcullis policy check %[1]s`\n", out, revision)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "policies.tar.gz", "the `file` to write")
	cmd.Flags().StringVarP(&revision, "revision", "r", "", "the `revision` of the bundle, a version or a number that grows; by default the time in Unix seconds")
	cmd.Flags().StringVar(&keyFile, "signing-key", "", "the `file` of a private key (PEM: RSA, ECDSA) to sign with")
	return cmd
}
