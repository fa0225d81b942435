package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

func newPolicyInit() *cobra.Command {
	whole := false
	cmd := &cobra.Command{
		Use: "init DIR", Short: "Write a first policy of your own into a new folder: it adds to the tree of this program",
		Example: "  portcullis policy init own",
		Args:    arguments(1, 1, "the folder to make"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			tree, edit := overlay.Start(), filepath.Join(dir, "authz", "own_keys.rego")
			if whole {
				tree, edit = policies.Tree(), filepath.Join(dir, "authz")
			}
			files, err := filesOf(tree)
			if err == nil {
				err = writeFiles(dir, files)
			}
			if err != nil {
				return err
			}
			src, err := overlay.Read(policies.Dir(dir))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files in %s: policy %s\n"+
				"next: edit %s (see docs/author/write.md), then `portcullis policy test %[2]s` and `portcullis policy check %[2]s`\n",
				len(files), dir, src.Revision, edit)
			return err
		},
	}
	cmd.Flags().BoolVar(&whole, "whole", false, "write a copy of the whole tree instead, which an upgrade of the program does not change")
	return cmd
}

// filesOf returns the contents of a tree by their names.
func filesOf(tree fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = fs.ReadFile(tree, name)
		}
		return err
	})
	return files, err
}

// writeFiles writes files into a folder that is not there or empty. Others may read them, and not write.
func writeFiles(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("%s is not empty, and nothing in it is overwritten: name a new folder", dir)
	case err != nil && !os.IsNotExist(err):
		return fmt.Errorf("%s can't be a policy folder: %w; name a new folder", dir, err)
	}
	for name, text := range files {
		if err := policies.WriteFile(dir, name, text); err != nil {
			return err
		}
	}
	return nil
}

func newPolicyExport() *cobra.Command {
	return &cobra.Command{
		Use: "export DIR OUT", Short: "Write the tree that a folder makes with the base as plain files, for OPA's own commands",
		Example: "  portcullis policy export own out",
		Args:    arguments(2, 2, "the policy folder, and the folder to make"),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := overlay.Read(policies.Dir(args[0]))
			if err != nil {
				return tellProblems(cmd, err)
			}
			return exported(cmd, args[1], overlay.Export(src))
		},
	}
}

func newPolicyBase() *cobra.Command {
	return &cobra.Command{
		Use: "base OUT", Short: "Write the tree of this program, the base of overlays, into a new folder",
		Example: "  portcullis policy base out",
		Args:    arguments(1, 1, "the folder to make"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := filesOf(policies.Tree())
			if err != nil {
				return err
			}
			return exported(cmd, args[0], files)
		},
	}
}

func exported(cmd *cobra.Command, dir string, files map[string][]byte) error {
	if err := writeFiles(dir, files); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d files in %s\n", len(files), dir)
	return err
}

func newPolicyReplace() *cobra.Command {
	return &cobra.Command{
		Use: "replace NAME DIR", Short: "Prepare to replace a part of the base: copy it into a policy folder, and note its revision",
		Long: `Prepare to replace a part of the base. A part is authz/<file>.rego, grants/<role>, routes/<row>, reason_texts/<code>
or mcp/<server>/data.json. The command copies the base's into the folder, unless the folder has one of its own, and
writes its revision into policy.json. After an upgrade that changes the part, "policy check" and the start of the gateway show what is different.`,
		Example: "  portcullis policy replace grants/project_reader own",
		Args:    arguments(2, 2, "the name of a part of the base, and the policy folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := policies.Read(policies.Dir(args[1]))
			if err != nil {
				return err
			}
			base, err := policies.Read(policies.Tree())
			if err != nil {
				return err
			}
			changed, err := overlay.Replace(base, source, args[0])
			if err != nil {
				return err
			}
			for name, text := range changed {
				if err := policies.WriteFile(args[1], name, text); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s now replaces %s of the base: edit %s, then `portcullis policy check %[1]s`\n",
				args[1], args[0], strings.Join(edited(changed, args[1]), ", "))
			return err
		},
	}
}

// edited returns the names of the written files without the manifest, or the manifest alone if nothing else was written.
func edited(files map[string][]byte, dir string) (names []string) {
	for name := range files {
		if name != overlay.ManifestFile || len(files) == 1 {
			names = append(names, path.Join(dir, name))
		}
	}
	return names
}

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
			if err := writeBundle(out, raw); err != nil {
				return err
			}
			next := "portcullis policy check "
			if keyFile != "" {
				next += "--policy-bundle-key PUBLIC-KEY "
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: bundle revision %s\nnext: `%s%[1]s`\n", out, revision, next)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "policies.tar.gz", "the `file` to write")
	cmd.Flags().StringVarP(&revision, "revision", "r", "", "the `revision` of the bundle, a version or a number that grows; by default the time in Unix seconds")
	cmd.Flags().StringVar(&keyFile, "signing-key", "", "the `file` of a private key (PEM: RSA, ECDSA) to sign with")
	return cmd
}

// writeBundle writes a bundle in one step: a gateway may be following the file.
func writeBundle(file string, raw []byte) error {
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--output: %s is there, and is no regular file: name another one", file)
	}
	return policies.WriteFile(filepath.Dir(file), filepath.Base(file), raw)
}
