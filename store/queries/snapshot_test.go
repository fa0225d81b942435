package queries_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store/queries"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestSearchTakesNoSnapshotBeforeItsGate guarantees that a search refused by a full gate has not asked the store.
func TestSearchTakesNoSnapshotBeforeItsGate(t *testing.T) {
	full := gate.New(1, 0)
	must.Do(t, full.Enter(t.Context(), ""))
	err := queries.Reader{Collections: records.NewCollections(), Gate: full}.Look(t.Context(), "acct-a-v1", nil)
	if !resources.IsKind(err, resources.KindUnavailable) {
		t.Error(err)
	}
}
