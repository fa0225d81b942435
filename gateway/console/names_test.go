package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestIDsHaveTheirNames guarantees the names of members beyond the first list, each asked for once, and of fifty at most.
func TestIDsHaveTheirNames(t *testing.T) {
	s := newPeopleSite(t)
	members, first := []string{}, []string{}
	asked := map[string]int{}
	for n := range 70 {
		members = append(members, fmt.Sprintf(`{"user_id":"user-m%d-v1"},{"user_id":"user-m%d-v1"}`, n, n))
	}
	for n := range 10 {
		first = append(first, fmt.Sprintf(`{"id":"user-m%d-v1","name":"First %d"}`, n, n))
	}
	s.answers["GET "+api+"/groups/group-x-v1/members"] = `{"members":[` + strings.Join(members, ",") + `]}`
	s.byQuery = func(r *http.Request) (string, bool) {
		q := r.URL.Query().Get("q")
		if r.URL.Path != api+"/users" {
			return "", false
		}
		if q == "" {
			return `{"users":[` + strings.Join(first, ",") + `],"next_page_token":"next"}`, true
		}
		asked[q]++
		return fmt.Sprintf(`{"users":[{"id":%q,"name":"<b>%s"}]}`, q, q), true
	}
	page := s.send(admin, "/groups/group-x-v1", nil).Body.String()
	for _, want := range []string{
		`<bdi>First 0</bdi></a> <code class="id">user-m0-v1</code>`, `<bdi>First 9</bdi>`, `<bdi>&lt;b&gt;user-m10-v1</bdi>`, `<bdi>&lt;b&gt;user-m59-v1</bdi>`, `<bdi>user-m60-v1</bdi></a></th>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page: %s", want, page)
		}
	}
	if len(asked) != 50 || asked["user-m0-v1"] != 0 {
		t.Errorf("%d were asked for", len(asked))
	}
	for id, times := range asked {
		if times != 1 {
			t.Errorf("%s was asked for %d times", id, times)
		}
	}
}

// TestNamesThatMayNotBeReadAreIDs guarantees a page for who may list no members.
func TestNamesThatMayNotBeReadAreIDs(t *testing.T) {
	s := newPeopleSite(t)
	s.refuse("GET "+api+"/users", 403, `{"error":"No."}`)
	s.refuse("GET "+api+"/projects", 403, `{"error":"No."}`)
	w := s.send(admin, "/groups/group-x-v1", nil)
	if page := w.Body.String(); w.Code != 200 || !strings.Contains(page, "<bdi>user-bob-v1</bdi>") || !strings.Contains(page, "<bdi>proj-a-v1</bdi>") {
		t.Errorf("%d %s", w.Code, page)
	}
	s.refuse("GET "+api+"/users", 500, `{"error":"No."}`)
	if w := s.send(admin, "/groups/group-x-v1", nil); w.Code != 500 {
		t.Errorf("an error: %d", w.Code)
	}
}
