package config

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// MCP holds the credentials that the gateway shows to MCP servers.
type MCP struct {
	secretFiles []string
}

func (m *MCP) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&m.secretFiles, "upstream-secret-file", nil, "the file with the bearer token for MCP servers whose credential is secret, as `upstream=file` (repeatable)")
}

// SecretFiles returns the files with bearer tokens by the names of their upstreams.
func (m MCP) SecretFiles() map[string]string {
	files := map[string]string{}
	for _, pair := range m.secretFiles {
		name, file, _ := strings.Cut(pair, "=") // Validate returns the problems
		files[name] = file
	}
	return files
}

// Validate returns what is wrong with the credentials, given the upstreams.
func (m MCP) Validate(a Areas) (problems []resources.Problem) {
	return validatePairs("--upstream-secret-file", m.secretFiles, a, validateSecretFile)
}

// validatePairs returns what is wrong with a list of upstream=value. A problem repeats the name of an upstream only:
// anything else may be a secret.
func validatePairs(flag string, pairs []string, a Areas, check func(setting, value string) []resources.Problem) (problems []resources.Problem) {
	upstreams, given := a.Upstreams(), map[string]bool{}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		setting := flag + " " + name
		switch {
		case upstreams[name] == nil || value == "":
			problems = append(problems, problem(flag, "must be upstream=value, where upstream is the name of an --upstream"))
		case given[name]:
			problems = append(problems, problem(setting, "is given twice; leave one out"))
		default:
			problems = append(problems, check(setting, value)...)
		}
		given[name] = true
	}
	return problems
}

// validateSecretFile returns what is wrong with a file that only the owner and the group may read. The reader of the file
// checks its content.
func validateSecretFile(setting, file string) []resources.Problem {
	info, err := os.Stat(file)
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = path.Err // the name may be a secret that was given in place of a file
	}
	switch {
	case err != nil:
		return []resources.Problem{problem(setting, "must name a file: %s", err.Error())}
	case !info.Mode().IsRegular():
		return []resources.Problem{problem(setting, "must name a regular file, not %s", file)}
	case info.Mode().Perm()&(othersRead|othersWrite) != 0:
		return []resources.Problem{problem(setting, "every user of this machine can read or change %s; run chmod o-rwx on it (its group may read it)", file)}
	}
	return nil
}
