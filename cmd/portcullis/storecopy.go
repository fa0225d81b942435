package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/store/transfer"
)

// copyRequest is what `store copy` is asked for.
type copyRequest struct {
	source, target string
	// withKey copies the master key of the source's folder into the target's.
	withKey bool
}

func newCopy() *cobra.Command {
	var r copyRequest
	cmd := &cobra.Command{
		Use: "copy --from STORE --to STORE", Short: "Copy a store into an empty one: embedded to MongoDB, or back", Args: noArguments,
		Long: "Copies all records; the master key, the decision log and mail/ are files beside a store. A STORE is a data\n" +
			"folder or a mongodb:// URL. Stop the gateways of both first. A copy that was interrupted is completed by a\n" +
			"repeat; until then no gateway serves it. At the end both are compared, record by record.",
		Example: "  portcullis store copy --from ./data --to 'mongodb://h1,h2,h3/portcullis?replicaSet=rs0'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.validate(); err != nil {
				return err
			}
			digest, err := copyStore(cmd, r)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "copied and compared: %d records\n", digest.Total())
			return err
		},
	}
	cmd.Flags().StringVar(&r.source, "from", "", "the `STORE` to copy: a data folder or a mongodb:// URL")
	cmd.Flags().StringVar(&r.target, "to", "", "the empty `STORE` to copy into")
	cmd.Flags().BoolVar(&r.withKey, "with-master-key", false, "also copy the master key; both stores are data folders then")
	return cmd
}

func isURL(place string) bool {
	return strings.HasPrefix(place, "mongodb://") || strings.HasPrefix(place, "mongodb+srv://")
}

// isUnknown reports whether the text is a URL of something else: as a folder it would be made.
func isUnknown(place string) bool { return strings.Contains(place, "://") && !isURL(place) }

// sameStore reports whether two texts are the same, or name one folder.
func sameStore(source, target string) bool {
	if isURL(source) || isURL(target) {
		return source == target
	}
	a, errA := os.Stat(source)
	b, errB := os.Stat(target)
	return source == target || errA == nil && errB == nil && os.SameFile(a, b)
}

// validate returns the first thing that is wrong with the flags.
func (r copyRequest) validate() error {
	switch {
	case r.source == "" || r.target == "":
		return errors.New("--from and --to are both needed: each is a data folder or a mongodb:// URL")
	case sameStore(r.source, r.target):
		return errors.New("--from and --to name the same store")
	case isUnknown(r.source), isUnknown(r.target):
		return errors.New("--from and --to: each is a data folder, a mongodb:// or a mongodb+srv:// URL; a URL of another kind names no store")
	case r.withKey && (isURL(r.source) || isURL(r.target)):
		return errors.New("--with-master-key is for two data folders; a database has no key beside it: copy the file yourself, and name it with --master-key-file")
	}
	if !isURL(r.source) && !sqlite.Exists(r.source) {
		return fmt.Errorf("--from: there is no store in the folder %s", r.source)
	}
	if !r.withKey {
		return nil
	}
	if _, err := masterKeyFile(config.Store{DataDir: r.source}).Read(); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	return nil
}

// copyStore copies all records from one store to another and returns their digest. No gateway serves either of them.
func copyStore(cmd *cobra.Command, r copyRequest) (_ transfer.Digest, err error) {
	ctx, c := cmd.Context(), records.NewCollections()
	origin, err := openUnserved(ctx, r.source, c)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	defer func() { err = errors.Join(err, origin.Close()) }()
	if err := transfer.Complete(ctx, origin, c); err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	target, err := openUnserved(ctx, r.target, c)
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	source, err := nameOf(r.source)
	if err != nil {
		return nil, err
	}
	if r.withKey { // before the records, so that a repeat completes the copy
		if err := masterKeyFile(config.Store{DataDir: r.source}).CopyTo(r.target); err != nil {
			return nil, fmt.Errorf("--to: %w", err)
		}
	}
	return transfer.Copier{From: origin, To: target, Collections: c, Source: source, Progress: progress(cmd)}.Copy(ctx)
}

// openUnserved opens a store that no gateway serves. The data folder's lock keeps others away from an
// embedded store; a database shows who is connected.
func openUnserved(ctx context.Context, place string, c records.Collections) (store.Store, error) {
	if !isURL(place) {
		return openStore(ctx, config.Store{DataDir: place}, c, nil)
	}
	opened, err := mongodb.Open(ctx, mongodb.Options{URL: place, Schemas: c.Schemas(), Maintenance: true})
	if err != nil {
		return nil, err
	}
	if err := unserved(ctx, opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// unserved refuses a database that gateways are connected to.
func unserved(ctx context.Context, db *mongodb.Store) error {
	n, err := db.Gateways(ctx)
	if err == nil && n > 0 {
		err = fmt.Errorf("gateways are connected to the database (%d connections); stop them first", n)
	}
	return err
}

// nameOf returns a name of a store for the mark of its copy, in which no password can be.
func nameOf(place string) (string, error) {
	if isURL(place) {
		return mongodb.Name(place)
	}
	dir, err := filepath.Abs(place)
	return "folder " + dir, err
}

// progress returns a function that prints a copy's progress to standard error.
func progress(cmd *cobra.Command) func(collection string, written int) {
	return func(collection string, written int) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d records\n", collection, written)
	}
}
