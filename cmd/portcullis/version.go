package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// version and commit are set by the build (Makefile).
var (
	version = "dev"
	commit  = "unknown"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit, OPA's version and the policy revision", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := engine.Load(cmd.Context(), policies.Tree(), engine.LoadOptions{})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "portcullis %s\ncommit %s\nopa %s\npolicy %s\n",
				version, commit, dependency("github.com/open-policy-agent/opa"), set.Revision())
			return err
		},
	}
}

// dependency is the version of a module that was built in.
func dependency(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}
