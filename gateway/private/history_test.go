package private_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/private"
)

// TestHistoryHasTheNewestTrees guarantees the newest first, and fifty of them at most.
func TestHistoryHasTheNewestTrees(t *testing.T) {
	var h private.History
	if got := historyOf(t, &h); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for i := range 60 {
		h.Add(private.PolicyEntry{Revision: fmt.Sprint(i), Outcome: private.OutcomeTaken, Reasons: []string{}})
	}
	if got := historyOf(t, &h); len(got) != 50 || got[0].Revision != "59" || got[49].Revision != "10" {
		t.Errorf("%v", got)
	}
}

func historyOf(t *testing.T, h *private.History) []private.PolicyEntry {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/policy/history", nil))
	var body struct{ History []private.PolicyEntry }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 200 || body.History == nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return body.History
}
