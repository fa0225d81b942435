package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// EnvPrefix begins the environment variable of every flag.
const EnvPrefix = "PORTCULLIS_"

// EnvName returns the environment variable of a flag.
func EnvName(flag string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Fill gives each flag that was not on the command line its value from the environment, or
// else from the configuration file. It returns everything that is wrong there, or else with
// the command line's values.
func (c *Config) Fill(flags *pflag.FlagSet) error {
	settings := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Config).AddFlags(settings)
	if env, ok := os.LookupEnv(EnvName("config")); ok && !flags.Changed("config") {
		c.File = env
	}
	file, err := c.readFile(flags, settings)
	if err != nil {
		return err
	}
	_, inEnvironment := os.LookupEnv(EnvName(flagLogLevel))
	c.Log.fixed = inEnvironment || flags.Changed(flagLogLevel)
	var list []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		if value, ok := os.LookupEnv(EnvName(f.Name)); ok {
			list = append(list, set(flags, f, "environment variable "+EnvName(f.Name), strings.Fields(value), value))
		} else if values, ok := file[f.Name]; ok {
			list = append(list, set(flags, f, c.File+": "+f.Name, values, strings.Join(values, " ")))
		}
	})
	if c.Store.DataDir == "" {
		list = append(list, errors.New("--data-dir is empty, and would be the current folder; give it a value, or leave it out"))
	}
	return errors.Join(list...)
}

// RefuseEmpty returns an error for each empty flag of a command line that would count as missing: a variable of a shell
// without a value would drop a filter, a key or a narrower right.
func RefuseEmpty(flags *pflag.FlagSet) error {
	var list []error
	flags.Visit(func(f *pflag.Flag) {
		if saysNothing(f, f.Value.String()) {
			list = append(list, fmt.Errorf("--%s %w", f.Name, errEmpty()))
		}
	})
	return errors.Join(list...)
}

func errEmpty() error {
	return errors.New("is empty: it would be as if it were not there; give it a value, or leave it out")
}

// saysNothing reports whether the value equals a missing setting's. A variable of the environment
// may have it, to take back what the file says.
func saysNothing(f *pflag.Flag, value string) bool {
	return value == "" && f.DefValue == "" && f.Value.Type() == "string"
}

// set gives a flag its value; a repeatable one takes them all.
func set(flags *pflag.FlagSet, f *pflag.Flag, where string, several []string, one string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(several)
	}
	if err := flags.Set(f.Name, one); err != nil {
		return fmt.Errorf("%s: %q does not fit: it takes %s", where, one, takes(f.Value.Type()))
	}
	return nil
}

// FlagError returns the error of a command line, with what the flag takes where its value
// does not fit.
func FlagError(err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: %q does not fit: it takes %s", bad.GetFlag().Name, bad.GetValue(), takes(bad.GetFlag().Value.Type()))
	}
	return err
}

// takes returns which values fit a type of flag.
func takes(flagType string) string {
	return cmp.Or(map[string]string{
		"int":      "a whole number",
		"bool":     "true or false",
		"size":     "a number of bytes, or of KiB, MiB or GiB, as 64KiB",
		"duration": "a duration, as 500ms, 90s, 1h30m or 14d",
	}[flagType], "a text")
}

// UnknownVariables returns the names of environment variables with a setting's prefix but no flag
// in any of the commands. Kubernetes sets PORTCULLIS_PORT… and PORTCULLIS_SERVICE_… by itself for a
// service called portcullis.
func UnknownVariables(environment []string, commands ...*pflag.FlagSet) (names []string) {
	seen := map[string]bool{}
	for _, flags := range commands {
		flags.VisitAll(func(f *pflag.Flag) { seen[EnvName(f.Name)] = true })
	}
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, EnvPrefix) && !seen[name] && !strings.HasPrefix(name, EnvPrefix+"PORT") && !strings.HasPrefix(name, EnvPrefix+"SERVICE_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
