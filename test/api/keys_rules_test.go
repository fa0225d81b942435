package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// keysOf are a user's keys by api_key.list of the admin, in its order.
func (p *people) keysOf(t testing.TB, user string) []any {
	t.Helper()
	r := p.Must(t, 200, "GET", "/users/"+user+"/keys", "")
	keys, ok := harness.At(r.Body, "data", "keys").([]any)
	if !ok || strings.Contains(string(r.Raw), "sk_live") {
		t.Errorf("api_key.list: %s", r.Raw)
	}
	return keys
}

// TestLastUseIsKept: written together and not for each request, at the latest when
// the gateway ends; a key that was never used has none, and neither has one refused.
func TestLastUseIsKept(t *testing.T) {
	t.Parallel()
	p := &people{Team: harness.StartTeam(t)}
	p.base = p.URL
	used, usedID := newKey(t, p.Scene, p.Bob, readOnly)
	_, otherID := newKey(t, p.Scene, p.Bob, readOnly)
	began := time.Now().Add(-time.Millisecond)
	if r := p.call(t, "GET", "/users/"+p.Bob+"/profile", used, ""); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	until := time.Now()
	p.Terminate(t)
	if code := p.Ended(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
	p.Gateway = harness.StartIn(t, p.DataDir)
	keys := p.keysOf(t, p.Bob)
	key := harness.ItemWith(keys, "id", usedID)
	harness.WantFields(t, "the used key", key, "id", "key_name", "masked_key", "scopes", "is_active", "last_used_at", "created_at")
	harness.WantFields(t, "the other one", harness.ItemWith(keys, "id", otherID), "id", "key_name", "masked_key", "scopes", "is_active", "created_at")
	harness.WantTimes(t, key, "last_used_at")
	text, _ := harness.At(key, "last_used_at").(string)
	if last, err := time.Parse(time.RFC3339, text); err != nil || last.Before(began) || last.After(until) {
		t.Errorf("last used %s, in truth between %s and %s", text, began, until)
	}
}
