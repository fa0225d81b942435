package cli_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// shown is what the tests read of an event.
type shown struct {
	ID    string `json:"decision_id"`
	Input struct {
		Account struct{ ID string }
		Subject struct {
			ID, Status string
			Exists     bool
		}
	}
}

// shownTo are the decisions that the private listener shows to the holder of a token.
func shownTo(t *testing.T, s *harness.Team, token, query string) map[string]shown {
	t.Helper()
	r := harness.Call(t, "GET", s.HealthURL+"/decisions?"+query, token, "")
	if r.Status != 200 {
		t.Fatalf("%s: %d %s", query, r.Status, r.Raw)
	}
	all := map[string]shown{}
	for line := range strings.Lines(string(r.Raw)) {
		var e shown
		must.Do(t, json.Unmarshal([]byte(line), &e))
		all[e.ID] = e
	}
	return all
}

// decision asks about the user in the account of the team, and returns the decision's id.
func decision(t *testing.T, s *harness.Team, token, user string) string {
	t.Helper()
	r := harness.Call(t, "POST", s.URL+"/api/v1/authorize/accounts/"+s.Account+"/projects/"+s.Project, token, "",
		"X-User-ID", user, "X-Account-ID", s.Account, "X-Action", "project:instance:read")
	id := r.Header.Get("X-Decision-ID")
	if id == "" {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	return id
}

// TestDecisionsAreShownToThoseWhoMayExplainThem: to a service with the scope all, to a user those about the account in which
// they may explain, and of a subject from elsewhere no more than the id; to nobody else any.
func TestDecisionsAreShownToThoseWhoMayExplainThem(t *testing.T) {
	t.Parallel()
	teams := harness.StartTeams(t, 2, "--decision-log", "required")
	one, two := teams[0], teams[1]
	self, foreign := decision(t, one, one.Checker, one.Bob), decision(t, two, two.Checker, two.Bob)
	stranger, nobody := decision(t, one, one.AdminToken, two.Bob), decision(t, one, one.AdminToken, "user-ghost-v1")
	explainer := one.ServiceToken(t, "authz:explain")
	all := shownTo(t, one, explainer, "")
	for _, id := range []string{self, foreign, stranger, nobody} {
		if _, exists := all[id]; !exists {
			t.Errorf("the service is not shown %s of %d", id, len(all))
		}
	}
	if !all[stranger].Input.Subject.Exists {
		t.Errorf("the service: %+v", all[stranger])
	}
	for _, query := range []string{"", "order=oldest", "account=" + one.Account, "since=1h"} {
		outputs := shownTo(t, one, one.AdminToken, query)
		for id, e := range outputs {
			if e.Input.Account.ID != one.Account {
				t.Errorf("an admin is shown %s of %s", id, e.Input.Account.ID)
			}
		}
		if outputs[self].ID == "" || outputs[stranger].ID == "" || outputs[stranger].Input.Subject.Exists || outputs[stranger].Input.Subject.Status != "" ||
			outputs[stranger].Input.Subject.ID != two.Bob || outputs[self].Input.Subject.Status != "ACTIVE" {
			t.Errorf("%q: %+v", query, outputs)
		}
	}
	for _, query := range []string{"account=" + two.Account, "account=acct-absent-v1", "id=" + foreign, "user=" + two.Admin} {
		if got := shownTo(t, one, one.AdminToken, query); len(got) != 0 {
			t.Errorf("%s: %+v", query, got)
		}
	}
	for token, counted := range map[string]bool{explainer: true, one.AdminToken: false} {
		r := harness.Call(t, "GET", one.HealthURL+"/decisions?id="+self, token, "")
		if text := string(r.Raw); !strings.Contains(text, `"hash":"`) || strings.Contains(text, `"line":`) != counted || strings.Contains(text, `"segment":`) != counted {
			t.Errorf("its place: %s", text)
		}
	}
	if limited := shownTo(t, one, one.AdminToken, "limit=1&order=oldest"); len(limited) != 1 {
		t.Errorf("%d of one", len(limited))
	}
	for name, token := range map[string]string{
		"401 nobody": "", "401 a changed token": harness.OtherEnding(explainer), "401 a user who is unknown": one.UserToken(t, "user-ghost-v1"),
		"403 a member": one.UserToken(t, one.Bob), "403 a service that may ask": one.Checker, "403 a service that makes accounts": one.Platform,
	} {
		want, _, _ := strings.Cut(name, " ")
		for _, query := range []string{"", "?follow=true", "?account=" + one.Account, "?limit=x"} {
			r := harness.Call(t, "GET", one.HealthURL+"/decisions"+query, token, "")
			if strconv.Itoa(r.Status) != want || len(r.Raw) > 200 {
				t.Errorf("%s, %s: %d %s", name, query, r.Status, r.Raw)
			}
		}
	}
	if r := harness.Call(t, "GET", one.URL+"/decisions", explainer, ""); r.Status != 404 {
		t.Errorf("on the public listener: %d", r.Status)
	}
}

// TestAFollowerIsShownNothingAfterARevoke: the answer ends with the first decision that was made after it.
func TestAFollowerIsShownNothingAfterARevoke(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t, "--decision-log", "required")
	s.Grant(t, "account_admin", s.Bob, "")
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, s.HealthURL+"/decisions?follow=true", http.NoBody))(t)
	req.Header.Set("Authorization", "Bearer "+s.UserToken(t, s.Bob))
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	before := decision(t, s, s.Checker, s.Carol)
	for ok := false; !ok; {
		if !lines.Scan() {
			t.Fatalf("it ends before %s: %v", before, lines.Err())
		}
		ok = strings.Contains(lines.Text(), before)
	}
	s.Must(t, 200, "DELETE", harness.AssignmentPath("account_admin", s.Bob, ""), "")
	after := decision(t, s, s.Checker, s.Carol)
	for lines.Scan() {
		if strings.Contains(lines.Text(), after) {
			t.Fatalf("after the revoke: %s", lines.Text())
		}
	}
	if resp.Trailer.Get("X-Decisions-Whole") != "" {
		t.Error("it ends as if it were whole")
	}
}
