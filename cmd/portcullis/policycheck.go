package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

func newPolicyCheck() *cobra.Command {
	var tree treeArgument
	var url string
	cmd := &cobra.Command{
		Use: "check [DIR|BUNDLE]", Short: "Hold a policy tree to everything that a reload demands, and say what is wrong",
		Example: "  portcullis policy check --against embedded ./policies",
		RunE: func(cmd *cobra.Command, args []string) error {
			if tree.other != liveTreeName && cmd.Flags().Changed("url") {
				return errors.New("--url is for --against live: add that, or leave the URL out")
			}
			if err := tree.fill(args); err != nil {
				return err
			}
			var other *policies.Source
			if tree.other != "" { // the proof takes a second: a silent gateway is reported before it
				var err error
				if other, err = readTree(cmd.Context(), tree.other, url, tree.key); err != nil {
					return err
				}
			}
			src, err := tree.read()
			if err == nil {
				err = checkTree(cmd.Context(), src, tree, cmd.OutOrStdout())
			}
			if err != nil {
				return tellProblems(cmd, err)
			}
			if other == nil {
				return nil
			}
			return tree.askGuards(cmd, other, src)
		},
	}
	tree.flags(cmd)
	cmd.Flags().StringVar(&tree.other, "against", "", "have the guards of this `tree` judge the change as well: a folder, embedded, or live (--url)")
	cmd.Flags().StringVar(&url, "url", defaultPrivateURL, "the private listener of the gateway whose tree is live")
	return cmd
}

// askGuards has the guards of the other tree judge the change to the next one.
func (a *treeArgument) askGuards(cmd *cobra.Command, other, next *policies.Source) (err error) {
	var sets [2]*engine.Set
	for i, src := range []*policies.Source{other, next} {
		if sets[i], _, err = proof.Compile(cmd.Context(), src); err != nil {
			return fmt.Errorf("%s does not compile: %w", []string{a.other, a.where}[i], err)
		}
	}
	if !guards.Guarded(sets[0]) {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "ok: policy %s has no guards\n", sets[0].Revision())
		return err
	}
	if err := guards.Check(cmd.Context(), sets[0], sets[1]); err != nil {
		if _, werr := fmt.Fprintln(cmd.ErrOrStderr(), err); werr != nil {
			return werr
		}
		return errors.New("the guards refuse the change")
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "ok: the guards of policy %s take it\n", sets[0].Revision())
	return err
}

// proved is a tree that a reload would take, but for the guards in force and the upstreams of a gateway.
type proved struct {
	*engine.Set

	tests int
	rows  *catalogue.Index
}

// prove holds a tree to what a reload demands.
func prove(ctx context.Context, src *policies.Source) (p proved, err error) {
	if p.Set, p.tests, err = proof.Prove(ctx, src); err == nil {
		p.rows, err = catalogue.New(p.Routes()) // as the gateway reads them
	}
	if err == nil {
		err = served(p.Routes())
	}
	return p, err
}

// served returns the rows with which no gateway of this program starts. The embedded tree has a row for each handler
// and each door of the program.
func served(routes []resources.Route) error {
	tree, err := policies.Read(policies.Tree())
	if err != nil {
		return err
	}
	var rows map[string]resources.Route
	if err := json.Unmarshal(tree.Files[routesFile], &rows); err != nil {
		return err
	}
	var problems proof.Problems
	for _, r := range routes {
		if rows[r.Name].Upstream != r.Upstream && slices.Contains(config.BuiltIn(), r.Upstream) {
			problems = append(problems, fmt.Sprintf("%s: %s: upstream %q is this program's, which does not serve a row of that name", routesFile, r.Name, r.Upstream))
		}
		if rows[r.Name].Upstream == r.Upstream {
			delete(rows, r.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if up := rows[name].Upstream; up != resources.UpstreamAuthorize && slices.Contains(config.BuiltIn(), up) {
			problems = append(problems, fmt.Sprintf("%s: the row %s is missing, which this program serves; `portcullis policy base OUT` writes it", routesFile, name))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

// routesFile has the rows of a tree.
const routesFile = "routes/data.json"

// checkTree holds a tree to everything that a reload demands, and prints what it has.
func checkTree(ctx context.Context, src *policies.Source, tree treeArgument, out io.Writer) error {
	set, err := prove(ctx, src)
	if err != nil {
		return err
	}
	src.Warnings = slices.Concat(src.Warnings, hiddenPages(set.rows), proof.IdleRules(set.Set), proof.UnfoldedRules(set.Set))
	return reportChecked(ctx, set.Set, src, set.tests, tree, out)
}

// reportChecked prints a good tree's contents, its slow parts, and what to do next.
func reportChecked(ctx context.Context, set *engine.Set, src *policies.Source, tests int, tree treeArgument, out io.Writer) error {
	foreign := "takes others"
	if set.Strict() {
		foreign = "denies others"
	}
	lines := []string{fmt.Sprintf("ok: policy %s; routes: %d, system roles: %d, apps: %d, tests: %d; it lists %d actions and %s",
		set.Revision(), len(set.Routes()), len(set.Roles()), len(set.Apps()), tests, len(set.Actions()), foreign)}
	if servers := set.MCPServers(); len(servers) > 0 {
		lines = append(lines, "MCP servers: "+strings.Join(servers, ", "))
	}
	if src.Base != "" {
		lines = append(lines, fmt.Sprintf("it is %s of its own over base %s", src.Own, src.Base))
	}
	for _, warning := range src.Warnings {
		lines = append(lines, "warning: "+strings.TrimSpace(warning))
	}
	if name := set.BundleRevision(); name != "" {
		lines = append(lines, "bundle revision: "+name)
	}
	lines = append(lines, costLines("cached by a text: each verdict", set.ByText())...)
	if uncached := set.Uncached(); len(uncached) > 0 {
		lines = append(lines, costLines("not cached: no verdict", uncached)...)
		took, err := evaluationTime(ctx, set)
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("  each such question is evaluated: %s here for an admin's, where a cached verdict takes half a microsecond;"+
			" see docs/author/cache.md for what to write instead", took))
	}
	for _, line := range append(lines, nextSteps(tree)) {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// hiddenPages warns of hosts on which the gateway does not serve its own public pages.
func hiddenPages(rows *catalogue.Index) []string {
	hosts, pages := rows.Hidden()
	if len(hosts) == 0 || len(pages) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: a host with rows of its own has none of the gateway's public pages (%s); ask for them on another host, or add rows for them",
		strings.Join(hosts, ", "), strings.Join(pages, ", "))}
}

// costLines name the rules that make verdicts cost more, each once.
func costLines(verdicts string, costly []engine.Costly) (lines []string) {
	entries := map[string][]string{}
	for _, entry := range costly {
		for _, because := range entry.Because {
			entries[because] = append(entries[because], entry.Entry)
		}
	}
	for _, because := range slices.Sorted(maps.Keys(entries)) {
		lines = append(lines, fmt.Sprintf("%s of %s: %s", verdicts, strings.Join(entries[because], ", "), because))
	}
	return lines
}

// nextSteps says what an author does with a good tree.
func nextSteps(tree treeArgument) string {
	if tree.where == bundles.Embedded {
		return "next: `portcullis policy init DIR` begins a folder of your own, which adds to this tree"
	}
	if isBundle(tree.where) {
		key := ""
		if tree.key != nil {
			key = " --policy-bundle-key " + tree.keyFile
		}
		return fmt.Sprintf("next: `portcullis serve --policy-bundle %s%s` decides by it, and takes a new one over by itself", tree.where, key)
	}
	return fmt.Sprintf("next: `portcullis policy test --coverage %[1]s` names what no test reaches; `portcullis serve --policy-dir %[1]s` decides by it,\n"+
		"      and takes each change over by itself; `portcullis policy build %[1]s` makes a bundle for `--policy-bundle`", tree.where)
}

// evaluations are as many as make a median.
const evaluations = 101

// evaluationTime measures the evaluation of a question about an account's admin.
func evaluationTime(ctx context.Context, set *engine.Set) (time.Duration, error) {
	const account = "acct-check-v1"
	action, err := resources.ParseAction("project:instance:read")
	if err != nil {
		return 0, err
	}
	admin := resources.Principal{Kind: resources.PrincipalUser, ID: "user-check-v1", AccountID: account, Credential: resources.CredentialToken}
	q := resources.Question{
		Principal: admin, Action: action, AccountID: account, Now: resources.At(time.Now()),
		Target: resources.Target{AccountID: account, ProjectID: "proj-check-v1"},
		Facts: resources.Facts{ProjectState: resources.ProjectActive, Subject: &resources.Subject{
			AccountID: account, AccountExists: true, AccountStatus: resources.StatusActive,
			UserID: admin.ID, UserExists: true, UserStatus: resources.StatusActive, Member: true,
			Assignments: []resources.HeldRole{{
				RoleID: resources.RoleAccountAdmin, RoleScope: resources.RoleScopeAccount,
				RoleStatus: resources.StatusActive, Status: resources.StatusActive,
			}},
		}},
	}
	var took []time.Duration
	for range evaluations {
		start := time.Now()
		if _, err := set.Judge(ctx, engine.EntryDecision, q, engine.DefaultDeadline); err != nil {
			return 0, fmt.Errorf("the policy has no answer to the question of an admin: %w", err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2].Round(time.Microsecond), nil
}
