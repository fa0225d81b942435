package config

import (
	"os"
	"path/filepath"
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
		"--console-listen 127.0.0.1:9003 --console-client-id c --console-issuer https://i.example":          "",
		"--console-listen 127.0.0.1:9003 --console-client-id c --console-issuer http://127.0.0.1:1":         "",
		"--console-listen 127.0.0.1:9003 --console-client-id c --console-issuer http://i.example":           "--console-issuer",
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

// TestConsoleSecretOpenToEverybodyIsRefused guarantees that no other user of the machine can pass for the console at the
// identity provider: the file of its secret is there, and open to its owner and its group alone.
func TestConsoleSecretOpenToEverybodyIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	const issuer = "--console-listen 127.0.0.1:9003 --console-client-id c --console-issuer https://i.example --console-client-secret-file "
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o602: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		c, flags := serveFlags()
		if err := flags.Parse(append(strings.Fields(issuer), file)); err != nil {
			t.Fatal(err)
		}
		if problems := c.Console.Validate(c.Listeners); (len(problems) > 0) != refused {
			t.Errorf("%o: %v", mode, problems)
		}
	}
	c, flags := serveFlags()
	if err := flags.Parse(append(strings.Fields(issuer), file+"-absent")); err != nil {
		t.Fatal(err)
	}
	if problems := c.Console.Validate(c.Listeners); len(problems) == 0 {
		t.Error("an absent file is taken")
	}
}
