package config

import (
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// Log says what is logged, and in which form.
type Log struct {
	level string
	// Format is json or text.
	Format string
}

func (l *Log) flags(f *pflag.FlagSet) {
	f.StringVar(&l.level, "log-level", "info", "the lowest `level` that is logged: debug, info, warn or error")
	f.StringVar(&l.Format, "log-format", "json", "the `format` of a line: json or text")
}

// Level returns the lowest level that is logged.
func (l Log) Level() slog.Level {
	level, _ := readLevel(l.level) // Validate returns the problem
	return level
}

// Validate returns what is wrong with the level and the format.
func (l Log) Validate() (found []resources.Problem) {
	if _, known := readLevel(l.level); !known {
		found = append(found, problem("--log-level", "must be debug, info, warn or error, not %q", l.level))
	}
	if l.Format != "json" && l.Format != "text" {
		found = append(found, problem("--log-format", "must be json or text, not %q", l.Format))
	}
	return found
}

// readLevel takes the names of the levels only; slog would take error+100 too.
func readLevel(text string) (level slog.Level, known bool) {
	err := level.UnmarshalText([]byte(text))
	return level, err == nil && !strings.ContainsAny(text, "+-")
}
