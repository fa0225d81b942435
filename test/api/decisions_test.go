package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// decisionsOf is one page of decisions.
func decisionsOf(t *testing.T, s *harness.Team, query string) (ids []string, r harness.Reply) {
	t.Helper()
	r = s.Must(t, 200, "GET", "/decisions?"+query, "")
	return harness.Texts(r.Body["decisions"], "decision_id"), r
}

// begun returns an answer from which a follower gets what is decided next. The log writes in the order of verdicts, but a
// little later than they are answered: once it has one call of this list, it has all that has set the team up.
func begun(t *testing.T, s *harness.Team) (r harness.Reply) {
	t.Helper()
	harness.Soon(t, "the log has a call of the list", func() bool {
		var ids []string
		ids, r = decisionsOf(t, s, "action=account:decision:read")
		return len(ids) > 0
	})
	return r
}

// after is the cursor of an answer as a query.
func after(r harness.Reply) string { return "after=" + url.QueryEscape(fmt.Sprint(r.Body["after"])) }

// decidedOn asks about a user and returns the decision's id.
func decidedOn(t *testing.T, s *harness.Team, user, action, rest string) string {
	t.Helper()
	return s.Ask(t, user, action, rest).Header.Get("X-Decision-ID")
}

// awaited follows until the decision comes, and returns all that came, and the last answer.
func awaited(t *testing.T, s *harness.Team, r harness.Reply, id string) (all []string, last harness.Reply) {
	t.Helper()
	for !slices.Contains(all, id) {
		var ids []string
		ids, r = decisionsOf(t, s, after(r)+"&wait=30s")
		if len(ids) == 0 {
			t.Fatalf("%s does not come, but %v", id, all)
		}
		all = append(all, ids...)
	}
	return all, r
}

// TestDecisionsAreListed newest first, by page and by filter, and followed without a gap.
func TestDecisionsAreListed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	began := begun(t, s)
	instances := "/projects/" + s.Project + "/instances"
	var ids []string
	for n := range 5 {
		ids = append(ids, decidedOn(t, s, s.Bob, "project:instance:create", fmt.Sprintf("%s/i-%d", instances, n)))
	}
	ids = append(ids, decidedOn(t, s, s.Admin, "project:instance:read", instances), decidedOn(t, s, s.Carol, "account:role:read", ""))
	followed, end := awaited(t, s, began, ids[6])
	if !slices.Equal(followed, ids) || end.Body["complete"] != true || fmt.Sprint(end.Body["missing"]) != "[]" {
		t.Errorf("followed %v, want %v: %s", followed, ids, end.Raw)
	}
	if none, r := decisionsOf(t, s, after(end)); len(none) != 0 || r.Body["after"] == "" {
		t.Errorf("nothing is new: %s", r.Raw)
	}
	reversed := slices.Clone(ids)
	slices.Reverse(reversed)
	for query, want := range map[string][]string{
		"path=authz/decision":                                          reversed,
		"path=authz/decision&verdict=allow":                            {ids[5]},
		"verdict=deny&path=authz/decision":                             append([]string{ids[6]}, reversed[2:]...),
		"id=" + ids[2]:                                                 {ids[2]},
		"id=" + ids[2] + "&verdict=allow":                              {},
		"id=" + ids[5] + "&verdict=allow&since=1h":                     {ids[5]},
		"id=" + ids[2] + "&until=1h":                                   {},
		after(began) + "&id=" + ids[3]:                                 {ids[3]},
		"action=account:decision:read&lookups=false":                   {},
		"path=authz/decision&lookups=false":                            reversed,
		"user=" + s.Carol:                                              {ids[6]},
		"user=" + s.Dan:                                                {},
		"action=project:instance:read":                                 {ids[5]},
		"place=projects/" + s.Project + "/instances/i-3":               {ids[3]},
		"path=authz/decision&place=projects/" + s.Project:              reversed[1:],
		"path=authz/decision&since=1h":                                 reversed,
		"path=authz/decision&until=1h":                                 {},
		"path=authz/decision&until=2001-01-01T00:00:00Z":               {},
		"path=authz/decision&since=2001-01-01T00:00:00Z&user=" + s.Bob: reversed[2:],
		"action=account:role:delete":                                   {},
		after(began) + "&verdict=allow":                                {ids[5]},
		after(began) + "&page_size=2":                                  ids[:2],
		after(began) + "&newest=true&path=authz/decision":              reversed,
		after(began) + "&newest=true&page_size=2":                      {ids[6], ids[4]},
		after(began) + "&newest=false&page_size=2":                     ids[:2],
	} {
		if got, r := decisionsOf(t, s, query); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %v, want %v (%s)", query, got, want, r.Raw)
		}
	}
	var paged []string
	for query, more := "path=authz/decision&page_size=3", true; more; {
		got, r := decisionsOf(t, s, query)
		paged = append(paged, got...)
		more = r.Body["next_page_token"] != ""
		query = "path=authz/decision&page_size=3&page_token=" + url.QueryEscape(fmt.Sprint(r.Body["next_page_token"]))
	}
	if !slices.Equal(paged, reversed) {
		t.Errorf("by pages %v, want %v", paged, reversed)
	}
}

// TestDecisionsAreRefused guarantees it for callers without the right to read them, and for a wrong query.
func TestDecisionsAreRefused(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	_, first := decisionsOf(t, s, "page_size=1")
	_, foreign := decisionsOf(t, other, "")
	s.Grant(t, "team_member", s.Bob, "")
	s.Grant(t, "account_reader", s.Carol, "")
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"an admin": {s.AdminToken, 200}, "a reader": {s.UserToken(t, s.Carol), 200}, "a member": {s.UserToken(t, s.Dan), 403}, "a team member": {s.UserToken(t, s.Bob), 403},
		"another account's admin": {other.AdminToken, 403}, "a service": {s.Platform, 403}, "nobody": {"", 401},
	} {
		if r := harness.Call(t, "GET", s.Path("/decisions"), c.token, ""); r.Status != c.status {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	for query, field := range map[string]string{
		after(foreign):                   "after: ",
		"after=":                         "after: ",
		"after=x":                        "after: ",
		"wait=5s":                        "wait: goes with after",
		after(first) + "&wait=31s":       "wait: ",
		"newest=true":                    "newest: goes with after",
		after(first) + "&newest=1":       "newest: ",
		after(first) + "&page_token=x":   "page_token: ",
		"page_token=x":                   "page_token: ",
		"since=yesterday":                "since: ",
		"until=soon":                     "until: ",
		"page_size=101":                  "page_size: ",
		"user=a%20b":                     "user: ",
		"lookups=maybe":                  "lookups: must be one of true, false",
		"inputs=0":                       "inputs: must be one of true, false",
		"verdict=maybe":                  "verdict: ",
		"action=read":                    "action: ",
		"place=a%20b":                    "place: ",
		"path=authz":                     "path: ",
		"path=authz/decision%0a":         "path: ",
		"id=1":                           "id: must be a decision_id",
		"id=" + strings.Repeat("z", 26):  "id: must be a decision_id",
		"account=" + other.Account:       "account: ",
		"follow=true":                    "follow: ",
		"verdict=deny&verdict=allow":     "verdict: ",
		"since=yesterday&verdict=maybe":  "verdict: ",
		"place=a&place=b&since=tomorrow": "since: ",
	} {
		r := s.Do(t, "GET", "/decisions?"+query, "")
		if r.Status != 400 || !strings.Contains(string(r.Raw), field) {
			t.Errorf("%s: %d %s", query, r.Status, r.Raw)
		}
	}
}

// TestDecisionsOfOthersAreNotShown guarantees that an account gets what was decided about it alone.
func TestDecisionsOfOthersAreNotShown(t *testing.T) {
	t.Parallel()
	s, other := harness.NewTeam(t), harness.NewTeam(t)
	began := begun(t, s)
	hidden := decidedOn(t, other, other.Bob, "account:role:read", "")
	stranger := decidedOn(t, s, other.Bob, "account:role:read", "")
	got, r := awaited(t, s, began, stranger)
	if slices.Contains(got, hidden) {
		t.Errorf("%s", r.Raw)
	}
	if ids, r := decisionsOf(t, s, "id="+hidden); len(ids) != 0 {
		t.Errorf("by its id: %s", r.Raw)
	}
	if _, r := decisionsOf(t, s, "inputs=false&id="+stranger); harness.At(r.Body, "decisions", 0, "input") != nil || harness.At(r.Body, "decisions", 0, "result", "allow") != false {
		t.Errorf("without inputs: %s", r.Raw)
	}
	_, r = decisionsOf(t, s, "id="+stranger)
	if subject := harness.At(r.Body, "decisions", 0, "input", "subject"); harness.At(subject, "id") != other.Bob || harness.At(subject, "exists") != false {
		t.Errorf("a stranger: %v", subject)
	}
	if place, isObject := harness.At(r.Body, "decisions", 0, "place").(map[string]any); !isObject || len(place) != 1 || place["hash"] == "" {
		t.Errorf("its place: %s", r.Raw)
	}
}

// TestWithoutADecisionLogThereAreNoDecisions names the setting.
func TestWithoutADecisionLogThereAreNoDecisions(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t, "--decision-log", "off")
	if r := s.Do(t, "GET", "/decisions", ""); r.Status != 404 || !strings.Contains(string(r.Raw), "--decision-log") {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}
