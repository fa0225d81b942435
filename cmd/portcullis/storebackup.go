package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/scratch"
	"github.com/portcullis-authz/portcullis/store/backup"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/store/transfer"
)

func newBackup() *cobra.Command {
	settings := &config.Config{}
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write the embedded store into one file, also while a server runs on it", Args: oneFile,
		Example: "  portcullis store backup --data-dir ./data 2026-11-22.backup",
		Long: "Writes the embedded store of --data-dir, as it is at one instant, into FILE, which must not exist. It\n" +
			"is checked on the way. The master key is not in it: keep that apart. With --mongo-url use MongoDB's\n" +
			"own backup.",
		RunE: filled(settings, func(cmd *cobra.Command, args []string) error {
			if settings.Store.MongoURL != "" {
				return errors.New("--mongo-url: use MongoDB's own backup (mongodump, or a snapshot of a volume), and `portcullis store new-generation` after a restore; " +
					"`portcullis store verify` checks the database")
			}
			m, err := backUp(cmd.Context(), settings.Store.DataDir, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes, epoch %d, sha256 %s; the master key is not in it\n", args[0], m.Database.Size, m.Epoch, m.Database.SHA256)
			return err
		}),
	}
	settings.AddFlags(cmd.Flags(), "config", "data-dir", "mongo-url")
	return cmd
}

// oneFile wants one argument, the name of a file.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return fmt.Errorf("%s takes one argument, the FILE (`%s --help` has the flags)", cmd.Name(), cmd.CommandPath())
	}
	return nil
}

// backUp writes the embedded store of a data folder into a new file.
func backUp(ctx context.Context, dir, file string) (m backup.Manifest, err error) {
	switch _, err := os.Lstat(file); {
	case err == nil:
		return backup.Manifest{}, fmt.Errorf("%s is there already; name a file that is not", file)
	case !errors.Is(err, fs.ErrNotExist):
		return backup.Manifest{}, fmt.Errorf("FILE: %w", err)
	}
	work, err := scratch.Make(filepath.Dir(file), tellSwept)
	if err != nil {
		return backup.Manifest{}, fmt.Errorf("FILE: %w", err)
	}
	defer func() { err = errors.Join(err, work.Remove()) }()
	copied := work.File("store.db")
	freshness, err := sqlite.Snapshot(ctx, dir, copied)
	if err != nil {
		return backup.Manifest{}, err
	}
	return backup.Write(file, work.Path, copied, backup.Manifest{
		Version: version(), MadeAt: time.Now().UTC().Truncate(time.Second), Generation: freshness.Generation, Epoch: freshness.Epoch,
	})
}

func newRestore() *cobra.Command {
	settings := &config.Config{}
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Bring a backup into an empty data folder, or into an empty database", Args: oneFile,
		Example: "  portcullis store restore --data-dir ./new 2026-11-22.backup",
		Long: "Brings a backup into the data folder, in which nothing may be but the master key, or with --mongo-url\n" +
			"into an empty database. All that gateways have cached is void then. The master key of the time of the\n" +
			"backup is needed to start.",
		RunE: filled(settings, func(cmd *cobra.Command, args []string) error {
			next, err := restore(cmd, args[0], settings.Store)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "restored; "+next)
			return err
		}),
	}
	settings.AddFlags(cmd.Flags(), "config", "data-dir", "mongo-url")
	return cmd
}

// restore brings a backup into the data folder or the database, and returns what to do next.
func restore(cmd *cobra.Command, file string, s config.Store) (next string, err error) {
	next = "bring the master key of that time, and start"
	if s.MongoURL != "" {
		return next, restoreDatabase(cmd, file, s.MongoURL)
	}
	if err := restoreFolder(cmd.Context(), file, s.DataDir); err != nil || !masterkey.Exists(s.DataDir) {
		return next, err
	}
	return holdKey(cmd.Context(), s.DataDir)
}

// restoreFolder brings a backup into a data folder without a store.
func restoreFolder(ctx context.Context, file, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	work, err := scratch.Make(dir, tellSwept)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	defer func() { err = errors.Join(err, work.Remove()) }()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	for _, e := range entries {
		switch e.Name() {
		case masterkey.FileName, sqlite.LockName, filepath.Base(work.Path):
		default:
			return fmt.Errorf("--data-dir: the folder %s holds %s; a backup is restored into an empty folder, or one with the master key alone", dir, e.Name())
		}
	}
	_, database, err := backup.Read(file, work.Path)
	if err != nil {
		return err
	}
	return sqlite.Restore(ctx, database, dir)
}

// holdKey compares the master key in a data folder with the store restored there, and returns what to do next.
func holdKey(ctx context.Context, dir string) (next string, err error) {
	s, c := config.Store{DataDir: dir}, records.NewCollections()
	master, err := masterKeyFile(s).Read()
	if err != nil {
		return "", err
	}
	opened, err := openStore(ctx, s, c, nil)
	if err != nil {
		return "", err
	}
	err = errors.Join(masterkey.KnowsStore(ctx, opened, c, master), opened.Close())
	if errors.Is(err, masterkey.ErrOtherKey) {
		return fmt.Sprintf("bring the master key of that time in the place of the one in the folder, and start: %v", err), nil
	}
	return "start: the folder has the master key of the store", err
}

// restoreDatabase copies a backup into an empty database that no gateway serves.
func restoreDatabase(cmd *cobra.Command, file, url string) (err error) {
	ctx, c := cmd.Context(), records.NewCollections()
	m, source, closeFrom, err := openBackup(ctx, file, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFrom()) }()
	target, err := openUnserved(ctx, url, c)
	if err != nil {
		return fmt.Errorf("--mongo-url: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = transfer.Copier{
		From: source, To: target, Collections: c, Source: "backup " + m.Database.SHA256, Progress: progress(cmd),
	}.Copy(ctx)
	return err
}
