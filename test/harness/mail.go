package harness

import (
	"fmt"
	"strings"
	"testing"
)

// WantMessage holds an answer to 200 and nothing but a message.
func WantMessage(t testing.TB, title string, r Reply) {
	t.Helper()
	if message, _ := r.Body["message"].(string); r.Status != 200 || message == "" || len(r.Body) != 1 {
		t.Errorf("%s: %d %s, want 200 with a message alone", title, r.Status, r.Raw)
	}
}

// Invite is user.invite by the admin.
func (s *Scene) Invite(t testing.TB, email string) Reply {
	t.Helper()
	return s.Do(t, "POST", "/users/invite", fmt.Sprintf(`{"email":%q}`, email))
}

// Drained waits until the outbox holds nothing more that is to be sent.
func (g *Gateway) Drained(t testing.TB) {
	t.Helper()
	Soon(t, "the outbox is empty", func() bool {
		return strings.Contains(string(Call(t, "GET", g.HealthURL+"/metrics", "", "").Raw), "\nportcullis_outbox_pending 0\n")
	})
}
