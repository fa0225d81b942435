package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
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

// TestEveryToolKnowsRowsThatNoGatewayServes guarantees that policy diff and a candidate refuse a row as policy
// check does if the gateway can't serve it.
func TestEveryToolKnowsRowsThatNoGatewayServes(t *testing.T) {
	tree := policytest.Copy(t, overlay.Start()).With("routes/data.json",
		`{"own.bill": {"method": "GET", "path": "/accounts/acct-a-v1/bills", "action": "account:bill:read", "effect": "read", "upstream": "bills"}}`)
	src := must.Get(overlay.Read(tree))(t)
	const want = "own.bill"
	if got := strings.Join(refusals(t.Context(), src, nil), "\n"); !strings.Contains(got, want) {
		t.Errorf("policy diff: %q", got)
	}
	if _, err := loadServable(t.Context(), src); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a candidate: %v", err)
	}
}

// TestEveryToolKnowsRowsOfTheProgram guarantees that policy check and a candidate refuse a row of the program without a
// handler, as a start does. A row of an area elsewhere is the operator's.
func TestEveryToolKnowsRowsOfTheProgram(t *testing.T) {
	const row = `{"own.bill": {"method": "GET", "path": "/bills", "action": "account:bill:read", "effect": "read", "upstream": "UPSTREAM"}}`
	for upstream, taken := range map[string]bool{"access": false, "authorize": false, "firewall": true, "bills": true, "external": true} {
		text := strings.Replace(row, "UPSTREAM", upstream, 1)
		if upstream == "external" {
			text = strings.Replace(text, `"path"`, `"host": "bill.example", "path"`, 1)
		}
		src := must.Get(overlay.Read(policytest.Copy(t, overlay.Start()).With("routes/data.json", text)))(t)
		_, err := loadServable(t.Context(), src)
		if taken != (err == nil) || err != nil && !strings.Contains(err.Error(), "own.bill") {
			t.Errorf("%s: %v", upstream, err)
		}
	}
}
