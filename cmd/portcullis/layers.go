package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/spf13/cobra"
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
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(settings).serveFlags(known)
	if env, ok := os.LookupEnv(envName("config")); ok && !flags.Changed("config") {
		s.configFile = env
	}
	var failed error
	flags.Visit(func(f *pflag.Flag) {
		if known.Lookup(f.Name) != nil && saysNothing(f, f.Value.String()) {
			failed = fmt.Errorf("--%s %w", f.Name, errEmpty)
		}
	})
	if failed != nil {
		return failed
	}
	file, err := s.readFile(flags, known)
	if err != nil {
		return err
	}
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

var errEmpty = errors.New("is empty: it would be as if it were not there; give it a value, or leave it out")

// saysNothing says whether a value is that of a setting which is not there. A variable of the
// environment may have it, to take back what the file says.
func saysNothing(f *pflag.Flag, value string) bool {
	return value == "" && f.DefValue == "" && f.Value.Type() == "string"
}

// takes says for each type of flag what fits.
var takes = map[string]string{
	"int": "a whole number", "bool": "true or false", "size": "a number of bytes, or of KiB, MiB or GiB, as 64KiB", "duration": "a duration, as 500ms, 90s, 1h30m or 14d",
}

// set gives a flag its value; a repeatable one takes them all.
func set(flags *pflag.FlagSet, f *pflag.Flag, where string, several []string, one string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(several)
	}
	if err := flags.Set(f.Name, one); err != nil {
		return fmt.Errorf("%s: %q does not fit: it takes %s", where, one, takes[f.Value.Type()])
	}
	return nil
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// unknownVariables are those of the environment that look like settings and are none of any
// command. Kubernetes sets some by itself where a service is called portcullis.
func unknownVariables(environment []string, root *cobra.Command) (names []string) {
	known := map[string]bool{envPrefix + "TOKEN": true}
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known[envName(f.Name)] = true })
	}
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix) && !known[name] && !strings.HasPrefix(name, envPrefix+"PORT") && !strings.HasPrefix(name, envPrefix+"SERVICE_") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// readFile reads the configuration file: scalars and lists of scalars under the
// flags' names, and the list of issuers. One file serves every command: each takes the
// settings of serve (known) that concern it.
func (s *settings) readFile(flags, known *pflag.FlagSet) (map[string][]string, error) {
	out := map[string][]string{}
	if s.configFile == "" {
		return out, nil
	}
	doc, err := readDocument(s.configFile)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", s.configFile, err)
	}
	for name, node := range doc {
		flag := cmp.Or(flags.Lookup(name), known.Lookup(name))
		switch {
		case name == keyIssuers:
			err = s.readIssuers(&node)
		case flag == nil || name == "config":
			return nil, fmt.Errorf("--config %s: unknown setting %q; the settings are %s", s.configFile, name, flagNames(known))
		default:
			out[name], err = readValues(&node, flag)
		}
		if err != nil {
			return nil, fmt.Errorf("--config %s: %s: %w", s.configFile, name, err)
		}
	}
	return out, s.checkSecrets(out)
}

var errSecondDocument = errors.New("something follows the first YAML document, and would be ignored; put all settings into one")

// readDocument reads the one document of a file; an empty one has no settings.
func readDocument(path string) (doc map[string]yaml.Node, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errSecondDocument
	}
	return doc, nil
}

var errNoIssuers = errors.New("the list is empty: the data folder's own key would sign tokens; name an issuer, or leave it out")

func (s *settings) readIssuers(node *yaml.Node) error {
	if len(node.Content) == 0 {
		return errNoIssuers
	}
	return decodeStrict(node, &s.issuers)
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

// readValues reads the value of a flag, or the list of a repeatable one.
func readValues(node *yaml.Node, flag *pflag.Flag) (values []string, err error) {
	_, repeatable := flag.Value.(pflag.SliceValue)
	switch {
	case node.Kind == yaml.ScalarNode && (node.Tag == "!!null" || saysNothing(flag, node.Value)):
		return nil, errEmpty
	case node.Kind == yaml.ScalarNode:
		return []string{node.Value}, nil
	case node.Kind == yaml.SequenceNode && repeatable && len(node.Content) == 0:
		return nil, errEmpty
	case node.Kind == yaml.SequenceNode && repeatable:
		err = node.Decode(&values)
		return values, err
	case repeatable:
		return nil, errors.New("a value or a list of values is needed")
	default:
		return nil, errors.New("one value is needed")
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
