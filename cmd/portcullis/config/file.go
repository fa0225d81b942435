package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// keyIssuers is the one key of the configuration file without a flag.
const keyIssuers = "issuers"

// readFile reads the configuration file: scalars and lists of scalars under the names of
// flags, and the list of issuers. One file serves every command: each takes the settings of
// serve (known) that concern it.
func (c *Config) readFile(flags, settings *pflag.FlagSet) (map[string][]string, error) {
	out := map[string][]string{}
	if c.File == "" {
		return out, nil
	}
	doc, err := readDocument(c.File)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", c.File, err)
	}
	c.Credentials.listed = doc.Issuers
	var list []error
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(doc.Settings)) {
		node, flag := doc.Settings[name], cmp.Or(flags.Lookup(name), settings.Lookup(name))
		if flag == nil || name == "config" {
			unknown = append(unknown, strconv.Quote(name))
			continue
		}
		if out[name], err = readValues(&node, flag); err != nil {
			list = append(list, fmt.Errorf("--config %s: %s: %w", c.File, name, err))
		}
	}
	if len(unknown) > 0 {
		list = append(list, fmt.Errorf("--config %s: unknown setting %s; the settings are %s", c.File, strings.Join(unknown, ", "), settingNames(settings)))
	}
	if len(list) > 0 {
		return nil, errors.Join(list...)
	}
	return out, c.checkSecrets(out)
}

// document is what a configuration file holds.
type document struct {
	Issuers  []Issuer             `yaml:"issuers"`
	Settings map[string]yaml.Node `yaml:",inline"`
}

// readDocument reads the one document of a file; an empty one has no settings.
func readDocument(path string) (doc document, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return document{}, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return document{}, readable(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return document{}, errors.New("something follows the first YAML document, and would be ignored; put all settings into one")
	}
	var listed map[string]yaml.Node
	if err := yaml.Unmarshal(raw, &listed); err != nil {
		return document{}, readable(err)
	}
	if _, some := listed[keyIssuers]; some && len(doc.Issuers) == 0 {
		return document{}, errors.New(keyIssuers + ": the list is empty: the data folder's own key would sign tokens; name an issuer, or leave it out")
	}
	return doc, nil
}

// readable returns YAML's error without its heading and the types of this program.
func readable(err error) error {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return err
	}
	texts := make([]string, len(wrong.Errors))
	for i, text := range wrong.Errors {
		text = regexp.MustCompile(` in type .*$`).ReplaceAllString(text, "")
		if index := strings.LastIndex(text, typePrefix); index >= 0 {
			text = text[:index] + typePrefix + inWords(text[index+len(typePrefix):])
		}
		texts[i] = text
	}
	return errors.New(strings.Join(texts, "; "))
}

// typePrefix stands before the type in YAML's error.
const typePrefix = " into "

// inWords returns what a file has in place of a type of this program.
func inWords(name string) string {
	switch {
	case name == "config.document":
		return "settings by their names, as `listen: :8080`"
	case name == "[]config.Issuer":
		return "a list of issuers"
	case name == "config.Issuer", strings.HasPrefix(name, "struct"):
		return "settings by their names"
	}
	return name
}

// readValues reads the value of a flag, or the list of a repeatable one.
func readValues(node *yaml.Node, flag *pflag.Flag) (values []string, err error) {
	_, repeatable := flag.Value.(pflag.SliceValue)
	switch {
	case node.Kind == yaml.ScalarNode && (node.Tag == "!!null" || saysNothing(flag, node.Value)):
		return nil, errEmpty()
	case node.Kind == yaml.ScalarNode:
		return []string{node.Value}, nil
	case node.Kind == yaml.SequenceNode && repeatable && len(node.Content) == 0:
		return nil, errEmpty()
	case node.Kind == yaml.SequenceNode && repeatable:
		err = node.Decode(&values)
		return values, err
	case repeatable:
		return nil, errors.New("a value or a list of values is needed")
	default:
		return nil, errors.New("one value is needed")
	}
}

// settingNames returns the keys of the configuration file.
func settingNames(flags *pflag.FlagSet) string {
	names := []string{keyIssuers}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	return strings.Join(names, ", ")
}
