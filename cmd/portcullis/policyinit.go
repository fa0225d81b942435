package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
)

func newPolicyInit() *cobra.Command {
	return &cobra.Command{
		Use: "init DIR", Short: "Write the embedded policy tree into a new folder, as a start for one of your own",
		Example: "  portcullis policy init own",
		Args:    arguments(1, 1, "the folder to make"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			files, err := writeTree(dir)
			if err != nil {
				return err
			}
			src, err := policies.Read(policies.Dir(dir))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files in %s: policy %s\n"+
				"next: edit %s (see docs/author/rules.md), then `portcullis policy test %[2]s` and `portcullis policy check %[2]s`\n",
				files, dir, src.Revision, filepath.Join(dir, "authz"))
			return err
		},
	}
}

// writeTree writes the embedded tree into a folder that is not there or empty. Others may read it, and not write.
func writeTree(dir string) (files int, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return 0, fmt.Errorf("%s is not empty, and nothing in it is overwritten: name a new folder", dir)
	case err != nil && !os.IsNotExist(err):
		return 0, fmt.Errorf("%s can't be a policy folder: %w; name a new folder", dir, err)
	}
	err = fs.WalkDir(policies.Tree(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(at, 0o755) //nolint:gosec // a policy is not secret
		}
		text, err := fs.ReadFile(policies.Tree(), name)
		if err != nil {
			return err
		}
		files++
		return os.WriteFile(at, text, 0o644) //nolint:gosec // a policy is not secret
	})
	return files, err
}
