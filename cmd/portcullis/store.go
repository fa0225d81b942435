package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/store/mongodb"
)

func newStore() *cobra.Command {
	return family("store", "Work with the database", newBackup(), newRestore(), newVerify(), newCopy(), newStoreGeneration())
}

func newStoreGeneration() *cobra.Command {
	settings := &config.Config{}
	cmd := &cobra.Command{
		Use: "new-generation", Args: noArguments,
		Example: "  portcullis store new-generation --mongo-url 'mongodb://db1,db2,db3/portcullis?replicaSet=rs0' --master-key-file master.key",
		Short:   "Void everything that gateways have cached, after the database was restored from a backup",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			generation, err := newGeneration(cmd.Context(), settings.Store.MongoURL)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "generation %s; start the gateways now\n", generation)
			return nil
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	return cmd
}

// newGeneration voids the cached values of a database that no gateway serves. Each start of the embedded store does
// so by itself.
func newGeneration(ctx context.Context, url string) (generation string, err error) {
	if url == "" {
		return "", errors.New("--mongo-url is missing: the embedded store begins a new generation at each start, and needs no command for it")
	}
	db, err := mongodb.Open(ctx, mongodb.Options{URL: url, Maintenance: true, Inspect: true})
	if err != nil {
		return "", fmt.Errorf("--mongo-url: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := unserved(ctx, db); err != nil {
		return "", fmt.Errorf("--mongo-url: %w", err)
	}
	return db.NewGeneration(ctx)
}
