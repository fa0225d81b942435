package access_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// assigned returns a page of the account's assignments as "assignee role", and the token of the next page.
func (w *accessWorld) assigned(account, caller, query string) (out []string, next string) {
	w.T.Helper()
	got := w.call("role_assignment.list", areatest.As(account, caller), "accountId="+account, query, nil)
	w.Expect(got, 200)
	for _, item := range got.Body["assignments"].([]any) {
		a := item.(map[string]any)
		out = append(out, fmt.Sprint(a["assigneeId"], " ", a["roleId"]))
	}
	return out, got.Body["next_page_token"].(string)
}

// assignedPages returns all pages of a list joined, and how many there were. It calls between after each.
func (w *accessWorld) assignedPages(query string, between func()) (out []string, pages int) {
	w.T.Helper()
	for next := "first"; next != ""; pages++ {
		q := query
		if next != "first" {
			q += "&page_token=" + url.QueryEscape(next)
		}
		var page []string
		page, next = w.assigned(acctA, alice, q)
		out = append(out, page...)
		between()
	}
	return out, pages
}

// TestAssignmentsAreFiltered guarantees each filter, also joined and page by page, and that another account's records
// never match.
func TestAssignmentsAreFiltered(t *testing.T) {
	w := newWorld(t)
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: groupA, RoleID: "project_reader", ProjectID: projA1, ExpiresAt: areatest.Start + hour})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeType: "IAMGROUP", AssigneeID: carol, RoleID: "project_admin", ProjectID: projA2, Status: "INACTIVE"})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "team_member", ExpiresAt: areatest.Start})
	w.Assign(resources.Assignment{AccountID: acctB, AssigneeID: alice, RoleID: "team_member", ExpiresAt: areatest.Start})
	const (
		aliceAdmin, bobReader, carolMember = alice + " account_admin", bob + " project_reader", carol + " team_member"
		groupReader, groupAdmin, danMember = groupA + " project_reader", carol + " project_admin", dan + " team_member"
	)
	soon, past := url.QueryEscape((areatest.Start + hour + 1).String()), url.QueryEscape((areatest.Start + hour).String())
	for query, want := range map[string][]string{
		"":                  {aliceAdmin, groupAdmin, groupReader, bobReader, carolMember, danMember},
		"role=team_member":  {carolMember, danMember},
		"project=" + projA1: {groupReader, bobReader}, "project=": {aliceAdmin, groupAdmin, groupReader, bobReader, carolMember, danMember},
		"assignee=" + carol: {groupAdmin, carolMember}, "assignee=" + groupA: {groupReader},
		"status=ACTIVE": {aliceAdmin, groupReader, bobReader, carolMember}, "status=INACTIVE": {groupAdmin, danMember},
		"expires_before=" + soon: {danMember, groupReader}, "expires_before=" + past: {danMember},
		"expires_before=" + soon + "&status=ACTIVE": {groupReader}, "expires_before=" + past + "&status=ACTIVE": nil,
		"expires_before=" + soon + "&role=team_member": {danMember}, "expires_before=" + soon + "&assignee=" + groupA: {groupReader},
		"role=project_reader&project=" + projA1 + "&assignee=" + bob: {bobReader}, "project=" + projA2 + "&role=team_member": nil,
		"role=" + roleB: nil, "project=" + projB1: nil, "assignee=" + bea: nil, "role=" + absent: nil,
	} {
		if got, _ := w.assigned(acctA, alice, query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		if got, _ := w.assignedPages(query+"&page_size=1", func() {}); !slices.Equal(got, want) {
			t.Errorf("%s page by page: %q, want %q", query, got, want)
		}
	}
	got := w.call("role_assignment.list", areatest.As(acctA, alice), "accountId="+acctA, "assignee="+groupA, nil)
	w.Expect(got, 200, `{"assignments":[{"assigneeId":"group-a-v1","assigneeType":"IAMGROUP","roleId":"project_reader","projectId":"proj-a1-v1","status":"ACTIVE","expiresAt":"`+
		(areatest.Start+hour).String()+`","createdAt":`, `],"next_page_token":""}`)
	w.Clock.Store(int64(areatest.Start + hour))
	if got, _ := w.assigned(acctA, alice, "status=INACTIVE&project="+projA1); !slices.Equal(got, []string{groupReader}) {
		t.Errorf("what has ended is not INACTIVE: %q", got)
	}
}

func TestAssignmentsThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	ask := func(account, caller, query string) areatest.Answer {
		return w.call("role_assignment.list", areatest.As(account, caller), "accountId="+account, query, nil)
	}
	w.Expect(ask(acctA, alice, "role=a|b&project=a|b&assignee=a|b&status=active&expires_before=soon&page_size=101&page=1&scope=ACCOUNT"), 400,
		"role: must", "project: must", "assignee: must", "status: must be one of", "expires_before: must be a date-time", "page_size: must be", "page: unknown", "scope: unknown")
	w.Assign(resources.Assignment{AccountID: acctB, AssigneeID: alice, RoleID: "team_member"})
	_, next := w.assigned(acctA, alice, "page_size=1")
	if next == "" {
		t.Fatal("one page")
	}
	token := "page_token=" + url.QueryEscape(next)
	w.Expect(ask(acctB, bea, token), 400, "page_token: is not a token of this list")
	for _, filter := range []string{"role=team_member", "project=" + projA1, "assignee=" + bob, "status=ACTIVE", "expires_before=2030-01-31T12:00:00Z"} {
		w.Expect(ask(acctA, alice, token+"&"+filter), 400, "page_token: is not a token of this list")
	}
}

// TestPagesOfAssignmentsStandStillAmongInserts guarantees that no assignment is repeated or skipped while others come.
// One request reads a bounded number of records.
func TestPagesOfAssignmentsStandStillAmongInserts(t *testing.T) {
	w := newWorld(t)
	add := func(ids ...string) {
		w.Write(func(ctx context.Context, tx store.Tx) error {
			for _, id := range ids {
				a := resources.Assignment{
					AccountID: acctA, AssigneeID: id, AssigneeType: resources.AssigneeUser, RoleID: "team_member", RoleScope: resources.RoleScopeAccount,
					Status: resources.StatusActive, ExpiresAt: areatest.Start + 2*hour, CreatedAt: areatest.Start, UpdatedAt: areatest.Start,
				}
				if strings.HasPrefix(id, "old") {
					a.Status = resources.StatusInactive
				}
				a.ID = records.AssignmentID(a)
				if err := w.Collections.Assignments.Insert(ctx, tx, a); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var old, kept []string
	for i := range 2500 {
		old = append(old, fmt.Sprintf("old-%04d-v1", i))
	}
	for i := range 30 {
		kept = append(kept, fmt.Sprintf("kept-%02d-v1", i))
	}
	add(old...)
	add(kept...)
	for _, query := range []string{"role=team_member&status=ACTIVE&page_size=7", "expires_before=2030-01-31T12:00:00Z&status=ACTIVE&page_size=7"} {
		n := 0
		got, pages := w.assignedPages(query, func() {
			n++
			add(fmt.Sprintf("a%s-%02d-v1", query[:1], n), fmt.Sprintf("z%s-%02d-v1", query[:1], n))
		})
		if sorted := slices.Sorted(slices.Values(got)); len(slices.Compact(sorted)) != len(got) {
			t.Errorf("%s: something came twice: %q", query, got)
		}
		for _, id := range kept {
			if !slices.Contains(got, id+" team_member") {
				t.Errorf("%s: %s was skipped", query, id)
			}
		}
		if pages < 6 { // 2,500 records between two of them
			t.Errorf("%s: %d pages", query, pages)
		}
	}
}
