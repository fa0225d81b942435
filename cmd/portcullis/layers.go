package main

import (
	"bytes"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// envPrefix begins the environment variable of every flag.
const envPrefix = "PORTCULLIS_"

// keyIssuers is the one key of the configuration file that is no flag.
const keyIssuers = "issuers"

// fill gives each flag that was not on the command line its value from the
// environment, or else from the configuration file: a flag wins over the
// environment, the environment over the file.
func (s *settings) fill(flags *pflag.FlagSet) error {
	if env, ok := os.LookupEnv(envName("config")); ok && !flags.Changed("config") {
		s.configFile = env
	}
	file, err := s.readFile(flags)
	if err != nil {
		return err
	}
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil {
			return
		}
		if value, ok := os.LookupEnv(envName(f.Name)); ok {
			failed = set(flags, f, "environment variable "+envName(f.Name), strings.Split(value, " "), value)
		} else if values, ok := file[f.Name]; ok {
			failed = set(flags, f, s.configFile+": "+f.Name, values, strings.Join(values, " "))
		}
	})
	return failed
}

// set gives a flag its value; a repeatable one takes them all.
func set(flags *pflag.FlagSet, f *pflag.Flag, where string, several []string, one string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(several)
	}
	if err := flags.Set(f.Name, one); err != nil {
		return fmt.Errorf("%s: %q does not fit: it takes a %s", where, one, f.Value.Type())
	}
	return nil
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readFile reads the configuration file: scalars and lists of scalars under the
// flags' names, and the list of issuers.
func (s *settings) readFile(flags *pflag.FlagSet) (map[string][]string, error) {
	if s.configFile == "" {
		return map[string][]string{}, nil
	}
	raw, err := os.ReadFile(s.configFile)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	var doc map[string]yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("--config %s: %w", s.configFile, err)
	}
	// One file serves every command: each takes the settings of serve that concern it.
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(settings).serveFlags(known)
	out := map[string][]string{}
	for name, node := range doc {
		switch {
		case name == keyIssuers:
			if err := decodeStrict(&node, &s.issuers); err != nil {
				return nil, fmt.Errorf("--config %s: issuers: %w", s.configFile, err)
			}
		case flags.Lookup(name) == nil && known.Lookup(name) == nil || name == "config":
			return nil, fmt.Errorf("--config %s: unknown setting %q; the settings are %s", s.configFile, name, flagNames(known))
		default:
			values, err := scalars(&node)
			if err != nil {
				return nil, fmt.Errorf("--config %s: %s: %w", s.configFile, name, err)
			}
			out[name] = values
		}
	}
	return out, s.checkSecrets(out)
}

// decodeStrict refuses keys that the target does not have.
func decodeStrict(node *yaml.Node, into any) error {
	raw, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	return dec.Decode(into)
}

func scalars(node *yaml.Node) ([]string, error) {
	switch node.Kind {
	case yaml.ScalarNode:
		return []string{node.Value}, nil
	case yaml.SequenceNode:
		var out []string
		err := node.Decode(&out)
		return out, err
	default:
		return nil, fmt.Errorf("a value or a list of values is needed")
	}
}

func flagNames(flags *pflag.FlagSet) string {
	names := []string{keyIssuers}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "config" {
			names = append(names, f.Name)
		}
	})
	sort.Strings(names)
	return strings.Join(names, ", ")
}
