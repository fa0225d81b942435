package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestEveryFlagOfATimeOrASizeTakesTheUnits, whatever the command.
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
		"PORTCULLIS_LSTEN=:1", "PORTCULLIS_LISTEN=:1", "PORTCULLIS_TOKEN=x", "PORTCULLIS_URL=x", "PORTCULLIS_TTL=1h", "HOME=/", "PORTCULLIS_DATA-DIR=x", "portcullis_listen=x", "PORTCULLIS_=x",
		"PORTCULLIS_PORT=tcp://10.0.0.1:8080", "PORTCULLIS_PORT_8080_TCP_ADDR=10.0.0.1", "PORTCULLIS_SERVICE_HOST=10.0.0.1", "PORTCULLIS_SERVICE_PORT_HTTP=8080",
	}, newRoot())
	if want := "PORTCULLIS_ PORTCULLIS_DATA-DIR PORTCULLIS_LSTEN"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMessageStaysOnOneLine(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a\nb": "a; b", "a\r\n\n  b\n": "a;   b", "": ""} {
		if got := oneLine(in); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}
