package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/scratch"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/backup"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// errDamaged ends `store verify` with the exit code of damage.
var errDamaged = errors.New("the store is damaged")

func newVerify() *cobra.Command {
	settings := &config.Config{}
	cmd := &cobra.Command{
		Use: "verify [FILE]", Short: "Check a backup, the embedded store or a database, also while servers run on it", Args: arguments(0, 1, "one FILE at most"),
		Example: "  portcullis store verify 2026-11-22.backup",
		Long: "Checks the pages of the file, that every record can be read, that what it names is there, revisions,\n" +
			"and that each account has an admin. It changes nothing. Exit 0: good; 1: damage, a line for each fault;\n" +
			"2: it could not look.",
		RunE: filled(settings, func(cmd *cobra.Command, args []string) error {
			verified, err := verifyStore(cmd.Context(), settings.Store, args)
			if errors.Is(err, sqlite.ErrCorrupt) || errors.Is(err, backup.ErrDamaged) {
				return fmt.Errorf("%w: %w", errDamaged, err)
			}
			if err != nil {
				return err
			}
			return tellVerified(cmd.OutOrStdout(), verified, remedy(settings.Store, args))
		}),
	}
	settings.AddFlags(cmd.Flags(), "config", "data-dir", "mongo-url")
	return cmd
}

// verifyStore checks a backup that is named, or else the store of the settings.
func verifyStore(ctx context.Context, s config.Store, args []string) (verified records.Verified, err error) {
	c := records.NewCollections()
	var opened store.Store
	var shut func() error
	if len(args) == 1 {
		_, opened, shut, err = openBackup(ctx, args[0], c)
	} else {
		opened, shut, err = openBeside(ctx, s, c)
	}
	if err != nil {
		return records.Verified{}, err
	}
	verified, err = c.Verify(ctx, opened)
	return verified, errors.Join(err, shut())
}

// openBeside opens the store for a command that reads it beside gateways: the database, or a copy of the embedded store.
func openBeside(ctx context.Context, s config.Store, c records.Collections) (opened store.Store, shut func() error, err error) {
	if s.MongoURL == "" {
		return openSnapshot(ctx, s.DataDir, c)
	}
	if opened, err = inspectStore(ctx, s, c); err != nil {
		return nil, nil, err
	}
	return opened, opened.Close, nil
}

// openBackup opens the store in a backup file, in a folder of its own that the returned function removes.
func openBackup(ctx context.Context, file string, c records.Collections) (m backup.Manifest, opened store.Store, shut func() error, err error) {
	work, err := workFolder()
	if err != nil {
		return m, nil, nil, err
	}
	m, database, err := backup.Read(file, work.Path)
	if err == nil {
		opened, shut, err = openCopy(ctx, database, work, c)
	}
	if err != nil {
		return m, nil, nil, errors.Join(err, work.Remove())
	}
	return m, opened, shut, nil
}

// openSnapshot opens a copy of the embedded store of a data folder.
func openSnapshot(ctx context.Context, dir string, c records.Collections) (opened store.Store, shut func() error, err error) {
	work, err := workFolder()
	if err != nil {
		return nil, nil, err
	}
	copied := work.File("store.db")
	if _, err = sqlite.Snapshot(ctx, dir, copied); err == nil {
		opened, shut, err = openCopy(ctx, copied, work, c)
	}
	if err != nil {
		return nil, nil, errors.Join(err, work.Remove())
	}
	return opened, shut, nil
}

// workFolder makes a folder for a copy of a store.
func workFolder() (scratch.Folder, error) {
	work, err := scratch.Make("", tellSwept)
	if err != nil {
		return work, fmt.Errorf("there is no folder for a copy of the store; name one in TMPDIR: %w", err)
	}
	return work, nil
}

// tellSwept prints the removal of a killed command's folder to standard error.
func tellSwept(path string) {
	fmt.Fprintf(observe.Printable(os.Stderr), "removed %s, which a killed command had left\n", path)
}

// openCopy opens a database file in the folder work, which the returned function removes.
func openCopy(ctx context.Context, database string, work scratch.Folder, c records.Collections) (store.Store, func() error, error) {
	dir := work.File("data")
	if err := sqlite.Restore(ctx, database, dir); err != nil {
		return nil, nil, err
	}
	opened, err := sqlite.Open(ctx, sqlite.Options{Dir: dir, Schemas: c.Schemas()})
	if err != nil {
		return nil, nil, err
	}
	return opened, func() error { return errors.Join(opened.Close(), work.Remove()) }, nil
}

// remedy returns what helps against damage of the backup that is named, or else of the store of the settings.
func remedy(s config.Store, args []string) string {
	switch {
	case len(args) == 1:
		return "take another backup (`portcullis store backup`), or an older one"
	case s.MongoURL != "":
		return "restore the database's own backup (docs/operate/store.md)"
	}
	return "restore a backup (`portcullis store restore`)"
}

// tellVerified writes the result of a check, and returns errDamaged with the remedy for damage.
func tellVerified(w io.Writer, verified records.Verified, remedy string) error {
	w = observe.Printable(w)
	for _, fault := range verified.Damage {
		fmt.Fprintln(w, fault)
	}
	faults, all := len(verified.Damage)+verified.More, 0
	for _, n := range verified.Records {
		all += n
	}
	if faults > 0 {
		return fmt.Errorf("%w: %d faults in %d records; %s", errDamaged, faults, all, remedy)
	}
	fmt.Fprintf(w, "good: %d records of %d accounts\n", all, verified.Records["accounts"])
	return nil
}
