package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// errNothing ends a command with exit code 1 and without a message: there is no such decision, or the log is not whole,
// as printed already.
var errNothing = errors.New("nothing found")

// tellUnreadable returns what counts the lines that a reading passes over, and what says at its end how many they were.
func tellUnreadable(out io.Writer) (count func(decisionlog.Missing), say func()) {
	var unreadable uint64
	return func(m decisionlog.Missing) { unreadable += m.Unreadable }, func() {
		if unreadable > 0 {
			fmt.Fprintf(out, "%d lines or segments can't be read: `portcullis decisions verify` names them\n", unreadable)
		}
	}
}

func newDecisions() *cobra.Command {
	return family("decisions", "Read what was decided, and show that nobody has changed it",
		decisionsCommand(reading{
			use: "tail", example: "  portcullis decisions tail -f", short: "Print the newest decisions, and with --follow those that are made from now on", limit: 10, reversed: true, follows: true,
		}),
		decisionsCommand(reading{
			use: "search", example: "  portcullis decisions search --user user-bob-v1 --verdict deny --since 24h",
			short: "Find decisions, the newest first: exit 0 found, 1 none, 2 error", limit: 100, mustFind: true,
		}),
		decisionsCommand(reading{
			use: "show ID", example: "  portcullis decisions show 01m8324b9vr5vs1j3q6kwbv04j",
			short: "Print one decision whole: exit 0 found, 1 none, 2 error", limit: 1, byID: true, json: true, mustFind: true,
		}),
		decisionsCommand(reading{
			use: "export", example: "  portcullis decisions export --since 24h",
			short: "Print decisions as OPA's decision log events, one a line, the oldest first", json: true, oldest: true,
		}),
		newVerifyDecisions())
}

// reading is a command that reads decisions.
type reading struct {
	use, short, example string
	// limit is how many it prints where nobody says otherwise.
	limit int
	// reversed prints the newest last.
	reversed, follows, byID, oldest, json, mustFind bool
}

// decisionsCommand returns a command that reads the decision log, with the flags of its kind.
func decisionsCommand(r reading) *cobra.Command {
	settings, q := &config.Config{}, &private.Query{Oldest: r.oldest}
	gateway, asJSON := runningLog{settings: settings}, r.json
	cmd := &cobra.Command{
		Use: r.use, Short: r.short, Example: r.example,
		Args: func(cmd *cobra.Command, args []string) error {
			if !r.byID {
				return noArguments(cmd, args)
			}
			if len(args) != 1 || args[0] == "" {
				return fmt.Errorf("show takes one argument, the id of a decision as in X-Decision-ID, not %q", args)
			}
			q.ID = args[0]
			return nil
		},
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			if q.Limit < 0 {
				return fmt.Errorf("--number must be 0 or more, not %d; 0 is all", q.Limit)
			}
			return r.run(cmd, settings, q, gateway, asJSON)
		}),
	}
	settings.AddDataFolderFlags(cmd.Flags())
	hideAllBut(cmd.Flags(), "config", "data-dir", "master-key-file")
	f := cmd.Flags()
	f.StringVar(&gateway.url, "url", "", "the `URL` of the private listener of a running gateway, in place of --data-dir")
	f.StringVar(&gateway.token, "token", "", "with --url: a `token` that may explain decisions (default: one signed with the data folder's key)")
	if r.byID {
		q.Limit = 1
		return cmd
	}
	f.StringVar(&q.User, "user", "", "the `id` of the user in question, or of the caller")
	f.StringVar(&q.Account, "account", "", "the `id` of the account in question")
	f.StringVar(&q.Action, "action", "", "the `action` in question")
	f.StringVar(&q.Place, "place", "", "a `path`, as projects/proj-demo-v1: decisions there and below")
	f.StringVar(&q.Path, "path", "", "what was `asked`: authz/decision, authz/access, authz/grantable, apps/<name>/decision, mcp/call or mcp/outcome")
	f.StringVar(&q.Verdict, "verdict", "", "allow or deny")
	f.StringVar(&q.Since, "since", "", "the earliest `time`, as 2026-01-31T12:00:00Z, or how long ago, as 90m")
	f.StringVar(&q.Until, "until", "", "the latest `time`")
	f.IntVarP(&q.Limit, "number", "n", r.limit, "how many at most; 0 is all")
	if !r.json {
		f.BoolVar(&asJSON, "json", false, "print whole events, one a line")
	}
	if r.follows {
		f.BoolVarP(&q.Follow, "follow", "f", false, "go on with the decisions that are made from now on")
	}
	return cmd
}

// runningLog is the decision log of a running gateway.
type runningLog struct {
	// url is that of the private listener.
	url string
	// token is the caller's; where it is "", the data folder's key signs one for each request.
	token    string
	settings *config.Config
}

// bearer returns the token of a request. One that is signed outlives the longest answer.
func (l *runningLog) bearer() (string, error) {
	if l.token != "" {
		return l.token, nil
	}
	token, err := sign(l.settings, authn.TokenRequest{
		Subject: resources.ServicePrefix + "decisions", Scopes: []string{resources.ServiceScopeExplain}, TTL: private.FollowWithin + time.Minute,
	})
	if err != nil {
		return "", fmt.Errorf("there is no --token, and none can be signed: %w", err)
	}
	return token, nil
}

// run prints the decisions.
func (r reading) run(cmd *cobra.Command, settings *config.Config, q *private.Query, gateway runningLog, asJSON bool) error {
	out, n := cmd.OutOrStdout(), 0
	show := func(e decisionlog.Event) error {
		n++
		return printDecision(out, &e, asJSON, r.byID)
	}
	source := func(q *private.Query, fn func(decisionlog.Event) error) error {
		if gateway.url != "" {
			return q.Ask(cmd.Context(), private.Log{URL: gateway.url, Bearer: gateway.bearer}, fn)
		}
		dir := settings.Store.DecisionsDir()
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("--data-dir: there are no decisions in %s", dir)
		}
		count, say := tellUnreadable(cmd.ErrOrStderr())
		defer say()
		reader := decisionlog.Reader{Dir: dir, Missing: count}
		if isTerminal(os.Stderr) && !r.follows {
			reader.Progress = func(read, total int) { fmt.Fprintf(os.Stderr, "\r%d of %d segments\x1b[K\r", read, total) }
		}
		return q.Read(cmd.Context(), reader, engine.RecordedInput, fn)
	}
	newest := *q
	newest.Follow = false
	if q.Follow {
		q.From = resources.At(time.Now())
	}
	shown := map[string]bool{}
	var err error
	if r.reversed {
		var kept []decisionlog.Event
		err = source(&newest, func(e decisionlog.Event) error { kept = append(kept, e); return nil })
		for _, e := range slices.Backward(kept) {
			shown[e.DecisionID] = true
			err = errors.Join(err, show(e))
		}
	} else {
		err = source(&newest, show)
	}
	if err == nil && q.Follow {
		err = source(q, func(e decisionlog.Event) error {
			if shown[e.DecisionID] {
				return nil
			}
			return show(e)
		})
	}
	if err == nil && r.mustFind && n == 0 {
		return errNothing
	}
	return err
}

// printDecision prints a decision as JSON, or as a line for a reader. Clients choose texts in it, so it escapes what could
// steer a terminal; in JSON that is the same value.
func printDecision(out io.Writer, e *decisionlog.Event, asJSON, whole bool) error {
	out = observe.Printable(out)
	if !asJSON {
		_, err := fmt.Fprintln(out, decisionLine(e))
		return err
	}
	text, err := e.JSON()
	if err == nil && whole {
		var indented bytes.Buffer
		err = json.Indent(&indented, text, "", "  ")
		text = indented.Bytes()
	}
	if err != nil {
		return err
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// decisionLine returns a decision for a reader.
func decisionLine(e *decisionlog.Event) string {
	var result struct {
		Allow, Decision bool
		Reason, Code    string
		EndedBy         string `json:"ended_by"`
	}
	_ = json.Unmarshal(e.Result, &result) // of what is masked nothing is shown
	verdict := "deny "
	switch {
	case e.Path == resources.PathMCPOutcome:
		verdict = "ended"
	case result.Allow || result.Decision:
		verdict = "allow"
	}
	user, action, place := e.Named()
	parts := []string{e.Timestamp, verdict, e.DecisionID, e.Path, "by=" + e.RequestedBy}
	if result.Reason != "" {
		result.Code = ""
	}
	for name, value := range map[string]string{
		"user=": user, "action=": action, "place=": place, "code=": result.Code, "ended_by=": result.EndedBy,
	} {
		if value != "" {
			parts = append(parts, name+value)
		}
	}
	slices.Sort(parts[5:])
	if result.Reason != "" {
		parts = append(parts, fmt.Sprintf("%q", result.Reason))
	}
	return strings.Join(parts, " ")
}

func newVerifyDecisions() *cobra.Command {
	settings := &config.Config{}
	keyFile := ""
	cmd := &cobra.Command{
		Use: "verify", Short: "Hold the decision log against its hashes, signatures and the store: exit 0 whole, 1 not, 2 error", Args: noArguments,
		Example: "  portcullis decisions verify --data-dir ./data",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			if keyFile != "" {
				settings.Store.MasterKeyFile = keyFile
			}
			return verifyDecisions(cmd.Context(), cmd.OutOrStdout(), settings.Store)
		}),
	}
	settings.AddFlags(cmd.Flags(), "config", "data-dir", "master-key-file", "mongo-url")
	cmd.Flags().StringVar(&keyFile, "key-file", "", "the `file` of the master key, as --master-key-file")
	return cmd
}

// verifyDecisions prints what is wrong with the log.
func verifyDecisions(ctx context.Context, out io.Writer, s config.Store) error {
	none := fmt.Errorf("--data-dir: there are no decisions in %s", s.DecisionsDir())
	_, missing := os.Stat(s.DecisionsDir())
	if missing != nil && s.MongoURL == "" && !sqlite.Exists(s.DataDir) {
		return none
	}
	master, err := masterKeyFile(s).Read()
	if err != nil {
		return err
	}
	report, err := checkDecisions(ctx, s, s.DecisionsDir(), &master)
	if err != nil {
		return err
	}
	if missing != nil && len(report.Findings) == 0 { // which the store does not miss
		return none
	}
	report.print(out)
	if len(report.Findings) > 0 {
		return errNothing
	}
	fmt.Fprintln(out, "ok")
	return nil
}

// logReport is what is found of a decision log.
type logReport struct {
	*decisionlog.Report
	// unknown says why the end is not known, unsigned why no signature was checked; each is "" if it was.
	unknown, unsigned string
}

// print prints what was found.
func (r *logReport) print(out io.Writer) {
	for _, f := range r.Findings {
		fmt.Fprintln(out, "NOT WHOLE: "+f.String())
	}
	fmt.Fprintf(out, "logs: %d, segments: %d, decisions: %d, missing by the log's own count: %d\n", r.Logs, r.Segments, r.Records, r.Lost)
	for _, account := range slices.Sorted(maps.Keys(r.LostOf)) {
		fmt.Fprintf(out, "missing of %s: %d\n", cmp.Or(account, "other accounts"), r.LostOf[account])
	}
	if r.unsigned != "" {
		fmt.Fprintln(out, "signatures were not checked: "+r.unsigned)
	}
	if r.unknown != "" {
		fmt.Fprintln(out, "the end is unknown: "+r.unknown+"; decisions that were cut off at the end of the log would not be found")
	}
}

// checkDecisions holds the decisions of a folder against their hashes, with a key against their signatures, and where the
// store can be asked, against its heads.
func checkDecisions(ctx context.Context, s config.Store, dir string, master *resources.MasterKey) (r *logReport, err error) {
	r = &logReport{unknown: "there is no key", unsigned: "there is no key"}
	o := decisionlog.VerifyOptions{Alone: s.MongoURL == ""}
	if master != nil {
		o.Secrets, r.unsigned = master.Derive(resources.PurposeLog), ""
		if r.unknown, err = readHeads(ctx, s, *master, &o); err != nil {
			return nil, err
		}
	}
	r.Report, err = decisionlog.Verify(ctx, dir, o)
	return r, err
}

// readHeads asks the store how far the logs were written; unknown says why it can't be asked.
func readHeads(ctx context.Context, s config.Store, master resources.MasterKey, o *decisionlog.VerifyOptions) (unknown string, err error) {
	if s.MongoURL == "" && !sqlite.Exists(s.DataDir) {
		return "there is no store in " + s.DataDir, nil
	}
	collections := records.NewCollections()
	opened, err := inspectStore(ctx, s, collections)
	if errors.Is(err, sqlite.ErrInUse) {
		return "a running gateway holds the store", nil
	} else if err != nil {
		return "", err
	}
	err = masterkey.KnowsStore(ctx, opened, collections, master)
	if err == nil {
		if o.Heads, err = (logHeads{opened, collections}).Heads(ctx); o.Heads == nil {
			o.Heads = []decisionlog.Head{}
		}
	}
	return "", errors.Join(err, opened.Close())
}
