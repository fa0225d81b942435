package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// The rights of users who are neither the owner nor in the group: the operators may be a
// group.
const (
	othersWrite fs.FileMode = 0o002
	othersRead  fs.FileMode = 0o004
)

// validatePermissions returns the files that decide about access and are writable by every user of
// the machine. A missing file is a problem of its reader. The policy tree is checked each time when
// it is read (policies.Dir).
func (c *Config) validatePermissions() (problems []resources.Problem) {
	check := func(setting, path string) {
		info, err := os.Stat(path)
		if path != "" && err == nil && info.Mode().Perm()&othersWrite != 0 {
			problems = append(problems, problem(setting, "every user of this machine can change %s, and with it who is let in; run chmod o-w on it", path))
		}
	}
	check("--config", c.File)
	check("--data-dir", c.Store.DataDir)
	check("--jwks-file", c.Credentials.issuer.jwksFile)
	for i, one := range c.Credentials.listed {
		check(fmt.Sprintf("issuers[%d]: jwks_file", i), one.JWKSFile)
	}
	return problems
}

// checkSecrets refuses a configuration file with a password that every user of the machine
// can read.
func (c *Config) checkSecrets(values map[string][]string) error {
	info, err := os.Stat(c.File)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	if info.Mode().Perm()&othersRead == 0 {
		return nil
	}
	var list []error
	for _, name := range []string{"mongo-url", "redis-url", "smtp-url"} {
		for _, value := range values[name] {
			if hasPassword(value) {
				list = append(list, fmt.Errorf("--config %s: %s has a password, and every user of this machine can read the file; run chmod o-rwx on it, or give the URL in %s",
					c.File, name, EnvName(name)))
			}
		}
	}
	return errors.Join(list...)
}

// hasPassword looks at the place of user and password, even in a URL that cannot be parsed.
func hasPassword(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	query := ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest, query = rest[:i], rest[i:]
	}
	user, _, ok := strings.Cut(rest, "@")
	_, password, _ := strings.Cut(user, ":")
	return ok && password != "" || strings.Contains(strings.ToLower(query), "password=")
}
