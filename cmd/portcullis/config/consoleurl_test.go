package config

import (
	"strings"
	"testing"
)

// TestTheConsolesAddressIsAnOrigin guarantees the form in which browsers send Origin and Host.
func TestTheConsolesAddressIsAnOrigin(t *testing.T) {
	for args, want := range map[string]string{
		"":                                        "http://127.0.0.1:9003",
		"--console-url http://LOCALHOST:80/":      "http://localhost",
		"--console-url https://Console.Example":   "https://console.example",
		"--console-url https://c.example:443":     "https://c.example",
		"--console-url https://c.example:80":      "https://c.example:80",
		"--tls-cert-file c --tls-key-file k":      "https://127.0.0.1:9003",
		"--console-url https://c.example/console": "none",
		"--console-url https://u@c.example":       "none",
		"--console-url https://c.example?q":       "none",
		"--console-url ftp://c.example":           "none",
	} {
		c, flags := serveFlags()
		if err := flags.Parse(strings.Fields("--console-listen 127.0.0.1:9003 " + args)); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if u := c.Console.URL(c.Listeners.Console, c.Listeners.HasTLS()); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// TestUnsafeConsolesAreRefused guarantees that a session crosses no network in the clear.
func TestUnsafeConsolesAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--console-listen 127.0.0.1:9003":                                                                   "",
		"--console-listen 127.0.0.1:9003 --console-url https://c.example":                                   "",
		"--console-listen :9003 --console-url https://c.example --tls-cert-file c --tls-key-file k":         "",
		"--console-listen :9003 --console-url https://c.example":                                            "--console-listen",
		"--console-listen :9003":                                                                            "--console-url",
		"--console-listen 0.0.0.0:9003":                                                                     "--console-url",
		"--console-listen 127.0.0.1:9003 --console-url http://c.example":                                    "--console-url",
		"--console-listen 127.0.0.1:9003 --console-url http://127.0.0.1 --tls-cert-file c --tls-key-file k": "--console-url",
		"--console-url https://c.example":                                                                   "",
		"--console-url http://c.example":                                                                    "--console-url",
		"--console-url https://c.example/x":                                                                 "--console-url",
		"--console-listen 127.0.0.1:9003 --console-issuer https://i.example":                                "--console-issuer",
	} {
		c, flags := serveFlags()
		if err := flags.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, problem := range c.Console.Validate(c.Listeners) {
			got += problem.Field
		}
		if got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
