package main

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
)

// build is "VERSION COMMIT". The linker sets it (Makefile, deploy/image/Dockerfile), which it can
// do with a variable only; nothing else writes it.
var build string

// version returns the version of the program.
func version() string {
	name, _, _ := strings.Cut(build, " ")
	return cmp.Or(name, installed(), "dev")
}

// installed returns the version that `go install …@version` takes, "" for a build of a checkout.
func installed() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" {
		return ""
	}
	return info.Main.Version
}

// commit returns the program's commit: the linker's, otherwise the checkout's of the build.
func commit() string {
	_, hash, _ := strings.Cut(build, " ")
	return cmp.Or(hash, buildSetting("vcs.revision"), "unknown")
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit, OPA's version and the policy revision", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tree, err := policies.Read(policies.Tree())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "portcullis %s\ncommit %s\nopa %s\npolicy %s\n",
				version(), commit(), dependency("github.com/open-policy-agent/opa"), tree.Revision)
			return err
		},
	}
}

// buildSetting returns a setting of the build, "" if it is not known.
func buildSetting(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

// dependency returns the version of a module that was built in.
func dependency(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "unknown"
}
