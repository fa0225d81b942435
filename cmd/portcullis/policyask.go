package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/policies/explain"
)

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
