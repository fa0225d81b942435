package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/pins"
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
	catalogue, err := pins.Read(src, server)
	if err != nil {
		return err
	}
	if src.Files[overlay.ManifestFile] == nil && src.Files["grants/data.json"] == nil {
		return fmt.Errorf("%s is not a policy folder; `portcullis policy init %[1]s` makes one", dir)
	}
	if p.check && catalogue.IsNew {
		return fmt.Errorf("nothing is pinned: there is no %s in %s", catalogue.RowsFile, dir)
	}
	token := ""
	if p.tokenFile != "" {
		if token, err = readSecret(p.tokenFile); err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), pinsWithin)
	defer cancel()
	listed, err := listTools(ctx, p.upstream, token)
	if err != nil {
		return fmt.Errorf("--upstream %s: %w", p.upstream, err)
	}
	changes, err := catalogue.Pin(listed, given)
	if err != nil {
		return err
	}
	if err := catalogue.Check(cmd.Context(), src); err != nil {
		return err
	}
	if err := printPins(observe.Printable(cmd.OutOrStdout()), catalogue, changes, len(listed)); err != nil {
		return err
	}
	if p.check {
		if changes.Differ {
			return errDiffers
		}
		return nil
	}
	return catalogue.Write(dir)
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

// printPins prints what has changed, a line each, and what is pinned.
func printPins(out io.Writer, c *pins.Files, changes pins.Changes, listed int) error {
	for _, line := range changes.Lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s: the server lists %d tools, and %d have a row in %s; %d need an action\n",
		c.Server.Name, listed, len(c.Server.Tools), c.RowsFile, changes.Unnamed)
	return err
}

// listTools returns the tools that an MCP server lists, as it sent them. It follows no redirect, since the token is for
// this server only.
func listTools(ctx context.Context, endpoint, token string) ([]pins.Tool, error) {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(ctx context.Context, o mcp.Outgoing) (*mcp.Incoming, error) {
		req, err := http.NewRequestWithContext(ctx, o.Method, endpoint, bytes.NewReader(o.Body))
		if err != nil {
			return nil, err
		}
		req.Header = o.Header.Clone()
		req.Header.Set("Content-Type", "application/json")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req) //nolint:bodyclose // the receiver of Incoming closes it
		if err != nil {
			return nil, err
		}
		return &mcp.Incoming{Status: resp.StatusCode, Header: resp.Header, Body: resp.Body}, nil
	}
	lister := mcp.Lister{Send: send, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}}
	items, err := lister.Tools(ctx, &resources.MCPServer{})
	return toPin(items), err
}

// toPin returns listed tools for their rows.
func toPin(items []message.Item) []pins.Tool {
	tools := make([]pins.Tool, len(items))
	for i, item := range items {
		tools[i] = pins.Tool{Name: item.Name, Raw: item.Raw}
	}
	return tools
}
