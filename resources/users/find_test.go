package users_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func TestUserIsFoundByAddressOrExternalID(t *testing.T) {
	w := newWorld(t)
	find := func(query string) areatest.Answer {
		r := ask(syncer(), "", "", nil)
		r.Query = query
		return w.Ask("user.find", r)
	}
	for _, query := range []string{"email=user-bea-v1@example.com", "email=USER-bea-v1%40EXAMPLE.com", "external_id=user-bea-v1"} {
		w.Expect(find(query), 200, `{"users":[{"id":"uuid-user-bea-v1","email":"user-bea-v1@example.com","external_id":"user-bea-v1","name":"Name of user-bea-v1",`,
			`"account_id":"acct-b-v1"`)
	}
	if got := find("external_id=" + nora); strings.Contains(got.Text, "account_id") {
		t.Error(got.Text)
	}
	for _, query := range []string{"email=nobody@example.com", "external_id=" + absent, "external_id=uuid-" + bea, "external_id=USER-bea-v1"} {
		if got := find(query); got.Status != 200 || got.Text != `{"users":[]}` {
			t.Errorf("%s: %d %s", query, got.Status, got.Text)
		}
	}
	for query, want := range map[string]string{
		"":                                  "exactly one of",
		"email=":                            "exactly one of",
		"email=a@example.com&external_id=a": "exactly one of",
		"email=a":                           "email: ",
		"email[$ne]=":                       "unknown query parameter",
		"email=a%0a@example.com":            "email: ",
		"external_id=a%2fb":                 "external_id: ",
		"external_id=a&external_id=b":       "external_id: must be sent once",
		"external_id=a&page_size=1":         "page_size: unknown",
		"email=bo%E2%84%AA@example.com":     "email: ",
		"external_id=" + strings.Repeat("a", 129): "external_id: ",
	} {
		w.Expect(find(query), 400, "REQ_001", want)
	}
}
