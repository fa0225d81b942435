package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/resources"
)

// consoleFlags are the settings of a console in a separate process.
func consoleFlags() []string {
	return []string{
		"config", "data-dir", "master-key-file", "console-listen", "console-url", "console-issuer", "console-client-id",
		"console-client-secret-file", "console-resource", "console-operators", "tls-cert-file", "tls-key-file", "tls-client-ca-file",
		"max-connections", "max-connections-per-address", "drain-timeout", "log-format", "log-level",
	}
}

// newConsoleCommand returns the command that runs a console, with its subcommands.
func newConsoleCommand() *cobra.Command {
	settings, gateway := &config.Config{}, &remoteGateway{}
	cmd := &cobra.Command{
		Use: "console", Short: "Run the web console in a separate process, or make links that sign in to it", Args: oneOfItsCommands,
		Example: "  portcullis console --url https://gateway.example.com --private-url http://10.0.0.5:9002 \\\n" +
			"    --console-listen :9003 --console-url https://console.example.com \\\n" +
			"    --tls-cert-file tls.pem --tls-key-file tls.key --master-key-file master.key",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			if gateway.url == "" && gateway.private == "" && gateway.tokenFile == "" {
				return cmd.Help()
			}
			if err := refuse(append(settings.ValidateConsole(), gateway.validate()...)); err != nil {
				return err
			}
			log := serverLog(cmd, settings.Log.Format, settings)
			defer log.Close()
			return serveConsole(cmd.Context(), settings, gateway, log)
		}),
	}
	settings.AddFlags(cmd.Flags(), consoleFlags()...)
	gateway.flags(cmd)
	cmd.AddCommand(newConsoleLink())
	return cmd
}

// remoteGateway locates the gateway of a console in a separate process.
type remoteGateway struct{ url, private, tokenFile string }

func (b *remoteGateway) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&b.url, "url", "", "the `URL` of the gateway")
	f.StringVar(&b.private, "private-url", "", "the `URL` of the gateway's private listener, which stores the sessions")
	f.StringVar(&b.tokenFile, "token-file", "", "a `file` with the token of a service with console:sessions, read at each use (default: signed with the master key)")
}

func (b *remoteGateway) validate() (problems []resources.Problem) {
	for _, one := range []struct{ flag, value string }{{"--url", b.url}, {"--private-url", b.private}} {
		if u := baseOf(one.value); u == nil {
			problems = append(problems, resources.Problem{Field: one.flag, Text: fmt.Sprintf("must be http:// or https:// and a host, without a query, not %q", one.value)})
		}
	}
	return problems
}

// baseOf parses a base URL. It returns nil for a malformed one.
func baseOf(text string) *url.URL {
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil
	}
	return u
}

// token returns a function that returns the console's token for the sessions.
func (b *remoteGateway) token(settings *config.Config) func() (string, error) {
	if b.tokenFile == "" {
		return func() (string, error) { return sign(settings, consoleToken()) }
	}
	return func() (string, error) { return readSecret(b.tokenFile) }
}

// sealer returns the sealer of the sign-in cookie. Consoles with the installation's master key share its key. A console
// without it makes a key, so a sign-in has to end at the console where it began.
func (b *remoteGateway) sealer(settings *config.Config) (resources.Sealer, error) {
	if b.tokenFile == "" {
		master, err := masterKeyFile(settings.Store).Read()
		if err != nil {
			return resources.Sealer{}, err
		}
		return resources.NewSealer(master.Derive(resources.PurposeConsole))
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return resources.Sealer{}, err
	}
	return resources.NewSealer([][]byte{key})
}

// remoteSessions reads the gateway's sessions and seals sign-in cookies here.
type remoteSessions struct {
	*private.RemoteSessions
	resources.Sealer
}

// serveConsole runs the console until the context ends.
func serveConsole(ctx context.Context, settings *config.Config, gateway *remoteGateway, log *observe.Log) error {
	hangups, giveBack := catchHangups()
	defer giveBack()
	sealer, err := gateway.sealer(settings)
	if err != nil {
		return err
	}
	if _, err := gateway.token(settings)(); err != nil {
		return fmt.Errorf("the token for sessions: %w", err)
	}
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	operators := towards(baseOf(gateway.private))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", settings.Listeners.Console)
	if err != nil {
		return fmt.Errorf("--console-listen: can't listen on %s: %w", settings.Listeners.Console, err)
	}
	var secure *tls.Config
	if settings.Listeners.HasTLS() {
		certificates, err := listen.ReadCertificates(settings.Listeners.TLS, time.Now)
		if err != nil {
			return errors.Join(fmt.Errorf("TLS: %w", err), listener.Close())
		}
		go certificates.Watch(ctx, hangups.all, func(err error) { tellCertificates(log, certificates, err) })
		secure = certificates.Config("http/1.1")
	}
	server, site, err := newConsoleServer(ctx, settings, listener.Addr(), console.Config{
		Sessions: remoteSessions{
			&private.RemoteSessions{URL: baseOf(gateway.private).String(), Transport: operators.inner, Token: gateway.token(settings)}, sealer,
		},
		Operators: settings.Console.Operators(), IDs: ids, Now: time.Now, Log: log.Logger,
		API: towards(baseOf(gateway.url)), Private: operators, Compare: comparer{baseOf(gateway.private).String()},
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	limits := settings.Limits.Edge
	bounds := listen.NewBounds(limits.Connections, limits.PerAddress, ids, log.Logger)
	ended := make(chan error, 1)
	go func() { ended <- listenerEnded(server.Serve(bounds.Listener(listener, secure))) }()
	log.Always("ready", "console_listen", listener.Addr().String(), "console_url", site.String(), "gateway", gateway.url, "version", version())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), settings.Limits.Drain)
	defer cancel()
	_ = server.Shutdown(last) // requests that exceed the drain timeout are cut off
	log.Always("stopped")
	return nil
}

// elsewhere sends every request to one server, with the path of the base URL before its own. It has no timeout: the
// console's requests have deadlines.
type elsewhere struct {
	base  *url.URL
	inner *http.Transport
}

func towards(base *url.URL) elsewhere {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return elsewhere{base, &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second,
		MaxConnsPerHost: consoleConns, MaxIdleConnsPerHost: consoleConns, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}}
}

// RoundTrip implements http.RoundTripper.
func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = e.base.Scheme, e.base.Host, ""
	if out.URL.RawPath != "" {
		out.URL.RawPath = e.base.EscapedPath() + out.URL.RawPath
	}
	out.URL.Path = e.base.Path + out.URL.Path
	return e.inner.RoundTrip(out)
}

// consoleToken requests a service token with console:sessions.
func consoleToken() authn.TokenRequest {
	return authn.TokenRequest{Subject: resources.ServicePrefix + "console", Scopes: []string{resources.ServiceScopeConsole}, TTL: time.Minute}
}

func newConsoleLink() *cobra.Command {
	settings := &config.Config{}
	var user, gateway string
	cmd := &cobra.Command{
		Use: "link", Short: "Print a link that signs a user in once, within a minute", Args: noArguments,
		Example: "  portcullis console link --user user-alice-v1",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			if !resources.ValidID(user) {
				return errors.New("--user: must be a user's external id, as user-alice-v1")
			}
			token, err := sign(settings, consoleToken())
			if err != nil {
				return err
			}
			settings.Listeners.Console = cmp.Or(settings.Listeners.Console, config.DemoConsole)
			site := settings.Console.URL(settings.Listeners.Console, false)
			if site == nil {
				return errors.New("--console-url: must be the URL of the console, as https://console.example.com")
			}
			link, err := consoleLink(cmd.Context(), gateway, token, user, site)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), link)
			return err
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	settings.AddFlags(cmd.Flags(), "console-listen", "console-url")
	cmd.Flags().StringVar(&user, "user", "", "the external `id` of the user")
	cmd.Flags().StringVar(&gateway, "private-url", "http://"+config.DefaultHealthListen, "the `URL` of the gateway's private listener")
	return cmd
}

// consoleLink gets a code from a running gateway and returns the link with it.
func consoleLink(ctx context.Context, gateway, token, user string, site *url.URL) (string, error) {
	address := strings.TrimSuffix(gateway, "/") + "/console/links?" + url.Values{"user": {user}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := private.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // the error contains what could be read
		return "", fmt.Errorf("the gateway returned %d: %s", resp.StatusCode, resources.OneLine(strings.TrimSpace(string(said))))
	}
	var answer struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Code == "" {
		return "", errors.New("--private-url: must be the private listener of a gateway; the response has no code")
	}
	return linkTo(site, answer.Code), nil
}

// linkTo returns the link to the console with a code.
func linkTo(site *url.URL, code string) string {
	return site.String() + "/login/link?" + url.Values{"code": {code}}.Encode()
}
