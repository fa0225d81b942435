package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/store/records"
)

// TestAPrintedDecisionSteersNoTerminal guarantees that a printed event has what a client sent, and no invisible character.
func TestAPrintedDecisionSteersNoTerminal(t *testing.T) {
	const hostile = "\u009b2J\u202eevil\u2028\x7f\U000e0041 ü"
	input, err := json.Marshal(map[string]string{"name": hostile})
	if err != nil {
		t.Fatal(err)
	}
	e := decisionlog.Event{DecisionID: "01m8324b9vr5vs1j3q6kwbv04j", Path: "mcp/call", Input: input, Result: []byte(`{"allow":false}`)}
	for _, whole := range []bool{false, true} {
		var out strings.Builder
		if err := printDecision(&out, &e, true, whole); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && resources.Unseen(r) }); i >= 0 {
			t.Errorf("%q at %d of %q", out.String()[i:i+4], i, out.String())
		}
		var printed struct{ Input map[string]string }
		if err := json.Unmarshal([]byte(out.String()), &printed); err != nil || printed.Input["name"] != hostile {
			t.Errorf("%q, %v", printed.Input["name"], err)
		}
	}
}

// TestAVerificationLeavesTheMasterKey of the store as it is, whichever key stands first in the file that it is given.
func TestAVerificationLeavesTheMasterKey(t *testing.T) {
	dir, c := t.TempDir(), records.NewCollections()
	file := masterkey.File{DataDir: dir}
	inUse, err := file.ReadOrMake()
	if err != nil {
		t.Fatal(err)
	}
	check := func() error {
		opened, err := openStore(t.Context(), config.Store{DataDir: dir}, c, nil)
		if err != nil {
			return err
		}
		return errors.Join(masterkey.CheckStore(t.Context(), opened, c, inUse), opened.Close())
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Add(masterkey.First); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "decisions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := verifyDecisions(t.Context(), io.Discard, config.Store{DataDir: dir}); err != nil {
		t.Fatal(err)
	}
	if err := check(); err != nil {
		t.Errorf("after a verification: %v", err)
	}
	other := masterkey.File{DataDir: t.TempDir()}
	if _, err := other.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	err = verifyDecisions(t.Context(), io.Discard, config.Store{DataDir: dir, MasterKeyFile: filepath.Join(other.DataDir, masterkey.FileName)})
	if !errors.Is(err, masterkey.ErrOtherKey) {
		t.Errorf("with another key: %v", err)
	}
}

// TestALineOfADecisionSaysWhatWasJudged guarantees the user of an app's decision and the place of its facts. The caller
// sends further members.
func TestALineOfADecisionSaysWhatWasJudged(t *testing.T) {
	e := decisionlog.Event{DecisionID: "d1", Path: resources.PathApps + "docs/decision", RequestedBy: "service-a", Result: []byte(`{"decision":true}`)}
	e.Input = []byte(`{"action":{"name":"drop","id":"project:doc:read"},"facts":{"account":{"id":"acct-a-v1"}},"subject":{"Id":"user-x-v1","type":"user","id":"user-a-v1","iD":"user-y-v1"}}`)
	if got, want := decisionLine(&e), " allow d1 apps/docs/decision by=service-a place=accounts/acct-a-v1 user=user-a-v1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.Path, e.Input = resources.PathDecision, []byte(`{"account":"***","action":{"id":"project:doc:read"},"subject":{"id":"user-a-v1"},"target":{"project":"p","rest":"docs/d"}}`)
	if got, want := decisionLine(&e), " allow d1 authz/decision by=service-a action=project:doc:read place=projects/p/docs/d user=user-a-v1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
