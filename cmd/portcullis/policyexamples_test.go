package main

import (
	"bytes"
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

// asked is a question to an example of docs/author/write.md; without a role an account's admin asks it.
type asked struct {
	action, account, project, credential, role, row string
	hour                                            int
	ended, allow                                    bool
}

// examples are the changes that authors want most, with the other files of each.
var examples = map[string]struct {
	also  []string
	asked []asked
}{
	"authz/own_deletes.rego": {asked: []asked{
		{action: "project:instance:delete", credential: resources.CredentialKey},
		{action: "account:user:delete", credential: resources.CredentialKey},
		{action: "project:instance:delete", allow: true},
		{action: "project:instance:update", credential: resources.CredentialKey, allow: true},
	}},
	"grants/data.json": {asked: []asked{
		{action: "project:instance:create", role: "own_oncall", allow: true},
		{action: "project:instance:create", role: "own_oncall", ended: true},
		{action: "account:user:create", role: "own_oncall"},
	}},
	"authz/own_nights.rego": {also: []string{"grants/data.json"}, asked: []asked{
		{action: "project:instance:read", project: "proj-shop-v1", hour: 23},
		{action: "project:instance:read", project: "proj-pay-v1", hour: 5},
		{action: "project:instance:read", project: "proj-shop-v1", hour: 6, allow: true},
		{action: "project:instance:read", project: "proj-other-v1", hour: 23, allow: true},
		{action: "project:instance:read", project: "proj-shop-v1", hour: 23, role: "own_oncall", allow: true},
		{action: "project:instance:read", project: "proj-shop-v1", hour: 23, role: "own_oncall", ended: true},
	}},
	"routes/data.json": {asked: []asked{
		{row: "own.bill_list", action: "account:bill:read", role: "account_reader", allow: true},
		{row: "own.bill_list", action: "account:bill:read", role: "team_member"},
	}},
	"authz/own_accounts.rego": {asked: []asked{
		{action: "project:instance:create", account: "acct-blue-v1"},
		{action: "project:instance:read", account: "acct-blue-v1", credential: resources.CredentialKey, allow: true},
		{action: "project:instance:create", account: "acct-green-v1", allow: true},
		{action: "project:instance:read", account: "acct-green-v1", credential: resources.CredentialKey},
		{action: "project:instance:create", account: "acct-other-v1", credential: resources.CredentialKey, allow: true},
	}},
}

// mostLines bounds an example: the lines in which something stands.
const mostLines = 10

// TestTheExamplesDoWhatThePageSays guarantees that each change of docs/author/write.md is accepted over the embedded base, allows
// and denies what it says, and costs what the page says in the words of `policy check`.
func TestTheExamplesDoWhatThePageSays(t *testing.T) {
	page, err := os.ReadFile("../../docs/author/write.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, file := range regexp.MustCompile("`own/([^`]+)`:\n\n```[a-z]+\n((?s:.*?))```\n").FindAllStringSubmatch(string(page), -1) {
		shown[file[1]] = file[2]
	}
	free := strings.Count(string(page), "nothing that `policy check` names")
	for name, example := range examples {
		t.Run(name, func(t *testing.T) {
			if lines := strings.Split(shown[name], "\n"); len(slices.DeleteFunc(lines, func(line string) bool { return line == "" })) > mostLines || shown[name] == "" {
				t.Fatalf("%d lines", len(lines))
			}
			tree := policytest.Tree{}.With(overlay.ManifestFile, `{"base": "embedded"}`)
			for _, file := range append(example.also, name) {
				tree = tree.With(file, shown[file])
			}
			src, err := overlay.Read(tree)
			if err != nil {
				t.Fatal(err)
			}
			set, tests, err := proof.Prove(t.Context(), src)
			if err == nil {
				_, err = catalogue.New(set.Routes())
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range example.asked {
				entry, question := q.question(t, set)
				if d, err := set.Judge(t.Context(), entry, question, engine.DefaultDeadline); err != nil || d.Allowed != q.allow {
					t.Errorf("%+v: %+v %v", q, d, err)
				}
			}
			var out bytes.Buffer
			if err := reportChecked(t.Context(), set, src, tests, treeArgument{where: "own"}, &out); err != nil {
				t.Fatal(err)
			}
			costs := regexp.MustCompile("(?m)^(?:not )?cached.*$").FindAllString(out.String(), -1)
			for _, cost := range costs {
				if !strings.Contains(string(page), "`"+cost+"`") {
					t.Errorf("the page does not have its cost: %s", cost)
				}
			}
			if len(costs) == 0 {
				free--
			}
		})
	}
	if free != 0 {
		t.Errorf("the page says of %d more that they cost nothing", free)
	}
}

// question returns what is asked at which entry point.
func (a asked) question(t *testing.T, set *engine.Set) (entry string, q resources.Question) {
	t.Helper()
	action, err := resources.ParseAction(a.action)
	if err != nil {
		t.Fatal(err)
	}
	account, role, credential := cmp.Or(a.account, "acct-a-v1"), cmp.Or(a.role, resources.RoleAccountAdmin), cmp.Or(a.credential, resources.CredentialToken)
	held := resources.HeldRole{RoleID: role, RoleScope: resources.RoleScopeAccount, RoleStatus: resources.StatusActive, Status: resources.StatusActive}
	now := resources.At(time.Date(2026, 1, 1, a.hour, 30, 0, 0, time.UTC))
	if held.ExpiresAt = now + 1; a.ended {
		held.ExpiresAt = now - 1
	}
	q = resources.Question{
		Principal: resources.Principal{
			Kind: resources.PrincipalUser, ID: "user-a-v1", AccountID: account, Credential: credential, KeyScopes: []string{resources.KeyScopeRead, resources.KeyScopeWrite},
		},
		Action: action, AccountID: account, Now: now, Target: resources.Target{AccountID: account},
		Facts: resources.Facts{Subject: &resources.Subject{
			AccountID: account, AccountExists: true, AccountStatus: resources.StatusActive,
			UserID: "user-a-v1", UserExists: true, UserStatus: resources.StatusActive, Member: true, Assignments: []resources.HeldRole{held},
		}},
	}
	if action.Scope != "account" {
		q.Target.ProjectID, q.Facts.ProjectState = cmp.Or(a.project, "proj-a-v1"), resources.ProjectActive
	}
	entry = engine.EntryDecision
	for _, route := range set.Routes() {
		if route.Name == a.row {
			entry, q.Route = engine.EntryAccess, &route
		}
	}
	if a.row != "" && q.Route == nil {
		t.Fatalf("no row %s", a.row)
	}
	return entry, q
}
