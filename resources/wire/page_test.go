package wire_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestTheReferenceHasEveryError guarantees that the table of docs/reference/codes.md has the status and the codes of
// every kind of error, in one row.
func TestTheReferenceHasEveryError(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/reference/codes.md"))(t)
	for kind := resources.KindInternal; kind <= resources.KindUnavailable; kind++ {
		e := &resources.Error{Kind: kind}
		row := fmt.Sprintf("\n| %d | `%s` |", wire.Status(kind), code(t, wire.ErrorBody(resources.AreaAccess, e)))
		_, rest, ok := strings.Cut(string(page), row)
		if users, _, _ := strings.Cut(rest, "\n"); !ok || !strings.Contains(users, "`"+code(t, wire.ErrorBody(resources.AreaUsers, e))+"`") {
			t.Errorf("no row %q with the code of users", strings.TrimSpace(row))
		}
	}
}

// code returns the code in a body of access or users.
func code(t *testing.T, body []byte) string {
	t.Helper()
	var read struct{ Error struct{ Code string } }
	if err := json.Unmarshal(body, &read); err != nil || read.Error.Code == "" {
		t.Fatalf("%s: %v", body, err)
	}
	return read.Error.Code
}
