package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// sample is a value of the flag's type that is not its default.
func sample(t *testing.T, f *pflag.Flag) string {
	t.Helper()
	values := map[string]string{"string": "sample", "stringArray": "a=http://h", "int": "321", "bool": "true", "duration": "4m5s", "size": "321KiB"}
	value, ok := values[f.Value.Type()]
	if !ok || f.Value.String() == value {
		t.Fatalf("--%s: no sample of a %s", f.Name, f.Value.Type())
	}
	return value
}

func serveFlagSet() (*settings, *pflag.FlagSet) {
	s, flags := &settings{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
	s.serveFlags(flags)
	return s, flags
}

// TestEveryServeFlagHasItsLayers: environment before file, flag before both, each flag
// of serve.
func TestEveryServeFlagHasItsLayers(t *testing.T) {
	_, all := serveFlagSet()
	all.VisitAll(func(f *pflag.Flag) {
		if f.Name == "config" {
			return
		}
		t.Run(f.Name, func(t *testing.T) {
			value := sample(t, f)
			shown := func(s *settings, flags *pflag.FlagSet) string {
				t.Helper()
				if err := s.fill(flags); err != nil {
					t.Fatal(err)
				}
				return strings.Trim(flags.Lookup(f.Name).Value.String(), "[]")
			}
			config := filepath.Join(t.TempDir(), "c.yaml")
			if err := os.WriteFile(config, []byte(f.Name+": "+value+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s, flags := serveFlagSet()
			s.configFile = config
			if got := shown(s, flags); got != value {
				t.Errorf("by file %q", got)
			}
			t.Setenv("PORTCULLIS_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")), f.DefValue)
			if f.Value.Type() != "stringArray" {
				s, flags = serveFlagSet()
				s.configFile = config
				if got := shown(s, flags); got != f.DefValue {
					t.Errorf("by environment %q, want %q", got, f.DefValue)
				}
			}
			s, flags = serveFlagSet()
			s.configFile = config
			if err := flags.Set(f.Name, value); err != nil {
				t.Fatal(err)
			}
			if got := shown(s, flags); got != value {
				t.Errorf("by flag %q", got)
			}
		})
	})
}

// TestRepeatableFlagTakesALists of the file and the blanks of the environment.
func TestRepeatableFlagTakesLists(t *testing.T) {
	s, flags := serveFlagSet()
	s.configFile = filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(s.configFile, []byte("upstream:\n- firewall=http://a\n- clusters=https://b:1/base\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.fill(flags); err != nil || s.check() != nil || len(s.bases) != 2 || s.bases["clusters"].Host != "b:1" {
		t.Errorf("%v %v", err, s.bases)
	}
	t.Setenv("PORTCULLIS_UPSTREAM", "clusters=http://c firewall=http://d")
	s2, flags := serveFlagSet()
	if err := s2.fill(flags); err != nil || s2.check() != nil || len(s2.bases) != 2 || s2.bases["firewall"] == nil {
		t.Errorf("%v %v", err, s2.bases)
	}
}

func TestMessageStaysOnOneLine(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a\nb": "a; b", "a\r\n\n  b\n": "a;   b", "": ""} {
		if got := oneLine(in); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}
