package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/provision"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/tickets"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/durable"
)

// makeDemo makes the data of --demo, and reports whether it is there.
func makeDemo(ctx context.Context, a *app) (exists bool, err error) {
	if !a.settings.Demo {
		return false, nil
	}
	return demo.Data{Access: a.access, Store: a.store, Collections: a.collections, IDs: a.ids, Log: a.log.Logger}.Make(ctx)
}

// demoGuide shows how to use the demo of a running gateway.
type demoGuide struct {
	*app
	open listeners
	// site is nil without a console, desk without an MCP server.
	site *consoleServer
	desk *demoDesk
}

// provide has the simulated provisioner make and take away the clusters of the demo, until the context ends.
func (g demoGuide) provide(ctx context.Context) {
	s := &provision.Simulator{
		URL: g.edgeURL(), Token: func() (string, error) { return sign(g.settings, provisionerToken()) },
		Step: defaultStep, Log: g.log.With("part", "simulated provisioner"),
	}
	if err := s.Run(ctx); err != nil {
		g.log.Warn("the demo's clusters stay as they are: the simulated provisioner has ended", "error", err.Error())
	}
}

const (
	// demoTTL is how long the demo's token is valid.
	demoTTL = 24 * time.Hour
	// demoTokenFile is its file in the data folder.
	demoTokenFile = "demo.token"
)

func (g demoGuide) edgeURL() string { return httpAt(g.open.edge[0].Addr()) }

// show prints how to use the demo, and has the simulated provisioner make its clusters until the context ends.
func (g demoGuide) show(ctx context.Context, out io.Writer) error {
	lines, err := g.lines(ctx)
	if err != nil {
		return err
	}
	more, err := g.agentLines()
	if err != nil {
		return err
	}
	go g.provide(ctx)
	_, err = fmt.Fprintln(out, strings.Join(append(lines, more...), "\n"))
	return err
}

// lines returns what listens where, and a command for each kind of answer with the answer of this
// moment: the demo data may have been changed since it was made. The gateway listens already.
func (g demoGuide) lines(ctx context.Context) ([]string, error) {
	token, path, err := g.writeToken(demoTokenFile, authn.TokenRequest{Subject: "service-demo", Scopes: []string{resources.ServiceScopeCheck}, TTL: demoTTL})
	if err != nil {
		return nil, err
	}
	edge := g.edgeURL()
	lines := []string{
		"",
		"# Portcullis runs with demo data. Ctrl-C stops it; the data stays in " + quoted(g.settings.Store.DataDir) + ".",
		"#   API                      " + edge + ", and the same at " + httpAt(g.open.edge[1].Addr()),
		"#   API in a browser         " + edge + "/docs",
		"#   health, metrics, status  " + httpAt(g.open.health.Addr()),
	}
	shown, err := g.consoleLines(ctx)
	if err != nil {
		return nil, err
	}
	lines = append(lines, shown...)
	lines = append(lines,
		"# Ask for a decision, in another shell. The token in "+path+" may ask about anybody, for 24 hours.")
	for _, one := range []struct{ asks, user, action string }{
		{"May alice create an instance?", demo.Alice, "project:instance:create"},
		{"May bob create one?", demo.Bob, "project:instance:create"},
		{"May bob read one?", demo.Bob, "project:instance:read"},
		{"May carol read one?", demo.Carol, "project:instance:read"},
		{"This is no action: 400, with every problem.", demo.Alice, "create-instances"},
	} {
		q := question{
			url: edge, token: token, user: one.user, account: demo.Account, action: one.action,
			path: "accounts/" + demo.Account + "/projects/" + demo.Project + "/instances",
		}
		if _, err := resources.ParseAction(q.action); err == nil {
			one.asks += " " + q.answer(ctx)
		}
		lines = append(lines, "", "# "+one.asks, fmt.Sprintf(
			`curl -s -w '\n' -X POST "%s/api/v1/authorize/%s" -H "Authorization: Bearer $(cat %s)" -H "X-User-ID: %s" -H "X-Account-ID: %s" -H "X-Action: %s"`,
			q.url, q.path, path, q.user, q.account, q.action))
	}
	return lines, nil
}

// consoleLines returns the address of the console, and a link that signs Alice in. It has no link if somebody removed
// her.
func (g demoGuide) consoleLines(ctx context.Context) ([]string, error) {
	lines := []string{"#"}
	if g.site == nil {
		return lines, nil
	}
	lines = []string{"#   console                  " + g.site.url.String(), "#"}
	code, err := g.sessions.NewCode(ctx, demo.Alice)
	switch {
	case resources.IsKind(err, resources.KindNotFound):
		return lines, nil
	case err != nil:
		return nil, err
	}
	return append(lines,
		"# Sign in to the console as Alice, within a minute. `"+g.linkCommand()+"` makes another link.",
		"#   "+linkTo(g.site.url, code), "#"), nil
}

// linkCommand returns the command for another link for Alice, with the flags for this gateway.
func (g demoGuide) linkCommand() string {
	command := quoted(os.Args[0]) + " console link --user " + demo.Alice
	for _, f := range []struct{ flag, value, standard string }{
		{"data-dir", filepath.Clean(g.settings.Store.DataDir), "data"},
		{"master-key-file", g.settings.Store.MasterKeyFile, ""},
		{"private-url", httpAt(g.open.health.Addr()), "http://" + config.DefaultHealthListen},
		{"console-url", g.site.url.String(), "http://" + config.DemoConsole},
	} {
		if f.value != f.standard {
			command += " --" + f.flag + " " + quoted(f.value)
		}
	}
	return command
}

// writeToken writes a new token into a file of the data folder, for its owner alone, and returns it and
// the file's path for a shell.
func (g demoGuide) writeToken(name string, request authn.TokenRequest) (token, path string, err error) {
	signer, err := authn.NewSigner(g.master)
	if err != nil {
		return "", "", err
	}
	token, err = signer.Sign(request)
	if err != nil {
		return "", "", err
	}
	dir, err := filepath.Abs(g.settings.Store.DataDir)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // on a database there is none yet
		return "", "", err
	}
	if err := durable.Write(filepath.Join(dir, name), []byte(token+"\n")); err != nil {
		return "", "", err
	}
	return token, quoted(filepath.Join(dir, name)), nil
}

// httpAt returns the URL at which a client of this machine reaches a listener. It escapes the zone of an IPv6 address.
func httpAt(listener net.Addr) string {
	return (&url.URL{Scheme: "http", Host: reachable(listener)}).String()
}

// reachable returns the address at which a client of this machine reaches a listener.
func reachable(listener net.Addr) string {
	if tcp, ok := listener.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return listener.String()
}

// quoted returns a text as one word of a shell.
func quoted(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:,@", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// answer returns the decision, or why there is none now.
func (q question) answer(ctx context.Context) string {
	answer, err := q.decide(ctx)
	if err != nil {
		return "No decision now: " + resources.OneLine(err.Error())
	}
	return answer.String()
}

// demoAgentTokenFile has the token of Bob's agent, in the data folder.
const demoAgentTokenFile = "demo-agent.token"

// demoDesk is the MCP server of the demo. Without one it is nil.
type demoDesk struct {
	listener net.Listener
	server   *http.Server
	// url is the server's at the gateway, audience that of its tokens.
	url, audience string
}

// openDesk opens the listener of the demo's MCP server and makes it an upstream. It returns nil if the operator has a
// tree or an upstream of their own: the demo adds no row to an operator's tree.
func openDesk(ctx context.Context, settings *config.Config) (*demoDesk, error) {
	if !settings.Demo || !settings.Policy.Shipped() || settings.Areas.Upstreams()[tickets.Name] != nil {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("--demo: %w", err)
	}
	settings.Areas.AddUpstream(tickets.Name, "http://"+l.Addr().String()+"/mcp")
	limits := settings.Limits.Edge
	return &demoDesk{listener: l, server: &http.Server{ReadHeaderTimeout: limits.Read, ReadTimeout: limits.Read, IdleTimeout: limits.Idle}}, nil
}

// serve answers the gateway's calls, and turns the gateway's door of MCP servers on. Without demo data it closes the
// server.
func (d *demoDesk) serve(a *app, open listeners, hasDemo bool) {
	if d == nil || !hasDemo {
		d.close()
		return
	}
	edge, path := httpAt(open.edge[0].Addr()), "/mcp/projects/"+demo.Project+"/"+tickets.Name
	a.mcp.Base = cmp.Or(a.mcp.Base, edge)
	d.url, d.audience = edge+path, a.mcp.Base+path
	d.server.Handler = tickets.Handler(a.assertions)
	go func() { _ = d.server.Serve(d.listener) }() // until close
}

func (d *demoDesk) close() {
	if d != nil {
		_ = d.listener.Close() // nobody waits for it
		_ = d.server.Close()
	}
}

// agentLines returns how to try the demo's agent.
func (g demoGuide) agentLines() ([]string, error) {
	if g.desk == nil {
		return nil, nil
	}
	_, path, err := g.writeToken(demoAgentTokenFile, authn.TokenRequest{
		Subject: demo.Bob, Agent: demo.Client, Audience: g.desk.audience, Scopes: []string{resources.MCPScopeRead, resources.MCPScopeWrite}, TTL: demoTTL,
	})
	if err != nil {
		return nil, err
	}
	return []string{
		"",
		"# An agent acts for bob at an MCP server with tickets: the tools that it may use. docs/integrate/agents.md calls them.",
		strings.Join([]string{
			"curl -s -w '\\n' " + g.desk.url, `-H "Authorization: Bearer $(cat ` + path + `)"`, `-H "Content-Type: application/json"`,
			`-H "Accept: application/json, text/event-stream"`, `-d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'`,
		}, " "),
	}, nil
}
