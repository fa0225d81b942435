package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/policies/replay"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// errUnjudged ends `policy replay` with an exit code of its own and without a message: no verdict would change, and not all
// could be judged.
var errUnjudged = errors.New("not all decisions could be judged")

// replaying are the settings of `policy replay`.
type replaying struct {
	decisions, tests, bundleKey, keyFile string
	partial, asJSON                      bool
}

func newReplay() *cobra.Command {
	var r replaying
	cmd := &cobra.Command{
		Use:     "replay NEW",
		Example: "  portcullis policy replay --decisions ./data/decisions ./policies",
		Short:   "Judge recorded decisions anew by another tree: exit 0 the same verdicts, 1 others, 2 error, 3 the same, and not all were judged",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || r.decisions == "" {
				return errors.New("replay takes --decisions and one argument, the new tree: a folder, a bundle, or embedded")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&r.decisions, "decisions", "", "the `folder` of decisions: decisions/ of a data folder")
	f.StringVar(&r.tests, "emit-tests", "", "a `folder` into which what differs is written as tests for opa test")
	f.StringVar(&r.bundleKey, "policy-bundle-key", "", bundleKeyUsage)
	f.StringVar(&r.keyFile, "key-file", "", "the `file` of the master key, for the signatures of the log; by default the one beside --decisions, where there is one")
	f.BoolVar(&r.partial, "partial", false, "judge what can be read of a log that is not whole")
	f.BoolVar(&r.asJSON, "json", false, "print the report as JSON")
	return cmd
}

// run judges all decisions of the folder and prints which verdicts change.
func (r *replaying) run(cmd *cobra.Command, tree string) error {
	set, err := r.tree(cmd, tree)
	if err != nil {
		return err
	}
	notWhole, err := r.verify(cmd)
	if err != nil {
		return err
	}
	report, err := r.judge(cmd.Context(), set)
	if err != nil {
		return err
	}
	report.NotWhole = notWhole
	if r.tests != "" {
		if err := writeReplayTests(r.tests, report); err != nil {
			return err
		}
	}
	if err := r.print(cmd.OutOrStdout(), report); err != nil {
		return err
	}
	switch {
	case report.Differs():
		return errNothing
	case !report.Whole():
		return errUnjudged
	case report.Judged == 0:
		return errors.New("no decision could be judged")
	}
	return nil
}

// tree compiles the new tree, which need not prove itself.
func (r *replaying) tree(cmd *cobra.Command, tree string) (*engine.Set, error) {
	if _, err := os.Stat(r.decisions); err != nil {
		return nil, fmt.Errorf("--decisions: there are no decisions in %s", r.decisions)
	}
	key, err := bundleKey(r.bundleKey)
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
	return set, nil
}

// verify verifies the log as `decisions verify` does, with the key and the store of its data folder if they are there. It
// returns the problems. They are an error unless --partial is set.
func (r *replaying) verify(cmd *cobra.Command) (notWhole []string, err error) {
	s := config.Store{DataDir: filepath.Clean(r.decisions), MasterKeyFile: r.keyFile}
	if parent := filepath.Dir(s.DataDir); (config.Store{DataDir: parent}).DecisionsDir() == s.DataDir {
		s.DataDir = parent
	}
	var master *resources.MasterKey
	if masterkey.Exists(s.DataDir) || r.keyFile != "" {
		key, err := masterKeyFile(s).Read()
		if err != nil {
			return nil, err
		}
		master = &key
	}
	report, err := checkDecisions(cmd.Context(), s, r.decisions, master)
	if err != nil {
		return nil, fmt.Errorf("--decisions: %w", err)
	}
	for _, f := range report.Findings {
		notWhole = append(notWhole, f.String())
	}
	if len(notWhole) == 0 {
		return nil, nil
	}
	report.print(cmd.ErrOrStderr())
	if !r.partial {
		return nil, errors.New("the log is not whole, so that the verdicts in it can't be believed: --partial judges what can be read")
	}
	return notWhole, nil
}

// judge judges all decisions of the folder by a tree.
func (r *replaying) judge(ctx context.Context, set *engine.Set) (*replay.Report, error) {
	anew := replay.New(set)
	missing := func(m decisionlog.Missing) { anew.Missing(m.Lost, m.Dropped, m.Unreadable) }
	err := decisionlog.Reader{Dir: r.decisions, Missing: missing}.Oldest(ctx, decisionlog.Filter{}, func(rec *decisionlog.Record) error {
		if j := rec.Judgement(); j != nil {
			anew.Add(ctx, j)
			return ctx.Err()
		}
		e := rec.Event(engine.RecordedInput)
		anew.AddMasked(ctx, recordedEvent(&e, rec.At))
		return ctx.Err()
	})
	return anew.Report(), err
}

// recordedEvent returns what is left of a decision in its event.
func recordedEvent(e *decisionlog.Event, made resources.Time) *replay.Masked {
	return &replay.Masked{
		Masked: engine.Masked{Path: e.Path, At: made, Input: e.Input, Parts: e.LeftOut(decisionlog.PartInput)},
		ID:     e.DecisionID, Policy: e.PolicyRevision(), Unasked: e.Unasked(),
		Result: e.Result, ResultParts: e.LeftOut(decisionlog.PartResult),
	}
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

// print prints the report in the form that the flags name.
func (r *replaying) print(out io.Writer, report *replay.Report) error {
	if r.asJSON {
		return printJSON(out, report)
	}
	_, err := fmt.Fprint(out, report.Text())
	return err
}
