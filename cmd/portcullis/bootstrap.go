package main

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
)

func newBootstrap() *cobra.Command {
	settings := &config.Config{}
	var b access.Bootstrap
	cmd := &cobra.Command{
		Use: "bootstrap", Short: "Make an account, its first admin and optionally a project", Args: noArguments,
		Example: "  portcullis bootstrap --account acct-acme-v1 --name Acme --admin-email ada@acme.example --user user-ada-v1 --project proj-web-v1",
		Long: "Makes an account, its first admin and optionally a project in the data folder, and prints them as\n" +
			"JSON. A repeat changes nothing. While a server holds the data folder, use POST /api/v1/accounts instead.",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) (err error) {
			if err := refuse(settings.Validate()); err != nil {
				return err
			}
			c, err := openCore(cmd.Context(), settings, engine.Options{}, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)), nil)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.store.Close()) }()
			made, err := c.access.Bootstrap(cmd.Context(), b)
			if err != nil {
				return withProblems(err)
			}
			return printJSON(cmd.OutOrStdout(), made)
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&b.AccountID, "account", "", "the account's `id`: acct-<letters and digits>-v1")
	f.StringVar(&b.AccountName, "name", "", "the account's `name`")
	f.StringVar(&b.AdminEmail, "admin-email", "", "the e-mail `address` of the first admin")
	f.StringVar(&b.AdminID, "user", "", "the admin's external `id`: active at once; without it the admin is invited")
	f.StringVar(&b.ProjectID, "project", "", "also make a project with this `id`: proj-<letters and digits>-v1")
	return cmd
}

// withProblems returns the refusal of an area with all of its problems, by their flags.
func withProblems(err error) error {
	domain := resources.AsError(err)
	if domain.Kind == resources.KindInternal {
		return err
	}
	if len(domain.Problems) == 0 {
		return errors.New(domain.Message)
	}
	problems := slices.Clone(domain.Problems)
	for i := range problems {
		problems[i].Field = "--" + problems[i].Field
	}
	return refuse(problems)
}
