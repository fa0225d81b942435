package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

// pinsWithin bounds the time in which a server lists its tools.
const pinsWithin = time.Minute

// pinning are the settings of `mcp pin`.
type pinning struct {
	upstream, tokenFile string
	actions             []string
	check               bool
}

func newMCPPin() *cobra.Command {
	var p pinning
	cmd := &cobra.Command{
		Use: "pin SERVER DIR", Short: "Write the definitions of an MCP server's tools into a policy folder: --check exits 1 if they differ",
		Example: "  portcullis mcp pin github own --upstream https://mcp.example/mcp --action search_issues=project:github_issue:read:read",
		Long: "Lists the tools of an MCP server and writes their definitions (hashes) and the schemas of their arguments to\n" +
			"DIR/mcp/SERVER/. Rows keep their action, effect and approval. A tool without a row gets one with --action only;\n" +
			"the others are named. Prints a line for each change.",
		Args: arguments(2, 2, "the name of an MCP server and a policy folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVar(&p.upstream, "upstream", "", "the `URL` of the MCP server itself, not of the gateway")
	f.StringVar(&p.tokenFile, "token-file", "", "a `file` with a token for that server")
	f.StringArrayVar(&p.actions, "action", nil, "give a new tool its row: `TOOL=ACTION:EFFECT`, where the effect is read or write (repeatable)")
	f.BoolVar(&p.check, "check", false, "write nothing, and exit 1 if the folder differs from what the server lists")
	return cmd
}

func (p *pinning) run(cmd *cobra.Command, server, dir string) error {
	given, err := p.validate(server)
	if err != nil {
		return err
	}
	src, err := policies.Read(policies.Dir(dir))
	if err != nil {
		return err
	}
	catalogue, err := readServerFiles(src, server)
	if err != nil {
		return err
	}
	if src.Files[overlay.ManifestFile] == nil && src.Files["grants/data.json"] == nil {
		return fmt.Errorf("%s is not a policy folder; `portcullis policy init %[1]s` makes one", dir)
	}
	if p.check && catalogue.isNew {
		return fmt.Errorf("nothing is pinned: there is no %s in %s", catalogue.file, dir)
	}
	token := ""
	if p.tokenFile != "" {
		raw, err := os.ReadFile(p.tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		if token = strings.TrimSpace(string(raw)); token == "" {
			return fmt.Errorf("--token-file: %s is empty", p.tokenFile)
		}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), pinsWithin)
	defer cancel()
	listed, err := listTools(ctx, p.upstream, token)
	if err != nil {
		return fmt.Errorf("--upstream %s: %w", p.upstream, err)
	}
	changes, err := catalogue.pin(listed, given)
	if err != nil {
		return err
	}
	files := catalogue.files()
	if err := checkServerFiles(cmd.Context(), src, server, files); err != nil {
		return err
	}
	if err := printPins(observe.Printable(cmd.OutOrStdout()), catalogue, changes, len(listed)); err != nil {
		return err
	}
	if p.check {
		if changes.differ {
			return errDiffers
		}
		return nil
	}
	return catalogue.write(dir, files)
}

// validate returns the rows that --action gives, by their tools.
func (p *pinning) validate(server string) (map[string]resources.MCPTool, error) {
	var wrong []error
	if !resources.ValidMCPServerName(server) {
		wrong = append(wrong, fmt.Errorf("SERVER %s, not %q", resources.MCPNameRule, server))
	}
	if u, err := url.Parse(p.upstream); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		wrong = append(wrong, fmt.Errorf("--upstream must be the http:// or https:// URL of an MCP server, not %q", p.upstream))
	}
	given := map[string]resources.MCPTool{}
	for _, text := range p.actions {
		equals, colon := strings.LastIndexByte(text, '='), strings.LastIndexByte(text, ':')
		if equals < 1 || colon < equals {
			wrong = append(wrong, fmt.Errorf("--action must be TOOL=ACTION:EFFECT, not %q", text))
			continue
		}
		name, row := text[:equals], resources.MCPTool{Action: text[equals+1 : colon], Effect: text[colon+1:]}
		if _, err := resources.ParseAction(row.Action); err != nil {
			wrong = append(wrong, fmt.Errorf("--action %s: the action %w", text, err))
		}
		if row.Effect != resources.EffectRead && row.Effect != resources.EffectWrite {
			wrong = append(wrong, fmt.Errorf("--action %s: the effect must be read or write, not %q", text, row.Effect))
		}
		if _, twice := given[name]; twice {
			wrong = append(wrong, fmt.Errorf("--action %s: the tool has another --action; leave one out", text))
		}
		given[name] = row
	}
	if p.check && len(given) > 0 {
		wrong = append(wrong, errors.New("--check writes nothing: leave --action out"))
	}
	return given, errors.Join(wrong...)
}

// checkServerFiles compiles the tree with the new files. It returns the problems in the server's files: what the folder has
// besides may be unfinished.
func checkServerFiles(ctx context.Context, src *policies.Source, server string, files map[string][]byte) error {
	all := maps.Clone(src.Files)
	maps.Copy(all, files)
	merged, err := overlay.Over(policies.FromBundle(all, ""))
	if err == nil {
		_, _, err = proof.Compile(ctx, merged)
	}
	if err == nil {
		return nil
	}
	var wrong []error
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if strings.HasPrefix(line, serverFolder+"/"+server+"/") {
			wrong = append(wrong, errors.New(line))
		}
	}
	return errors.Join(wrong...)
}

// write writes files of the server, each in one step: a gateway may be reading the folder. The rows come first,
// since a schema without its row is refused.
func (c *serverFiles) write(dir string, files map[string][]byte) error {
	for _, name := range []string{c.file, c.schemaFile} {
		if text, changed := files[name]; changed {
			if err := replacePolicyFile(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// replacePolicyFile puts a file that others may read in the place of another one. A tree leaves out its first name.
func replacePolicyFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a policy is not secret
		return err
	}
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := os.WriteFile(next, text, 0o644); err != nil { //nolint:gosec // a policy is not secret
		return err
	}
	return os.Rename(next, path)
}

// printPins prints what has changed, a line each, and what is pinned.
func printPins(out io.Writer, c *serverFiles, changes pinChanges, listed int) error {
	for _, line := range changes.lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s: the server lists %d tools, and %d have a row in %s; %d need an action\n",
		c.server.Name, listed, len(c.server.Tools), c.file, changes.unnamed)
	return err
}
