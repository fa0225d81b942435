package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/store/mongodb"
)

// errOwnGenerations: each start of the embedded store voids what was cached before.
var errOwnGenerations = errors.New("--mongo-url is missing: the embedded store begins a new generation at each start, and needs no command for it")

func newStoreCommand() *cobra.Command {
	parent := &cobra.Command{Use: "store", Short: "Work with the database", Args: cobra.NoArgs}
	s := &settings{}
	cmd := &cobra.Command{
		Use: "new-generation", Args: cobra.NoArgs,
		Short: "After the database was restored from a backup: make void whatever gateways have cached",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.fill(cmd.Flags()); err != nil {
				return err
			}
			generation, err := s.newGeneration(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "generation %s; start the gateways now\n", generation)
			return nil
		},
	}
	s.commonFlags(cmd.Flags())
	parent.AddCommand(cmd)
	return parent
}

func (s *settings) newGeneration(ctx context.Context) (generation string, err error) {
	if s.mongoURL == "" {
		return "", errOwnGenerations
	}
	db, err := mongodb.Open(ctx, mongodb.Options{URL: s.mongoURL})
	if err != nil {
		return "", fmt.Errorf("--mongo-url: %w", err)
	}
	generation, err = db.NewGeneration(ctx)
	return generation, errors.Join(err, db.Close())
}
