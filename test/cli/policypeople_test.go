package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// diffedPeople are the real users in the report of `policy diff --json`.
type diffedPeople struct {
	Users, Accounts int
	FactSets        int `json:"fact_sets"`
	Gain, Lose      []struct {
		Entry, Action, Place string
		Users                int
		Named                []struct{ User, Account string }
	}
	NotLookedAt []struct{ What string } `json:"not_looked_at"`
}

// named are the users who are named anywhere.
func (d diffed) named() (out []string) {
	for _, c := range append(d.People.Gain, d.People.Lose...) {
		for _, n := range c.Named {
			out = append(out, n.User)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestPolicyDiffNamesRealUsers of a data folder that no gateway has open, as many as --names says.
func TestPolicyDiffNamesRealUsers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	harness.SeedEmbedded(t, data, "acct-a-v1", "proj-a-v1",
		harness.Member{ID: "user-admin-v1", Roles: []string{"account_admin"}}, harness.Member{ID: "user-none-v1"},
		harness.Member{ID: "user-one-v1", Roles: []string{"account_reader"}}, harness.Member{ID: "user-two-v1", Roles: []string{"account_reader"}})
	less, more := smallTree(t), smallTree(t, "project:widget:paint")
	o, d := diffTrees(t, less, more, "--data-dir", data)
	if o.Code != 1 || d.People == nil || d.People.Users != 4 || d.People.Accounts != 1 || d.People.FactSets != 3 || len(d.People.Lose) != 0 ||
		!slices.Equal(d.named(), []string{"user-one-v1", "user-two-v1"}) || len(d.People.NotLookedAt) != 0 {
		t.Fatalf("%+v", o)
	}
	if _, d := diffTrees(t, more, less, "--data-dir", data, "--names", "1"); len(d.People.Gain) != 0 || len(d.named()) != 1 || d.People.Lose[0].Users != 2 {
		t.Errorf("%+v", d.People)
	}
	if _, d := diffTrees(t, more, more, "--data-dir", data); len(d.People.Gain)+len(d.People.Lose) != 0 || d.People.Users != 4 {
		t.Errorf("%+v", d.People)
	}
	text := harness.Command(t, nil, "policy", "diff", less, more, "--data-dir", data, "--names", "1")
	if !strings.Contains(text.Stdout, "real users: 4, accounts: 1, distinct sets of facts: 3, ") || !strings.Contains(text.Stdout, "user-one-v1 of acct-a-v1; 1 more\n") {
		t.Errorf("%+v", text)
	}
}

// TestAGatewayNamesUsersToThoseWhoMaySeeThem guarantees it for services with the rights to explain and search, and for
// admins in their own account. Nobody else sees any user.
func TestAGatewayNamesUsersToThoseWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	teams := harness.StartTeams(t, 2)
	one, two := teams[0], teams[1]
	one.Grant(t, "account_reader", one.Bob, "")
	two.Grant(t, "account_reader", two.Bob, "")
	less, more := smallTree(t), smallTree(t, "project:widget:paint")
	args := func(token string) []string { return []string{less, more, "--url", one.HealthURL, "--token", token} }
	o, d := diffTrees(t, args(one.ServiceToken(t, "authz:check", "authz:explain"))...)
	if o.Code != 1 || d.People == nil || d.People.Accounts != 2 || !slices.Equal(d.named(), []string{one.Bob, two.Bob}) || len(d.People.NotLookedAt) != 0 {
		t.Errorf("%+v", o)
	}
	o, d = diffTrees(t, args(one.AdminToken)...)
	if o.Code != 1 || d.People == nil || d.People.Users != 4 || !slices.Equal(d.named(), []string{one.Bob}) || len(d.People.NotLookedAt) != 1 ||
		strings.Contains(o.Stdout, two.Bob) || strings.Contains(o.Stdout, two.Account) {
		t.Errorf("%+v", o)
	}
	for name, token := range map[string]string{
		"403 a member": one.UserToken(t, one.Bob), "403 may not search": one.ServiceToken(t, "authz:explain"),
		"403 may not explain": one.ServiceToken(t, "authz:check"), "403 another service": one.Platform, "401 no token of ours": "x",
	} {
		o := harness.Command(t, nil, append([]string{"policy", "diff"}, args(token)...)...)
		if status, _, _ := strings.Cut(name, " "); o.Code != 2 || o.Stdout != "" || !strings.Contains(o.Stderr, "the gateway answers "+status) {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for place, status := range map[string]int{one.HealthURL: 401, one.URL: 404} {
		if r := harness.Call(t, "GET", place+"/policy/people", "", ""); r.Status != status {
			t.Errorf("%s: %d %s", place, r.Status, r.Raw)
		}
	}
}
