package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// demoTTL is how long the demo's token is valid.
	demoTTL = 24 * time.Hour
	// demoTokenFile is its file in the data folder.
	demoTokenFile = "demo.token"
)

// demoLines returns what listens where, and a command for each kind of answer with the answer of this
// moment: the demo data may have been changed since it was made. The gateway listens already.
func (a *app) demoLines(ctx context.Context, open listeners) ([]string, error) {
	token, path, err := a.writeDemoToken()
	if err != nil {
		return nil, err
	}
	edge := "http://" + reachable(open.edge[0].Addr())
	lines := []string{
		"",
		"# Portcullis runs with demo data. Ctrl-C stops it; the data stays in " + quoted(a.settings.Store.DataDir) + ".",
		"#   API                      " + edge + ", and the same at http://" + reachable(open.edge[1].Addr()),
		"#   API in a browser         " + edge + "/docs",
		"#   health, metrics, status  http://" + reachable(open.health.Addr()),
		"#",
		"# Ask for a decision, in another shell. The token in " + path + " may ask about anybody, for 24 hours.",
	}
	for _, one := range []struct{ asks, user, action string }{
		{"May alice create an instance?", demoAlice, "project:instance:create"},
		{"May bob create one?", demoBob, "project:instance:create"},
		{"May bob read one?", demoBob, "project:instance:read"},
		{"May carol read one?", demoCarol, "project:instance:read"},
		{"This is no action: 400, with every problem.", demoAlice, "create-instances"},
	} {
		q := question{
			url: edge, token: token, user: one.user, account: demoAccount, action: one.action,
			path: "accounts/" + demoAccount + "/projects/" + demoProject + "/instances",
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

// writeDemoToken writes a new token into the data folder, for its owner alone, and returns it and the
// file's path for a shell.
func (a *app) writeDemoToken() (token, path string, err error) {
	signer, err := authn.NewSigner(a.master)
	if err != nil {
		return "", "", err
	}
	token, err = signer.Sign(authn.TokenRequest{Subject: "service-demo", Scopes: []string{resources.ServiceScopeCheck}, TTL: demoTTL})
	if err != nil {
		return "", "", err
	}
	dir, err := filepath.Abs(a.settings.Store.DataDir)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // on a database there is none yet
		return "", "", err
	}
	if err := replaceFile(filepath.Join(dir, demoTokenFile), token+"\n"); err != nil {
		return "", "", err
	}
	return token, quoted(filepath.Join(dir, demoTokenFile)), nil
}

// replaceFile puts a file that only its owner can read in the place of another one.
func replaceFile(path, content string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the first error is the one to tell
	}
	return err
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
