package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// changesOf is one page of records, oldest or newest first as the query says.
func changesOf(t *testing.T, s *harness.Team, query string) (ids []string, r harness.Reply) {
	t.Helper()
	r = s.Must(t, 200, "GET", "/changes?"+query, "")
	return harness.Texts(r.Body["changes"], "id"), r
}

// madeGroups makes groups, one record each.
func madeGroups(t *testing.T, s *harness.Team, names ...string) (ids []string) {
	t.Helper()
	for _, name := range names {
		r := s.Must(t, 201, "POST", "/groups", fmt.Sprintf(`{"name":%q}`, name))
		ids = append(ids, fmt.Sprint(harness.At(r.Body, "group", "id")))
	}
	return ids
}

// TestChangesAreListed newest first, by page and by filter.
func TestChangesAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	groups := madeGroups(t, s, "a", "b", "c", "d", "e")
	key, _ := newKey(t, s.Scene, s.Admin, readWrite)
	byKey := harness.Call(t, "DELETE", s.Path("/groups/"+groups[4]), key, "", "X-Request-ID", "by-key")
	if byKey.Status != 200 {
		t.Fatalf("group.delete: %d %s", byKey.Status, byKey.Raw)
	}
	all, first := changesOf(t, s, "page_size=100")
	var paged []string
	query := "page_size=2"
	for {
		ids, r := changesOf(t, s, query)
		paged = append(paged, ids...)
		if r.Body["next_page_token"] == "" {
			break
		}
		query = "page_size=2&page_token=" + url.QueryEscape(fmt.Sprint(r.Body["next_page_token"]))
	}
	if !slices.Equal(all, paged) || len(all) != 9 {
		t.Errorf("%v, by pages %v", all, paged)
	}
	newest := harness.At(first.Body, "changes", 0)
	if harness.At(newest, "action") != "account:group:delete" || harness.At(newest, "request_id") != "by-key" || harness.At(newest, "actor", "credential") != "api_key" ||
		harness.At(newest, "subject", "id") != groups[4] || harness.At(newest, "before", "name") != "e" || harness.At(newest, "after") != nil {
		t.Errorf("%v", newest)
	}
	since := url.QueryEscape(fmt.Sprint(harness.At(first.Body, "changes", 3, "at")))
	subject := "subject=" + groups[4]
	for query, want := range map[string][]string{
		subject:                                  {all[0], all[2]},
		subject + "&action=account:group:create": {all[2]},
		"actor=" + s.Admin:                       all[:7], // the account and its project are a service's
		"actor=" + s.Bob:                         {},
		"action=account:group:delete":            {all[0]},
		"action=api_key.create":                  {all[1]},
		"since=2999-01-01T00:00:00Z":             {},
		"until=2000-01-01T00:00:00Z":             {},
		"since=" + since:                         all[:4],
		"after=&" + subject:                      {all[2], all[0]},
		"after=" + all[1]:                        {all[0]},
		"after=" + all[0]:                        {},
		"after=&page_size=2":                     {all[8], all[7]},
		"after=" + all[5] + "&page_size=1&actor=" + s.Admin:      {all[4]},
		"actor=" + s.Admin + "&page_size=1&subject=" + groups[0]: {all[6]},
	} {
		if got, r := changesOf(t, s, query); !slices.Equal(got, want) && len(got)+len(want) > 0 && query != "since="+since {
			t.Errorf("%s: %v, want %v (%s)", query, got, want, r.Raw)
		}
	}
	if got, _ := changesOf(t, s, "since="+since); len(got) < 4 {
		t.Errorf("since: %v", got)
	}
}

// TestChangesAreRefused guarantees it for callers without the right to read them, and for a wrong
// query.
func TestChangesAreRefused(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	madeGroups(t, s, "a")
	madeGroups(t, other, "a")
	ids, _ := changesOf(t, s, "")
	foreign, _ := changesOf(t, other, "")
	for name, token := range map[string]string{"a member": s.UserToken(t, s.Bob), "another account's admin": other.AdminToken, "a service": s.Platform} {
		if r := harness.Call(t, "GET", s.Path("/changes"), token, ""); r.Status != 403 {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	for query, field := range map[string]string{
		"after=" + foreign[0]:                        "after: ",
		"after=change-7zzzzzzzzzzzzzzzzzzzzzzzzz-v1": "after: ",
		"after=nothing":                              "after: ",
		"after=a%20b":                                "after: ",
		"wait=5s":                                    "wait: goes with after",
		"after=" + ids[0] + "&wait=31s":              "wait: ",
		"after=" + ids[0] + "&wait=1m":               "wait: ",
		"after=" + ids[0] + "&wait=-1s":              "wait: ",
		"after=" + ids[0] + "&page_token=x":          "page_token: ",
		"page_token=x":                               "page_token: ",
		"since=yesterday":                            "since: ",
		"until=":                                     "until: ",
		"page_size=101":                              "page_size: ",
		"actor=a%20b":                                "actor: ",
		"action=" + strings.Repeat("a", 200):         "action: ",
		"order=desc":                                 "order: ",
		"after=change-00000000000000000000000000-v1&page_size=1": "",
	} {
		r := harness.Call(t, "GET", s.Path("/changes?"+query), s.AdminToken, "")
		want := 400
		if field == "" {
			want = 410
		}
		if r.Status != want || !strings.Contains(string(r.Raw), field) {
			t.Errorf("%s: %d %s", query, r.Status, r.Raw)
		}
	}
}

// TestFollowerWaits for the next record, and gets nothing once it may not read any more.
func TestFollowerWaits(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	madeGroups(t, s, "a")
	ids, _ := changesOf(t, s, "")
	started := time.Now()
	if got, _ := changesOf(t, s, "after="+ids[0]+"&wait=1s"); len(got) != 0 || time.Since(started) < time.Second {
		t.Errorf("%v after %s", got, time.Since(started))
	}
	answered := make(chan harness.Reply, 1)
	go func() {
		r, _ := harness.TryCall("GET", s.Path("/changes?after="+ids[0]+"&wait=30s"), s.AdminToken, "")
		answered <- r
	}()
	made := madeGroups(t, s, "b")
	if r := <-answered; r.Status != 200 || harness.At(r.Body, "changes", 0, "subject", "id") != made[0] {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	s.Grant(t, "account_reader", s.Bob, "")
	ids, _ = changesOf(t, s, "page_size=1")
	go func() {
		r, _ := harness.TryCall("GET", s.Path("/changes?after="+ids[0]+"&wait=30s"), s.UserToken(t, s.Bob), "")
		answered <- r
	}()
	s.Must(t, 200, "DELETE", harness.AssignmentPath("account_reader", s.Bob, ""), "")
	if r := <-answered; r.Status != 403 && harness.At(r.Body, "changes", 0) != nil && harness.At(r.Body, "changes", 0, "action") != "account:role_assignment:delete" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}
