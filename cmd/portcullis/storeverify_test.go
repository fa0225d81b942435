package main

import (
	"io"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/store/records"
)

// TestTheRemedyForDamageFitsWhatWasChecked guarantees that the remedy for a damaged backup is another one, and for a database
// a backup of the database.
func TestTheRemedyForDamageFitsWhatWasChecked(t *testing.T) {
	t.Parallel()
	for says, checked := range map[string]struct {
		store config.Store
		args  []string
	}{
		"; restore a backup (`portcullis store restore`)":                {config.Store{DataDir: "data"}, nil},
		"; restore the database's own backup (docs/operate/store.md)":    {config.Store{DataDir: "data", MongoURL: "mongodb://h/d"}, nil},
		"; take another backup (`portcullis store backup`), or an older": {config.Store{DataDir: "data"}, []string{"a.backup"}},
	} {
		err := tellVerified(io.Discard, records.Verified{Damage: []string{"users \"x\": can't be read"}}, remedy(checked.store, checked.args))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
