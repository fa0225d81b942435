package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// othersWrite and othersRead are the rights of those who are neither the owner nor in the
// group: a group may well be the operators'.
const (
	othersWrite fs.FileMode = 0o002
	othersRead  fs.FileMode = 0o004
)

// checkFiles refuses what decides, as it lies on the disk, where every user of the machine
// could change it. What isn't there is left to whoever needs it. A policy tree is checked where it is
// read, each time (engine.Dir).
func (s *settings) checkFiles() error {
	named := map[string]string{"--config": s.configFile, "--jwks-file": s.issuer.jwksFile, "--data-dir": s.dataDir}
	for i, one := range s.issuers {
		named[fmt.Sprintf("issuers[%d]: jwks_file", i)] = one.JWKSFile
	}
	for setting, path := range named {
		if err := notWritable(setting, path); err != nil {
			return err
		}
	}
	return nil
}

func notWritable(setting, path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&othersWrite != 0 {
		return fmt.Errorf("%s: every user of this machine can change %s, and with it who is let in; run chmod o-w on it", setting, path)
	}
	return nil
}

// checkSecrets refuses a configuration file with a password that everybody can read.
func (s *settings) checkSecrets(values map[string][]string) error {
	info, err := os.Stat(s.configFile)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	if info.Mode().Perm()&othersRead == 0 {
		return nil
	}
	for _, name := range []string{"mongo-url", "redis-url", "smtp-url"} {
		for _, value := range values[name] {
			if hasPassword(value) {
				return fmt.Errorf("--config %s: %s has a password, and every user of this machine can read the file; run chmod o-rwx on it, or give the URL in %s",
					s.configFile, name, envName(name))
			}
		}
	}
	return nil
}

// hasPassword looks at the place of user and password, whatever else of the URL can't be read.
func hasPassword(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	query := ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest, query = rest[:i], rest[i:]
	}
	user, _, found := strings.Cut(rest, "@")
	_, password, _ := strings.Cut(user, ":")
	return found && password != "" || strings.Contains(query, "password=")
}
