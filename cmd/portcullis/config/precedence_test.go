package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// sample is a value of the flag's type that is not its default.
func sample(t *testing.T, f *pflag.Flag) string {
	t.Helper()
	values := map[string]string{"string": "sample", "stringArray": "a=http://h", "int": "321", "bool": "true", "duration": "4m5s", "float64": "0.25", "size": "321KiB"}
	value, ok := values[f.Value.Type()]
	if !ok || f.Value.String() == value {
		t.Fatalf("--%s: no sample of a %s", f.Name, f.Value.Type())
	}
	return value
}

func serveFlags() (*Config, *pflag.FlagSet) {
	c, flags := &Config{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c.AddFlags(flags)
	return c, flags
}

// TestEveryServeFlagHasItsPrecedence: environment before file, flag before both, for each
// flag of serve.
func TestEveryServeFlagHasItsPrecedence(t *testing.T) {
	_, all := serveFlags()
	all.VisitAll(func(f *pflag.Flag) {
		if f.Name == "config" {
			return
		}
		t.Run(f.Name, func(t *testing.T) {
			value := sample(t, f)
			shown := func(c *Config, flags *pflag.FlagSet) string {
				t.Helper()
				if err := c.Fill(flags); err != nil {
					t.Fatal(err)
				}
				return strings.Trim(flags.Lookup(f.Name).Value.String(), "[]")
			}
			config := filepath.Join(t.TempDir(), "c.yaml")
			if err := os.WriteFile(config, []byte(f.Name+": "+value+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c, flags := serveFlags()
			c.File = config
			if got := shown(c, flags); got != value {
				t.Errorf("by file %q", got)
			}
			t.Setenv("PORTCULLIS_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")), f.DefValue)
			if f.Value.Type() != "stringArray" {
				c, flags = serveFlags()
				c.File = config
				if got := shown(c, flags); got != f.DefValue {
					t.Errorf("by environment %q, want %q", got, f.DefValue)
				}
			}
			c, flags = serveFlags()
			c.File = config
			if err := flags.Set(f.Name, value); err != nil {
				t.Fatal(err)
			}
			if got := shown(c, flags); got != value {
				t.Errorf("by flag %q", got)
			}
		})
	})
}

// TestRepeatableFlagTakesLists of the file, and values between the blanks of the environment.
func TestRepeatableFlagTakesLists(t *testing.T) {
	c, flags := serveFlags()
	c.File = filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(c.File, []byte("upstream:\n- firewall=http://a\n- clusters=https://b:1/base\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Fill(flags); err != nil || c.Validate() != nil || len(c.Areas.Upstreams()) != 2 || c.Areas.Upstreams()["clusters"].Host != "b:1" {
		t.Errorf("%v %v", err, c.Areas.Upstreams())
	}
	t.Setenv("PORTCULLIS_UPSTREAM", "clusters=http://c firewall=http://d")
	c, flags = serveFlags()
	if err := c.Fill(flags); err != nil || c.Validate() != nil || len(c.Areas.Upstreams()) != 2 || c.Areas.Upstreams()["firewall"] == nil {
		t.Errorf("%v %v", err, c.Areas.Upstreams())
	}
}

// TestAVariableOfAListCanBeEmpty guarantees that an empty variable overrides the file with nothing. Any white space is between
// values.
func TestAVariableOfAListCanBeEmpty(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("gateways: [a:1, b:2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]int{"": 0, " ": 0, "c:3": 1, " c:3  d:4\n": 2} {
		t.Setenv("PORTCULLIS_GATEWAYS", value)
		c, flags := serveFlags()
		c.File = file
		if err := c.Fill(flags); err != nil || c.Validate() != nil || len(c.Areas.Gateways) != want {
			t.Errorf("%q is %q: %v, %v", value, c.Areas.Gateways, err, c.Validate())
		}
	}
}

// TestAnEmptyDataFolderIsRefused guarantees that a variable of a shell without a value makes no command work with the key and
// the store of the current folder.
func TestAnEmptyDataFolderIsRefused(t *testing.T) {
	for name, give := range map[string]func(*testing.T, *Config, *pflag.FlagSet) error{
		"flag": func(_ *testing.T, _ *Config, flags *pflag.FlagSet) error { return flags.Set("data-dir", "") },
		"variable": func(t *testing.T, _ *Config, _ *pflag.FlagSet) error {
			t.Setenv("PORTCULLIS_DATA_DIR", "")
			return nil
		},
		"file": func(t *testing.T, c *Config, _ *pflag.FlagSet) error {
			c.File = filepath.Join(t.TempDir(), "c.yaml")
			return os.WriteFile(c.File, []byte("data-dir: ''\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, flags := serveFlags()
			if err := give(t, c, flags); err != nil {
				t.Fatal(err)
			}
			if err := c.Fill(flags); err == nil || !strings.Contains(err.Error(), "--data-dir is empty") {
				t.Error(err)
			}
		})
	}
}

// TestEverythingWrongInAFileIsToldAtOnce, with the settings that there are listed once.
func TestEverythingWrongInAFileIsToldAtOnce(t *testing.T) {
	c, flags := serveFlags()
	c.File = filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(c.File, []byte("lisen: x\njwt-issuer: ''\ndeny_status: 403\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.Fill(flags))
	for text, times := range map[string]int{"jwt-issuer: is empty": 1, `unknown setting "deny_status", "lisen"`: 1, "the settings are ": 1} {
		if strings.Count(got, text) != times {
			t.Errorf("%q is not %d times in %s", text, times, got)
		}
	}
}
