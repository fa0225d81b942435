package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

func newPolicy() *cobra.Command {
	return family("policy", "Tools for policy authors", newReplay(), newPolicyCheck(), newPolicyTest(), newPolicyInit(), newPolicyReplace(),
		newPolicyExport(), newPolicyBase(), newPolicyBuild(), newPolicyDiff(), newPolicyAsk())
}

// treeArgument is a command's tree: a folder or a bundle, by default the embedded one.
type treeArgument struct {
	where, keyFile string
	key            *bundles.Key
	// other is the tree whose guards judge the change.
	other string
}

const bundleKeyUsage = "the `file` of the public key of a bundle's signature; an unsigned bundle is refused then"

func (a *treeArgument) flags(cmd *cobra.Command) {
	cmd.Args = arguments(0, 1, "one policy tree at most")
	cmd.Flags().StringVar(&a.keyFile, "policy-bundle-key", "", bundleKeyUsage)
}

// fill takes what the command was given.
func (a *treeArgument) fill(args []string) (err error) {
	a.where = bundles.Embedded
	if len(args) > 0 {
		a.where = args[0]
	}
	a.key, err = bundleKey(a.keyFile)
	return err
}

func (a *treeArgument) read() (*policies.Source, error) {
	if isBundle(a.other) && !isBundle(a.where) {
		return bundles.ReadTree(a.where, nil) // the key is for the other tree
	}
	return bundles.ReadTree(a.where, a.key)
}

// errTree ends a command after its problems were printed.
var errTree = errors.New("the policy tree is not acceptable")

// tellProblems prints the problems of a tree, one a line: this is a list to work through, not a log. A command that was
// interrupted has found none.
func tellProblems(cmd *cobra.Command, err error) error {
	if cmd.Context().Err() != nil {
		return context.Cause(cmd.Context())
	}
	if problemsOf(err) == nil {
		return err
	}
	if _, err := fmt.Fprintln(cmd.ErrOrStderr(), err); err != nil {
		return err
	}
	return errTree
}

// problemsOf returns the problems of a tree, nil for any other error.
func problemsOf(err error) []string {
	if problems, ok := errors.AsType[proof.Problems](err); ok {
		return problems
	}
	unmerged, _ := errors.AsType[overlay.Problems](err)
	return unmerged
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
