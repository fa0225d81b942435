package config

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// validated returns what is wrong with these values of flags, one line a problem.
func validated(t *testing.T, args ...string) string {
	t.Helper()
	c, flags := serveFlags()
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range c.Validate() {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// TestDefaultsAreValid: serve starts without any setting.
func TestDefaultsAreValid(t *testing.T) {
	if got := validated(t); got != "" {
		t.Error(got)
	}
}

// TestEveryProblemIsNamedAtOnce, one of each concern, in the order of the documentation.
func TestEveryProblemIsNamedAtOnce(t *testing.T) {
	got := strings.Split(validated(t, "--listen", "here", "--accounts-url", "accounts:8080", "--redis-url", "redis://h:1", "--deny-status", "500",
		"--jwt-issuer", "https://idp.example", "--role", "edge", "--invitation-ttl", "1s", "--read-timeout", "0s", "--rate-account", "10",
		"--cached-tokens", "-1", "--log-level", "loud", "--demo"), "\n")
	want := []string{
		"--listen", "--accounts-url", "--redis-url", "--deny-status", "--jwt-issuer", "--role", "--invitation-ttl",
		"--read-timeout", "--rate-account", "--cached-tokens", "--log-level", "--demo",
	}
	if len(got) != len(want) {
		t.Fatalf("%d problems:\n%s", len(got), strings.Join(got, "\n"))
	}
	for i, flag := range want {
		if !strings.HasPrefix(got[i], flag+": ") {
			t.Errorf("%q, want %s", got[i], flag)
		}
	}
}

// TestOneMistakeIsOneProblem guarantees that the consequences of a mistake are not reported.
func TestOneMistakeIsOneProblem(t *testing.T) {
	for name, args := range map[string][]string{
		"a rate that others default to":       {"--rate-principal", "100"},
		"an upstream that the role needs":     {"--role", "gateway", "--upstream", "firewall=h", "--upstream", "clusters=http://h"},
		"an unknown area":                     {"--role", "resources", "--master-key-file", "k", "--areas", "users"},
		"a body of no size":                   {"--body-limit", "0"},
		"a listener without a port":           {"--health-listen", "h"},
		"a name of a host with a port":        {"--health-hosts", "gw.example:9002"},
		"an empty name of a host":             {"--health-hosts", "gw.example,"},
		"a timeout beyond the longest":        {"--handle-timeout", "2m"},
		"clusters without the firewall, here": {"--upstream", "firewall=http://h"},
		"clusters without the firewall":       {"--role", "resources", "--master-key-file", "k", "--areas", "clusters"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := validated(t, args...); got == "" || strings.Contains(got, "\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestALeaseLeavesTimeToDeleteAProject guarantees time for the last steps of a project's deletion. It waits for the lease
// after the first one. The embedded store has no lease.
func TestALeaseLeavesTimeToDeleteAProject(t *testing.T) {
	database := []string{"--mongo-url", "mongodb://h/d?replicaSet=r", "--master-key-file", "k"}
	for _, c := range []struct {
		args []string
		good bool
	}{
		{append(database, "--freshness-lease", "5s"), true},
		{append(database, "--freshness-lease", "5001ms"), false},
		{append(database, "--freshness-lease", "10s"), false},
		{append(database, "--freshness-lease", "10s", "--handle-timeout", "20s"), true},
		{append(database, "--handle-timeout", "399ms", "--policy-timeout", "100ms"), false},
		{[]string{"--handle-timeout", "399ms", "--policy-timeout", "100ms"}, true},
	} {
		if got := validated(t, c.args...); c.good != (got == "") || !c.good && !strings.HasPrefix(got, "--freshness-lease: ") {
			t.Errorf("%v: %q", c.args, got)
		}
	}
}

// TestEveryFlagHasAConcern, and belongs to one only.
func TestEveryFlagHasAConcern(t *testing.T) {
	c, all := serveFlags()
	seen := map[string]string{}
	for _, concern := range c.Concerns() {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		concern.AddFlags(flags)
		flags.VisitAll(func(f *pflag.Flag) {
			if other := seen[f.Name]; other != "" {
				t.Errorf("--%s is of %s and of %s", f.Name, other, concern.Title)
			}
			seen[f.Name] = concern.Title
		})
	}
	all.VisitAll(func(f *pflag.Flag) {
		if seen[f.Name] == "" {
			t.Errorf("--%s has no concern", f.Name)
		}
	})
}
