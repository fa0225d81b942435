package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/resources"
)

func newWhy() *cobra.Command {
	settings := &config.Config{}
	var q question
	var facts string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "why PATH", Short: "Say why a decision is what it is, and what would change it: exit 0 allowed, 1 denied, 2 error",
		Example: "  portcullis why --user user-bob-v1 --account acct-demo-v1 --action project:instance:create \\\n" +
			"    accounts/acct-demo-v1/projects/proj-demo-v1/instances",
		Long: "Asks a running gateway to explain a decision: what speaks for and against it, and the smallest\n" +
			"changes after which the same question is allowed. With --facts it asks about a made-up world,\n" +
			"without a gateway, by the embedded policy tree or that of --policy-dir or --policy-bundle.",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case facts != "" && len(args) > 0:
				return fmt.Errorf("why --facts takes no path, and %q is one; the file holds the whole question", args[0])
			case facts != "" && slices.ContainsFunc([]string{"url", "token", "user", "account", "action"}, cmd.Flags().Changed):
				return errors.New("why --facts asks no gateway: leave out --url, --token, --user, --account and --action; the file holds the whole question")
			case facts == "" && len(args) != 1:
				return fmt.Errorf("why takes one argument, the path in question, not %d; as in accounts/acct-demo-v1/projects/proj-demo-v1/instances", len(args))
			}
			return nil
		},
		RunE: filled(settings, func(cmd *cobra.Command, args []string) error {
			var x resources.Explanation
			var err error
			if facts != "" {
				x, err = explainFile(cmd, facts, settings)
			} else if err = q.complete(settings, args[0], "why", resources.ServiceScopeExplain); err == nil {
				x, err = q.explain(cmd.Context())
			}
			if err != nil {
				return err
			}
			return printExplanation(cmd.OutOrStdout(), x, asJSON)
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	q.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&facts, "facts", "", "a `file` with one input of the policy, in place of a gateway; what it lacks is empty")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as where the output is no terminal")
	return cmd
}

// explain asks the gateway.
func (q question) explain(ctx context.Context) (x resources.Explanation, err error) {
	status, body, err := q.send(ctx, "/api/v1/explain/")
	if err != nil {
		return x, err
	}
	if err := json.Unmarshal(body, &x); err != nil || status != http.StatusOK || x.PolicyRevision == "" {
		return resources.Explanation{}, fmt.Errorf("the gateway answers %d: %s", status, body)
	}
	return x, nil
}

// explainFile explains the question of a file by the policy tree of the settings, which must have proved itself.
func explainFile(cmd *cobra.Command, name string, settings *config.Config) (x resources.Explanation, err error) {
	if err := refuse(settings.Policy.Validate()); err != nil {
		return x, err
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return x, fmt.Errorf("--facts: %w", err)
	}
	world, err := explain.ReadDocument(raw)
	if err != nil {
		return x, fmt.Errorf("--facts %s: %w", name, err)
	}
	policy, _, err := openPolicy(cmd.Context(), settings, engine.Options{}, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
	if err != nil {
		return x, err
	}
	return world.Explain(cmd.Context(), policy.Pin())
}

// printExplanation prints a tree on a terminal, and JSON elsewhere. A denial is errDenied.
func printExplanation(out io.Writer, x resources.Explanation, asJSON bool) error {
	var err error
	if asJSON || !isTerminal(out) {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(x)
	} else {
		for _, line := range explain.Lines(x) {
			if _, err = fmt.Fprintln(observe.Printable(out), line); err != nil {
				break
			}
		}
	}
	if err != nil || x.Allowed {
		return err
	}
	return errDenied
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
