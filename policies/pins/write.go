package pins

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// Check compiles the tree with the changed files. It returns the problems in the server's files: what the folder has
// besides may be unfinished.
func (c *Files) Check(ctx context.Context, src *policies.Source) error {
	all := maps.Clone(src.Files)
	maps.Copy(all, c.Changed())
	merged, err := overlay.Over(policies.FromBundle(all, ""))
	if err == nil {
		_, _, err = proof.Compile(ctx, merged)
	}
	if err == nil {
		return nil
	}
	var wrong []error
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if strings.HasPrefix(line, serverFolder+"/"+c.Server.Name+"/") {
			wrong = append(wrong, errors.New(line))
		}
	}
	return errors.Join(wrong...)
}

// Write writes the changed files into the folder, each in one step: a gateway may be reading the folder. The rows come first,
// since a schema without its row is refused.
func (c *Files) Write(dir string) error {
	files := c.Changed()
	for _, name := range []string{c.RowsFile, c.schemasFile} {
		if text, changed := files[name]; changed {
			if err := policies.WriteFile(dir, name, text); err != nil {
				return err
			}
		}
	}
	return nil
}
