package config

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// flagLogLevel is the one setting that a configuration file can change in a running process.
const flagLogLevel = "log-level"

// Log says what is logged, and in which form.
type Log struct {
	level string
	// fixed says that a flag or a variable sets the level, and the file cannot.
	fixed bool
	// Format is json or text.
	Format string
	// TrustTraceSampling says that a client's traceparent decides whether its request is traced.
	TrustTraceSampling bool
}

func (l *Log) flags(f *pflag.FlagSet) {
	f.StringVar(&l.level, flagLogLevel, "info", "the lowest `level` that is logged: debug, info, warn or error; read again from the configuration file on SIGHUP")
	f.StringVar(&l.Format, "log-format", "json", "the `format` of a line: json or text")
	f.BoolVar(&l.TrustTraceSampling, "trust-trace-sampling", false, "let the sampled flag of a client's traceparent decide whether its request is traced; else OTEL_TRACES_SAMPLER does by itself")
}

// Level returns the lowest level that is logged.
func (l Log) Level() slog.Level {
	level, _ := readLevel(l.level) // Validate returns the problem
	return level
}

// Validate returns what is wrong with the level and the format.
func (l Log) Validate() (problems []resources.Problem) {
	problems = validateLevel(l.level)
	if l.Format != "json" && l.Format != "text" {
		problems = append(problems, problem("--log-format", "must be json or text, not %q", l.Format))
	}
	return problems
}

func validateLevel(level string) (problems []resources.Problem) {
	if _, ok := readLevel(level); !ok {
		problems = append(problems, problem("--"+flagLogLevel, "must be debug, info, warn or error, not %q", level))
	}
	return problems
}

// readLevel takes the names of the levels only; slog would take error+100 too.
func readLevel(text string) (level slog.Level, ok bool) {
	err := level.UnmarshalText([]byte(text))
	return level, err == nil && !strings.ContainsAny(text, "+-")
}

// ReadLevel reads the configuration file again and returns the level that holds from now on: the
// file's, unless a flag or a variable sets it. On an error the level stays.
func (c *Config) ReadLevel() (slog.Level, error) {
	if c.File == "" {
		return c.Log.Level(), nil
	}
	again, flags := &Config{File: c.File}, pflag.NewFlagSet("", pflag.ContinueOnError)
	again.AddFlags(flags)
	again.File = c.File // the flags have set the default
	values, err := again.readFile(flags, flags)
	if err != nil || c.Log.fixed {
		return c.Log.Level(), err
	}
	level := flags.Lookup(flagLogLevel).DefValue
	if given := values[flagLogLevel]; len(given) > 0 {
		level = given[0]
	}
	if problems := validateLevel(level); len(problems) > 0 {
		return c.Log.Level(), fmt.Errorf("%s: %s", c.File, problems[0])
	}
	read, _ := readLevel(level)
	return read, nil
}
