package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSettingsInForceShowNoSecret guarantees that neither the user nor the query of a URL in any
// form is shown.
func TestSettingsInForceShowNoSecret(t *testing.T) {
	for value, want := range map[string]string{
		"mongodb://ada:hidden@db1,db2/portcullis?replicaSet=rs0": "mongodb://…@db1,db2/portcullis?…",
		"redis://:secret@host:6379/0":                            "redis://…@host:6379/0",
		"redis://ada:se@cret@host:6379?password=secret":          "redis://…@host:6379?…",
		"smtps://ada:sec/ret@host:465":                           "smtps://…@host:465",
		"smtp://ada:sec?ret@host":                                "smtp://…",
		"smtp://ada:sec#ret@host":                                "smtp://…",
		"redis://ada:x@host?sentinel_password=sec@ret":           "redis://…",
		"https://idp.example/keys?token=secret":                  "https://idp.example/keys?…",
		"widgets=http://127.0.0.1:7000":                          "widgets=http://127.0.0.1:7000",
		"127.0.0.1:8080":                                         "127.0.0.1:8080",
		"":                                                       "",
	} {
		if got := shown(value); got != want {
			t.Errorf("%s is shown as %s, want %s", value, got, want)
		}
	}
	c, flags := serveFlags()
	for name, value := range map[string]string{"mongo-url": "mongodb://ada:hidden@db/p", "smtp-url": "smtp://ada:hidden@host", "upstream": "a=http://h"} {
		if err := flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprint(c.InForce(flags)...)
	if strings.Contains(text, "hidden") || strings.Contains(text, "ada") {
		t.Error(text)
	}
	for _, name := range []string{"mongo-url", "mongodb://…@db/p", "listen", "drain-timeout", "a=http://h"} {
		if !strings.Contains(text, name) {
			t.Errorf("no %s in %s", name, text)
		}
	}
}

// TestSettingsWithoutAnEffectAreWarnedOf guarantees a line about a setting that another one makes useless. Its operator would
// believe in a rate, or in required records. A default has no line, nor has a value equal to it.
func TestSettingsWithoutAnEffectAreWarnedOf(t *testing.T) {
	const resources = "--role resources --areas firewall --listen 127.0.0.1:8081 --master-key-file k "
	for args, want := range map[string]string{
		resources + "--decision-log required --rate-account 5/s --cached-facts 10": "with --role resources: give them to the gateways: --cached-facts, --decision-log, --rate-account",
		resources + "--decision-log best-effort":                                   "",
		resources + "--decision-log off --decision-log-age 1h":                     "to the gateways: --decision-log, --decision-log-age",
		"--freshness-lease 1s":                                                     "without --mongo-url: --freshness-lease",
		"--freshness-lease 1s --mongo-url mongodb://h/d":                           "",
		"--freshness-lease 200ms":                                                  "",
		"--shadow-sample 0.5":                                                      "without --shadow-policy-dir: --shadow-sample",
		"--shadow-sample 0.5 --shadow-policy-dir d":                                "",
		"--policy-bundle-poll 5s --policy-dir d":                                   "without --policy-bundle: --policy-bundle-poll",
		"--accept-base r":                                                          "without --policy-dir or --policy-bundle: --accept-base",
		"--accept-base r --policy-dir d":                                           "",
		"--decision-log off --decision-log-age 1h --decision-log-size 2GiB":        "with --decision-log off: --decision-log-age, --decision-log-size",
	} {
		c, flags := serveFlags()
		if err := flags.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(c.Warnings(flags), func(line string) bool { return !strings.Contains(line, "no effect") })
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.HasSuffix(got[0], want)) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// TestWhatProductionWouldNotWantIsWarnedOf, and nothing else.
func TestWhatProductionWouldNotWantIsWarnedOf(t *testing.T) {
	for args, want := range map[string]string{
		"": "--smtp-url|identity provider",
		"--listen :8080 --users-listen 0.0.0.0:9001":                                                        "--listen is every|--users-listen is every|--smtp-url|identity provider",
		"--listen :8080 --tls-cert-file c --tls-key-file k":                                                 "--smtp-url|identity provider",
		"--smtp-url smtp://h --jwt-issuer i --jwt-audience a --jwks-file f":                                 "",
		"--smtp-url smtp://h --jwt-issuer i --jwt-audience a --jwks-file f --ext-authz-listen [::]:9090":    "--ext-authz-listen is every",
		"--role resources --areas firewall --listen :8081 --master-key-file k --health-listen 0.0.0.0:9003": "--listen is every",
	} {
		c, flags := serveFlags()
		if err := flags.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		got := c.Warnings(flags)
		if want == "" {
			if len(got) > 0 {
				t.Errorf("%s: %q", args, got)
			}
			continue
		}
		parts := strings.Split(want, "|")
		if len(got) != len(parts) {
			t.Errorf("%s: %q", args, got)
			continue
		}
		for i := range parts {
			if !strings.Contains(got[i], parts[i]) {
				t.Errorf("%s: %q does not say %q", args, got[i], parts[i])
			}
		}
	}
}
