package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/policies/analysis/replay"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

func newReplay() *cobra.Command {
	var decisions, tests, keyFile string
	asJSON := false
	cmd := &cobra.Command{
		Use: "replay NEW", Short: "Judge recorded decisions anew by another tree: exit 0 the same verdicts, 1 others, 2 error",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || decisions == "" {
				return errors.New("replay takes --decisions and one argument, the new tree: a folder, a bundle, or embedded")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := replayDecisions(cmd, decisions, args[0], keyFile)
			if err != nil {
				return err
			}
			if tests != "" {
				if err := writeReplayTests(tests, report); err != nil {
					return err
				}
			}
			if err := printReplay(cmd.OutOrStdout(), report, asJSON); err != nil {
				return err
			}
			switch {
			case report.Differs():
				return errNothing
			case report.Judged == 0:
				return errors.New("no decision could be judged")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&decisions, "decisions", "", "the `folder` of decisions: decisions/ of a data folder")
	cmd.Flags().StringVar(&tests, "emit-tests", "", "a `folder` into which what differs is written as tests for opa test")
	cmd.Flags().StringVar(&keyFile, "policy-bundle-key", "", bundleKeyUsage)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// replayDecisions judges all decisions of a folder by a tree, which is compiled and proves nothing.
func replayDecisions(cmd *cobra.Command, decisions, tree, keyFile string) (*replay.Report, error) {
	if _, err := os.Stat(decisions); err != nil {
		return nil, fmt.Errorf("--decisions: there are no decisions in %s", decisions)
	}
	key, err := bundleKey(keyFile)
	if err != nil {
		return nil, err
	}
	src, err := bundles.ReadTree(tree, key)
	if err != nil {
		return nil, err
	}
	set, _, err := proof.Compile(cmd.Context(), src)
	if err != nil {
		return nil, tellProblems(cmd, err)
	}
	r := replay.New(set)
	err = decisionlog.Reader{Dir: decisions, Missing: r.Missing}.Oldest(cmd.Context(), decisionlog.Filter{}, func(rec *decisionlog.Record) error {
		if j := rec.Judgement(); j != nil {
			r.Add(cmd.Context(), j)
			return cmd.Context().Err()
		}
		e, err := rec.Event(engine.InputOf)
		if err != nil {
			return err
		}
		r.AddMasked(cmd.Context(), &replay.Masked{
			Masked: engine.Masked{Path: e.Path, At: rec.At, Input: e.Input, Parts: e.LeftOut(decisionlog.PartInput)},
			ID:     e.DecisionID, Policy: e.PolicyRevision(), Unasked: e.Unasked(),
			Result: e.Result, ResultParts: e.LeftOut(decisionlog.PartResult),
		})
		return cmd.Context().Err()
	})
	return r.Report(), err
}

func writeReplayTests(dir string, report *replay.Report) error {
	text, err := report.Tests()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "replayed_test.rego"), text, 0o600)
}

// printReplay prints the groups of other verdicts, what was not judged, and the sums.
func printReplay(out io.Writer, r *replay.Report, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	for _, f := range r.Flips {
		word := "would be denied"
		if f.Allowed {
			word = "would be allowed"
		}
		fmt.Fprintf(out, "%d %s: %s at %s, roles: %s\n", f.Count, word, f.Asked(), f.Place, cmp.Or(f.Role, "none"))
		for _, e := range f.Examples {
			fmt.Fprintf(out, "  %s: %q, now %q\n", e.ID, e.Old, e.New)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(r.Failed)) {
		fmt.Fprintf(out, "%d without a decision: %s\n", r.Failed[why], why)
	}
	for _, why := range slices.Sorted(maps.Keys(r.NotJudged)) {
		fmt.Fprintf(out, "%d not judged: %s\n", r.NotJudged[why], why)
	}
	_, err := fmt.Fprintf(out, "policy %s: %d judged, %d groups of other verdicts, %d with another reason, %.0f a second\n",
		r.New, r.Judged, len(r.Flips), r.Reasons, float64(r.Judged)/max(r.Took.Seconds(), 0.001))
	return err
}
