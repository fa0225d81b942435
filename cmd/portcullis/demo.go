package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/provision"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// The demo data.
const (
	demoAccount = "acct-demo-v1"
	demoProject = "proj-demo-v1"
	demoAlice   = "user-alice-v1"
	demoBob     = "user-bob-v1"
	demoCarol   = "user-carol-v1"
)

// makeDemo makes the demo data on an empty store with --demo, in two steps; a repeat changes nothing. It
// leaves a store with accounts of its own alone, and reports whether the demo account is
// there.
func (a *app) makeDemo(ctx context.Context) (exists bool, err error) {
	if !a.settings.Demo {
		return false, nil
	}
	var foreign bool
	err = a.store.View(ctx, func(tx store.Tx) error {
		recs, err := a.collections.Accounts.Find(ctx, tx, store.Query{Index: records.ByCreated, Limit: 2})
		if err != nil {
			return err
		}
		_, err = a.collections.Accounts.Get(ctx, tx, demoAccount)
		exists = err == nil
		foreign = len(recs) > 1 || len(recs) == 1 && !exists
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err == nil && foreign && !exists {
		a.log.Warn("the store has accounts of its own; no demo data was made")
	}
	if err != nil || foreign {
		return exists, err
	}
	return true, a.fillDemo(ctx)
}

// fillDemo makes the demo's account with its project, users and agent, unless they are there.
func (a *app) fillDemo(ctx context.Context) error {
	_, err := a.access.Bootstrap(ctx, access.Bootstrap{
		AccountID: demoAccount, AccountName: "Demo", AdminEmail: "alice@demo.example", AdminID: demoAlice, AdminName: "Alice",
		ProjectID: demoProject, ProjectName: "Demo project",
	})
	if resources.IsKind(err, resources.KindConflict) {
		return nil // the operator has changed the demo account, and keeps it as it is
	}
	if err != nil {
		return err
	}
	err = a.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, demoAccount); err != nil {
			return err
		}
		bob := resources.Assignment{RoleID: "project_reader", RoleScope: resources.RoleScopeProject, ProjectID: demoProject}
		carol := resources.Assignment{RoleID: "team_member", RoleScope: resources.RoleScopeAccount}
		return errors.Join(
			a.demoMember(ctx, tx, demoBob, "Bob", "bob@demo.example", bob),
			a.demoMember(ctx, tx, demoCarol, "Carol", "carol@demo.example", carol))
	})
	if err != nil {
		return err
	}
	return a.fillAgent(ctx)
}

// demoMember makes one user with one role, unless the user is there.
func (a *app) demoMember(ctx context.Context, tx store.Tx, id, name, email string, role resources.Assignment) error {
	_, err := a.collections.Users.Get(ctx, tx, id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	now := resources.At(time.Now())
	err = a.collections.Users.Insert(ctx, tx, resources.User{
		ExternalID: id, UUID: a.ids.UUID(), AccountID: demoAccount, Email: email, Name: name, IsVerified: true,
		Status: resources.StatusActive, AuthenticationType: "unknown", MemberSince: now, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return err
	}
	role.AccountID, role.AssigneeType, role.AssigneeID = demoAccount, resources.AssigneeUser, id
	role.Status, role.CreatedAt, role.UpdatedAt = resources.StatusActive, now, now
	role.ID = records.AssignmentID(role)
	return a.collections.Assignments.Insert(ctx, tx, role)
}

// provideDemo has the simulated provisioner make and take away the clusters of the demo, until the
// context ends.
func (a *app) provideDemo(ctx context.Context, listener net.Addr) {
	s := &provision.Simulator{
		URL: "http://" + reachable(listener), Token: func() (string, error) { return sign(a.settings, provisionerToken()) },
		Step: defaultStep, Log: a.log.With("part", "simulated provisioner"),
	}
	if err := s.Run(ctx); err != nil {
		a.log.Warn("the demo's clusters stay as they are: the simulated provisioner has ended", "error", err.Error())
	}
}

const (
	// demoTTL is how long the demo's token is valid.
	demoTTL = 24 * time.Hour
	// demoTokenFile is its file in the data folder.
	demoTokenFile = "demo.token"
)

// showDemo prints how to use the demo, and has the simulated provisioner make its clusters until the context ends.
func (a *app) showDemo(ctx context.Context, out io.Writer, open listeners, site *consoleServer, desk *demoDesk) error {
	lines, err := a.demoLines(ctx, open, site)
	if err != nil {
		return err
	}
	more, err := a.agentLines(desk)
	if err != nil {
		return err
	}
	go a.provideDemo(ctx, open.edge[0].Addr())
	_, err = fmt.Fprintln(out, strings.Join(append(lines, more...), "\n"))
	return err
}

// demoLines returns what listens where, and a command for each kind of answer with the answer of this
// moment: the demo data may have been changed since it was made. The gateway listens already.
func (a *app) demoLines(ctx context.Context, open listeners, site *consoleServer) ([]string, error) {
	token, path, err := a.writeDemoToken(demoTokenFile, authn.TokenRequest{Subject: "service-demo", Scopes: []string{resources.ServiceScopeCheck}, TTL: demoTTL})
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
	}
	shown, err := a.consoleLines(ctx, site)
	if err != nil {
		return nil, err
	}
	lines = append(lines, shown...)
	lines = append(lines,
		"# Ask for a decision, in another shell. The token in "+path+" may ask about anybody, for 24 hours.")
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

// consoleLines returns the address of the console, and a link that signs Alice in. It has no link if somebody removed
// her.
func (a *app) consoleLines(ctx context.Context, site *consoleServer) ([]string, error) {
	lines := []string{"#"}
	if site == nil {
		return lines, nil
	}
	lines = []string{"#   console                  " + site.url.String(), "#"}
	code, err := a.sessions.NewCode(ctx, demoAlice)
	switch {
	case resources.IsKind(err, resources.KindNotFound):
		return lines, nil
	case err != nil:
		return nil, err
	}
	return append(lines,
		"# Sign in to the console as Alice, within a minute. `portcullis console link --user "+demoAlice+"` makes another link.",
		"#   "+linkTo(site.url, code), "#"), nil
}

// writeDemoToken writes a new token into a file of the data folder, for its owner alone, and returns it and
// the file's path for a shell.
func (a *app) writeDemoToken(name string, request authn.TokenRequest) (token, path string, err error) {
	signer, err := authn.NewSigner(a.master)
	if err != nil {
		return "", "", err
	}
	token, err = signer.Sign(request)
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
	if err := replaceFile(filepath.Join(dir, name), token+"\n"); err != nil {
		return "", "", err
	}
	return token, quoted(filepath.Join(dir, name)), nil
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
		_ = os.Remove(file.Name()) // the first error is reported
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
