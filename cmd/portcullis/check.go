package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// question is a question of `check` or `why` to a running gateway.
type question struct{ url, token, user, account, action, path string }

func newCheck() *cobra.Command {
	settings := &config.Config{}
	var q question
	cmd := &cobra.Command{
		Use: "check PATH", Short: "Ask a running gateway for a decision: exit 0 allowed, 1 denied, 2 error",
		Example: "  portcullis check --user user-bob-v1 --account acct-demo-v1 --action project:instance:read \\\n" +
			"    accounts/acct-demo-v1/projects/proj-demo-v1/instances",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("check takes one argument, the path in question, not %d; as in accounts/acct-demo-v1/projects/proj-demo-v1/instances", len(args))
			}
			return nil
		},
		RunE: filled(settings, func(cmd *cobra.Command, args []string) error {
			if err := q.complete(settings, args[0], "check", resources.ServiceScopeCheck); err != nil {
				return err
			}
			return q.ask(cmd.Context(), cmd.OutOrStdout())
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	hideAllBut(cmd.Flags(), "config", "data-dir", "master-key-file")
	q.addFlags(cmd.Flags())
	return cmd
}

// addFlags adds what a question is made of but for its path.
func (q *question) addFlags(f *pflag.FlagSet) {
	f.StringVar(&q.url, "url", "http://127.0.0.1:8080", "the `URL` of the gateway")
	f.StringVar(&q.token, "token", "", "a `token` that may ask (default: one signed with the data folder's key)")
	f.StringVar(&q.user, "user", "", "the `id` of the user in question")
	f.StringVar(&q.account, "account", "", "the `id` of the account in question")
	f.StringVar(&q.action, "action", "", "the `action` in question: <scope>:<resource>:<verb>")
}

// complete takes the path. Without a token it signs one for a service of that name and scope.
func (q *question) complete(settings *config.Config, path, service, scope string) error {
	q.path = strings.TrimPrefix(path, "/")
	if err := checkGatewayURL(q.url); err != nil {
		return err
	}
	if q.user == "" || q.account == "" || q.action == "" {
		return errors.New("--user, --account and --action are needed")
	}
	if q.token != "" {
		return nil
	}
	token, err := sign(settings, authn.TokenRequest{Subject: resources.ServicePrefix + service, Scopes: []string{scope}, TTL: time.Minute})
	if err != nil {
		return fmt.Errorf("there is no --token, and none can be signed: %w", err)
	}
	q.token = token
	return nil
}

// checkGatewayURL refuses a --url other than a gateway's; the error would otherwise be a gateway that does not answer.
func checkGatewayURL(text string) error {
	base, err := url.Parse(text)
	if err != nil || base.Hostname() == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.Fragment != "" {
		return errors.New("--url must be http://host:port or https://host:port, without a query")
	}
	return nil
}

// ask prints the decision; a denial is errDenied.
func (q question) ask(ctx context.Context, out io.Writer) error {
	answer, err := q.decide(ctx)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, answer); err != nil || answer.allowed {
		return err
	}
	return errDenied
}

// decided is the decision of a gateway.
type decided struct {
	allowed bool
	reason  string
}

// String returns the decision for a reader.
func (d decided) String() string {
	if d.allowed {
		return "allowed: " + d.reason
	}
	return "denied: " + d.reason
}

var errPath = errors.New("the path can't be sent as it is, and the question would be about another path; " +
	"leave a # out, and percent-encode other characters that a URL can't hold")

// decide asks the gateway.
func (q question) decide(ctx context.Context) (decided, error) {
	status, body, err := q.send(ctx, "/api/v1/authorize/")
	if err != nil {
		return decided{}, err
	}
	var answer struct {
		Allowed *bool  `json:"allowed"`
		Reason  string `json:"reason"`
	}
	ok := status == http.StatusOK || status == http.StatusForbidden
	if err := json.Unmarshal(body, &answer); err != nil || answer.Allowed == nil || !ok {
		return decided{}, fmt.Errorf("the gateway answers %d: %s", status, body)
	}
	return decided{*answer.Allowed, answer.Reason}, nil
}

// send sends the question to one of the endpoints that take it.
func (q question) send(ctx context.Context, endpoint string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	target := endpoint + q.path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(q.url, "/")+target, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	if !strings.HasSuffix(req.URL.RequestURI(), target) {
		return 0, nil, errPath
	}
	req.Header.Set("Authorization", "Bearer "+q.token)
	req.Header.Set("X-User-ID", q.user)
	req.Header.Set("X-Account-ID", q.account)
	req.Header.Set("X-Action", q.action)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("the gateway does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, body, err
}
