package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// TestLevelIsReadAgain from the configuration file, unless a flag or a variable sets it; a wrong file
// changes nothing.
func TestLevelIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	filled := func(args ...string) *Config {
		t.Helper()
		write("log-level: warn\n")
		c, flags := serveFlags()
		if err := flags.Parse(append([]string{"--config", file}, args...)); err != nil {
			t.Fatal(err)
		}
		if err := c.Fill(flags); err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := func(c *Config, level slog.Level, fails bool) {
		t.Helper()
		if got, err := c.ReadLevel(); got != level || (err != nil) != fails {
			t.Errorf("%s, %v", got, err)
		}
	}
	c := filled()
	want(c, slog.LevelWarn, false)
	write("log-level: debug\nlisten: :1\n")
	want(c, slog.LevelDebug, false)
	write("listen: :1\n")
	want(c, slog.LevelInfo, false)
	for _, wrong := range []string{"log-level: loud\n", "log-level: debug\nlsten: :1\n", "log-level: debug\nbody-limit: [1]\n", "{"} {
		write(wrong)
		want(c, slog.LevelWarn, true)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	want(c, slog.LevelWarn, true)

	byFlag := filled("--log-level", "error")
	want(byFlag, slog.LevelError, false)
	t.Setenv("PORTCULLIS_LOG_LEVEL", "debug")
	want(filled(), slog.LevelDebug, false)
}
