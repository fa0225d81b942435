package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckWarnsOfHiddenPages guarantees a warning with the public pages of the gateway and the hosts without them.
func TestCheckWarnsOfHiddenPages(t *testing.T) {
	const row = `{"own.bill": {"method": "GET", "host": "bill.example", "path": "/bills", "action": "account:bill:read", "effect": "read", "upstream": "UPSTREAM"}}`
	for upstream, warns := range map[string]bool{"bills": true, "external": false} {
		dir := t.TempDir()
		for name, text := range map[string]string{"policy.json": `{"base": "embedded"}`, "routes/data.json": strings.Replace(row, "UPSTREAM", upstream, 1)} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		check := newPolicyCheck()
		check.SetArgs([]string{dir})
		check.SetOut(&out)
		if err := check.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "warning: bill.example: a host with rows of its own has none of the gateway's public pages (authzen.configuration, ") != warns {
			t.Errorf("%s: %s", upstream, out.String())
		}
	}
}
