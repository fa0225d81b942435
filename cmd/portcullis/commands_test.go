package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
)

// TestEveryFlagOfATimeOrASizeTakesTheUnits guarantees it for every command.
func TestEveryFlagOfATimeOrASizeTakesTheUnits(t *testing.T) {
	for _, cmd := range newRoot().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			text := map[string]string{"duration": "1d", "size": "1MiB"}[f.Value.Type()]
			if text == "" {
				return
			}
			if err := f.Value.Set(text); err != nil {
				t.Errorf("%s --%s: %v", cmd.Name(), f.Name, err)
			}
		})
	}
}

// TestUnknownVariablesAreNamed, but for those that Kubernetes sets by itself, and never their
// values.
func TestUnknownVariablesAreNamed(t *testing.T) {
	got := unknownVariables([]string{
		"PORTCULLIS_LSTEN=:1", "PORTCULLIS_LISTEN=:1", "PORTCULLIS_TOKEN=x", "PORTCULLIS_URL=x", "PORTCULLIS_TTL=1h", "PORTCULLIS_USE=true", "HOME=/", "PORTCULLIS_DATA-DIR=x", "portcullis_listen=x", "PORTCULLIS_=x",
		"PORTCULLIS_PORT=tcp://10.0.0.1:8080", "PORTCULLIS_PORT_8080_TCP_ADDR=10.0.0.1", "PORTCULLIS_SERVICE_HOST=10.0.0.1", "PORTCULLIS_SERVICE_PORT_HTTP=8080",
	}, newRoot())
	if want := "PORTCULLIS_ PORTCULLIS_DATA-DIR PORTCULLIS_LSTEN"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMistakesOnACommandLineAreTold with what is wrong and the remedy, and nothing runs.
func TestMistakesOnACommandLineAreTold(t *testing.T) {
	for line, says := range map[string][]string{
		"serve now":                            {"serve takes no arguments", `"now"`, "portcullis serve --help"},
		"version now":                          {"version takes no arguments"},
		"store new-generation now":             {"new-generation takes no arguments", "portcullis store new-generation --help"},
		"store now":                            {`unknown command "now"`},
		"policy now":                           {`unknown command "now"`},
		"decisions now":                        {`unknown command "now"`, "portcullis decisions --help"},
		"decisions search -n -1":               {"--number must be 0 or more, not -1"},
		"policy check a b":                     {"check takes one policy tree at most; it was given 2"},
		"policy diff a":                        {"diff takes the policy trees OLD and NEW; it was given 1"},
		"policy test a b":                      {"test takes one policy tree at most; it was given 2"},
		"policy check --url http://x":          {"--url is for --against live"},
		"policy check --url x --against .":     {"--url is for --against live"},
		"why --facts no --user x":              {"why --facts asks no gateway", "--user"},
		"store copy --from . --to ftp://h":     {"--from and --to: each is a data folder"},
		"store copy --from . --to ./":          {"--from and --to name the same store"},
		"store verify a b":                     {"verify takes one FILE at most; it was given 2", "portcullis store verify --help"},
		"check":                                {"the path in question, not 0", "accounts/"},
		"provisioner --simulate --url ftp://h": {"--url must be http://host:port"},
		"check --url h p":                      {"--url must be http://host:port"},
		"check a b":                            {"the path in question, not 2"},
		"why":                                  {"the path in question, not 0", "accounts/"},
		"why --facts no x":                     {"why --facts takes no path", `"x"`},
		"why --facts no":                       {"--facts: open no"},
		"serve --deny 1":                       {"--deny", "portcullis serve --help"},
		"serve --deny-status x":                {`--deny-status: "x" does not fit: it takes a whole number`},
		"serve --pprof=x":                      {`--pprof: "x" does not fit: it takes true or false`},
		"serve --body-limit 1MB":               {`--body-limit: "1MB" does not fit`, "64KiB"},
		"token --user x --ttl 10":              {`--ttl: "10" does not fit`, "90s"},
		"bootstrap --account a --name n":       {"2 problems: (1) --account: ", "(2) --admin-email: "},
		"bootstrap --mongo-url mongodb://h/d":  {"--mongo-url: needs --master-key-file"},
		"bootstrap --jwt-issuer i":             {"--jwt-issuer: belongs together with --jwt-audience"},
		"bootstrap --invitation-ttl 1s":        {"--invitation-ttl: must be a minute at least"},
		"serve --policy-dir nowhere":           {"--policy-dir: nowhere is not a folder"},
		"serve --smtp-url x":                   {"--smtp-url: "},
		"token --user x --master-key-file no":  {"master key: there is no no;", "another replica"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Chdir(t.TempDir())
			root := newRoot()
			root.SetArgs(strings.Fields(line))
			err := root.ExecuteContext(t.Context())
			if err == nil {
				t.Fatal("it ran")
			}
			for _, text := range says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
		})
	}
}

// TestNoCommandTakesAnEmptyFlagForAMissingOne guarantees it for each flag with a text: a variable of a shell without a value
// would drop the account of an export, the guards of a check or the agent of a token.
func TestNoCommandTakesAnEmptyFlagForAMissingOne(t *testing.T) {
	root, flags := newRoot(), 0
	var each func(path []string, cmd *cobra.Command)
	each = func(path []string, cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			each(append(path[:len(path):len(path)], child.Name()), child)
		}
		var line, says []string
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "string" && f.DefValue == "" {
				line, says = append(line, "--"+f.Name+"="), append(says, "--"+f.Name+" is empty: ")
			}
		})
		cmd.Args, cmd.RunE = cobra.ArbitraryArgs, func(*cobra.Command, []string) error { return nil }
		root.SetArgs(append(path, line...))
		err := fmt.Sprint(root.ExecuteContext(t.Context()))
		for _, text := range says {
			if flags++; !strings.Contains(err, text) {
				t.Errorf("%s: %s does not say %q", strings.Join(path, " "), err, text)
			}
		}
	}
	each(nil, root)
	if flags < 100 {
		t.Errorf("only %d flags", flags)
	}
}

// TestHelpOfServeHasItsFlagsInGroups, each flag once and below the title of its concern, and examples.
func TestHelpOfServeHasItsFlagsInGroups(t *testing.T) {
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"serve", "--help"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	help := out.String()
	if !strings.Contains(help, "Examples:\n  portcullis serve --demo\n") {
		t.Error("no examples")
	}
	for _, concern := range new(config.Config).Concerns() {
		_, below, grouped := strings.Cut(help, "\n\n"+concern.Title+":\n")
		group, _, _ := strings.Cut(below, "\n\n")
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		concern.AddFlags(flags)
		flags.VisitAll(func(f *pflag.Flag) {
			if flag := "      --" + f.Name + " "; !grouped || !strings.Contains(group, flag) || strings.Count(help, flag) != 1 {
				t.Errorf("--%s is not below %q alone", f.Name, concern.Title)
			}
		})
	}
}

// TestHelpHasExamples guarantees examples for each runnable command. The command line accepts them.
func TestHelpHasExamples(t *testing.T) {
	var leaves func(cmd *cobra.Command)
	leaves = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			leaves(sub)
		}
		if cmd.HasSubCommands() || cmd.Name() == "version" {
			return
		}
		if cmd.Example == "" {
			t.Errorf("%s has none", cmd.CommandPath())
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(cmd.Example, "\\\n", ""), "\n") {
			args := strings.Fields(strings.ReplaceAll(line, "'", ""))
			if len(args) == 0 {
				continue
			}
			command, rest, err := newRoot().Find(args[1:])
			if err == nil {
				err = command.ParseFlags(rest)
			}
			if err == nil && command.Args != nil {
				err = command.Args(command, command.Flags().Args())
			}
			if err != nil || command.CommandPath() != cmd.CommandPath() {
				t.Errorf("%q is %s: %v", line, command.CommandPath(), err)
			}
		}
	}
	leaves(newRoot())
}

// TestAStrangerAtAURLIsTold guarantees that the answer of another server is not taken for a tree or a decision. A tool
// asks before it prints anything.
func TestAStrangerAtAURLIsTold(t *testing.T) {
	for body, says := range map[string]string{"{}": "private listener", "[]": "", "": "", "\x00": ""} {
		stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		for _, line := range []string{"policy diff live embedded", "policy check --against live", "decisions show x --token t", "decisions search --token t"} {
			root := newRoot()
			var out bytes.Buffer
			root.SetOut(&out)
			root.SetArgs(append(strings.Fields(line), "--url", stranger.URL))
			if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), says) || out.Len() > 0 {
				t.Errorf("%s, %q: %v, %s", line, body, err, &out)
			}
		}
		stranger.Close()
	}
}

// TestAnInterruptedToolFindsNothingWrong guarantees that a tree is not said to be wrong because its author stopped waiting.
func TestAnInterruptedToolFindsNothingWrong(t *testing.T) {
	interrupted := errors.New("interrupted")
	for _, line := range []string{"policy check", "policy test", "policy diff embedded embedded"} {
		ctx, interrupt := context.WithCancelCause(t.Context())
		interrupt(interrupted)
		root := newRoot()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(strings.Fields(line))
		if err := root.ExecuteContext(ctx); !errors.Is(err, interrupted) && !errors.Is(err, context.Canceled) || out.Len() > 0 {
			t.Errorf("%s: %v, %s", line, err, &out)
		}
	}
}

// TestAStopBeforeItIsReadyIsNoError guarantees that a gateway stopped during its start ends like one stopped later.
func TestAStopBeforeItIsReadyIsNoError(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, demo := range []string{"--demo=false", "--demo"} {
		root := newRoot()
		var log bytes.Buffer
		root.SetErr(&log)
		root.SetArgs([]string{
			"serve", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", "--console-listen", "127.0.0.1:0", demo,
		})
		if err := root.ExecuteContext(stopped); err != nil || !strings.HasSuffix(log.String(), `"msg":"stopped","served":0}`+"\n") {
			t.Errorf("%s: %v, %s", demo, err, &log)
		}
	}
}
