package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// errDiffers ends `policy diff` with the exit code of a difference and without a message.
var errDiffers = errors.New("the trees differ")

// diffing are the settings of `policy diff`.
type diffing struct {
	url, failOn    string
	keyFile        string
	key            *bundles.Key
	asJSON, asMark bool
	bound          time.Duration
	people         peopleSource
}

func newPolicyDiff() *cobra.Command {
	var d diffing
	cmd := &cobra.Command{
		Use:     "diff OLD NEW",
		Example: "  portcullis policy diff --fail-on new-access embedded ./policies",
		Short:   "Say what a change of the policy changes: exit 0 no difference, 1 differences, 2 error",
		Long: "Compares two policy trees, each a folder, a bundle, `embedded`, or `live` (the tree in force of the gateway at --url): who\n" +
			"gains access, who loses it, and who is told another reason. All questions are asked that either tree can tell\n" +
			"apart; what can't be asked exhaustively is said. With --data-dir, or --url and --token, it also says whom of the\n" +
			"real users the change lets in or shuts out.",
		Args: arguments(2, 2, "the policy trees OLD and NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("url") {
				d.people.url = d.url
			}
			return d.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.people.dir, "data-dir", "", "name the real users of the store in this `folder` as well, also beside a running gateway")
	f.StringVar(&d.people.token, "token", "", "a `token` that may explain decisions and search: with --url, names the real users of that gateway's store")
	f.IntVar(&d.people.names, "names", 20, "name up to so many users for each change")
	d.treeFlags(cmd)
	f.DurationVar(&d.bound, "within", 10*time.Minute, "give up a comparison that takes longer")
	f.StringVar(&d.failOn, "fail-on", diff.FailOnAny, "exit 1 on `any` difference, or on new-access only; both mean what could not be compared as well")
	f.BoolVar(&d.asJSON, "json", false, "print the whole report as JSON")
	f.BoolVar(&d.asMark, "markdown", false, "print the report as Markdown, for a comment on a pull request")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

// treeFlags are those of the commands that take two trees.
func (d *diffing) treeFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.url, "url", defaultPrivateURL, "the private listener of the gateway whose tree is `live`")
	cmd.Flags().StringVar(&d.keyFile, "policy-bundle-key", "", bundleKeyUsage)
}

// run compares the two trees and prints what differs. The error is errDiffers if --fail-on wants it.
func (d *diffing) run(cmd *cobra.Command, names []string) error {
	var wrong []error
	if d.failOn != diff.FailOnAny && d.failOn != diff.FailOnNewAccess {
		wrong = append(wrong, fmt.Errorf("--fail-on %w, not %q", diff.ErrFailOn, d.failOn))
	}
	if d.bound <= 0 {
		wrong = append(wrong, fmt.Errorf("--within must be more than 0, not %s", d.bound))
	}
	if err := errors.Join(append(wrong, d.people.validate())...); err != nil {
		return err
	}
	sets, err := d.trees(cmd, names)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), d.bound)
	defer cancel()
	report, err := diff.Compare(ctx, sets[0], sets[1], runtime.GOMAXPROCS(0))
	if errors.Is(err, context.DeadlineExceeded) && cmd.Context().Err() == nil {
		return fmt.Errorf("the comparison did not end within %s; name a longer --within, or take apart the rule that makes it long", d.bound)
	}
	if err != nil {
		return err
	}
	if d.people.wanted() {
		if report.People, err = d.people.report(cmd.Context(), sets, report); err != nil {
			return err
		}
	}
	if err := d.print(cmd, report); err != nil {
		return err
	}
	if report.Fails(d.failOn) {
		return errDiffers
	}
	return nil
}

// trees reads and compiles both trees, and prints what a reload would refuse in the new one. If one of them does not
// compile, it prints the problems of both, one a line.
func (d *diffing) trees(cmd *cobra.Command, names []string) (sets [2]*engine.Set, err error) {
	var wrong []error
	var warned, problems []string
	if d.key, err = bundleKey(d.keyFile); err != nil {
		return sets, err
	}
	if d.key != nil && !slices.ContainsFunc(names, isBundle) {
		return sets, errors.New("--policy-bundle-key is for a bundle, and neither tree is one: leave it out")
	}
	for i, name := range names {
		src, err := readTree(cmd.Context(), name, d.url, d.key)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		set, warnings, err := proof.Compile(cmd.Context(), src)
		switch list := proof.Problems(nil); {
		case errors.As(err, &list):
			wrong = append(wrong, fmt.Errorf("%s does not compile", name))
			for _, problem := range list {
				problems = append(problems, name+": "+problem)
			}
			continue
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s does not compile: %w", name, err))
			continue
		}
		if i == 1 && len(wrong) == 0 {
			warnings = append(warnings, refusals(cmd.Context(), src, warnings)...)
		}
		for _, warning := range warnings {
			warned = append(warned, fmt.Sprintf("warning: %s: %s", name, warning))
		}
		sets[i] = set
	}
	for _, line := range append(problems, warned...) {
		if _, err := fmt.Fprintln(cmd.ErrOrStderr(), line); err != nil {
			return sets, err
		}
	}
	return sets, errors.Join(wrong...)
}

// refusals returns why a reload would refuse the tree, without what was printed already.
func refusals(ctx context.Context, src *policies.Source, printed []string) (out []string) {
	_, err := prove(ctx, src)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	text := strings.Join(printed, "\n")
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.Contains(text, line) {
			out = append(out, "a reload refuses it: "+line)
		}
	}
	return out
}

// print prints the report in the form that the flags name.
func (d *diffing) print(cmd *cobra.Command, report *diff.Report) error {
	out := cmd.OutOrStdout()
	switch {
	case d.asJSON:
		return printJSON(out, report)
	case d.asMark:
		_, err := fmt.Fprint(out, report.Markdown())
		return err
	}
	_, err := fmt.Fprint(out, report.Text())
	return err
}

func newPolicyAsk() *cobra.Command {
	var d diffing
	var facts string
	cmd := &cobra.Command{
		Use:     "ask OLD NEW",
		Example: "  portcullis policy ask embedded ./policies --facts question.json",
		Short:   "Ask two policy trees one question: exit 0 the same answer, 1 another one, 2 error",
		Long: "Asks both trees, named as for `policy diff`, the question of a file: an input of the policy, of which what is\n" +
			"missing is empty. One that names a route is judged as the gateway judges a call of it, any other as a decision.",
		Args: arguments(2, 2, "the policy trees OLD and NEW"),
		RunE: func(cmd *cobra.Command, names []string) error { return d.ask(cmd, names, facts) },
	}
	d.treeFlags(cmd)
	cmd.Flags().StringVar(&facts, "facts", "", "the `file` with the question")
	_ = cmd.MarkFlagRequired("facts") // a flag that is there
	return cmd
}

// ask prints the answers of both trees. The error is errDiffers where they are not equal.
func (d *diffing) ask(cmd *cobra.Command, names []string, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--facts: %w", err)
	}
	question, err := explain.ReadDocument(raw)
	if err != nil {
		return fmt.Errorf("--facts %s: %w", file, err)
	}
	sets, err := d.trees(cmd, names)
	if err != nil {
		return err
	}
	var answers [2]string
	out := observe.Printable(cmd.OutOrStdout())
	for i, set := range sets {
		decision, err := question.Judge(cmd.Context(), set)
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		answers[i] = decided{decision.Allowed, decision.Reason}.String()
		if decision.Code != "" {
			answers[i] += " [" + decision.Code + "]"
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", names[i], answers[i]); err != nil {
			return err
		}
	}
	if answers[0] != answers[1] {
		return errDiffers
	}
	return nil
}
