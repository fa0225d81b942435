package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFileIsRefusedByItsOwnLines, and without the types of this program.
func TestFileIsRefusedByItsOwnLines(t *testing.T) {
	for text, want := range map[string]string{
		"listen: :1\nlisten: :2\n":                                 `line 2: mapping key "listen" already defined at line 1`,
		"# of the office\nissuers:\n  - issuer: a\n    audence: b": `line 4: field audence not found`,
		"issuers:\n  - services: {scope: [x]}":                     `line 2: field scope not found`,
		"issuers:\n  - issuer: a\n    issuer: b":                   `line 3: mapping key "issuer" already defined at line 2`,
		"issuers:\n  - subjects: [a]":                              `line 2: cannot unmarshal !!seq into string`,
		"- listen: :1":                                             "line 1: cannot unmarshal !!seq into settings by their names, as `listen: :8080`",
		"issuers: https://idp":                                     "line 1: cannot unmarshal !!str `https:/...` into a list of issuers",
		"issuers: [a]":                                             "line 1: cannot unmarshal !!str `a` into settings by their names",
		"issuers:\n  - services: [a]":                              "line 2: cannot unmarshal !!seq into settings by their names",
		"issuers:":                                                 "issuers: the list is empty: the data folder's own key would sign tokens; name an issuer, or leave it out",
	} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, flags := serveFlags()
		c.File = file
		if err := c.Fill(flags); err == nil || err.Error() != "--config "+file+": "+want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestPasswordsInTheFileAreItsGroupsAlone guarantees that a file for every user has no URL with a password, also in a
// parameter.
func TestPasswordsInTheFileAreItsGroupsAlone(t *testing.T) {
	for text, refused := range map[string]bool{
		"mongo-url: mongodb://ada:secret@h/p":                               true,
		"mongo-url: mongodb://h/p?tlsCertificateKeyFilePassword=secret":     true,
		"redis-url: rediss://h:1?master_name=m&sentinel_password=secret":    true,
		"mongo-url: mongodb://ada@h/p?replicaSet=rs0&tlsCertificateKeyFile": false,
	} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, flags := serveFlags()
		c.File = file
		if err := c.Fill(flags); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}
