package firewall_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/firewall"
)

// pages reads a list page by page and gives the names in it.
func (w *firewallWorld) pages(query string, total int) []string {
	w.T.Helper()
	var all []string
	for token := ""; ; {
		got := w.Expect(w.call("security_group.list?"+query+"&page_token="+token, nil), 200)
		if fmt.Sprint(got.Body["total_count"]) != fmt.Sprint(total) || len(got.Body) != 4 || got.Body["message"] == "" {
			w.T.Errorf("%s", got.Text)
		}
		all = append(all, names(got)...)
		if token, _ = got.Body["next_page_token"].(string); token == "" {
			return all
		}
	}
}

// TestGroupsAreListedNewestFirst, page by page, each once, also of one millisecond.
func TestGroupsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.Expect(w.call("security_group.list", nil), 200, `"security_groups":[]`, `"next_page_token":""`); fmt.Sprint(got.Body["total_count"]) != "0" {
		t.Errorf("%s", got.Text)
	}
	for i := range 7 {
		w.made(fmt.Sprint("g", i))
		w.Clock.Add(1)
	}
	want := []string{"g6", "g5", "g4", "g3", "g2", "g1", "g0"}
	for _, query := range []string{"page_size=1", "page_size=3", "page_size=7", "page_size=100", "", "status=active&page_size=2"} {
		if got := w.pages(query, 7); !slices.Equal(got, want) {
			t.Errorf("%s: %v", query, got)
		}
	}
	for _, name := range []string{"g1", "g5", "g3"} {
		for _, g := range w.call("security_group.list", nil).Body["security_groups"].([]any) {
			if g := g.(map[string]any); g["name"] == name {
				w.Expect(w.call("security_group.delete", nil, g["id"].(string)), 200)
			}
		}
	}
	if got := w.pages("page_size=2", 4); strings.Join(got, " ") != "g6 g4 g2 g0" {
		t.Errorf("%v", got)
	}
	if got := w.pages("page_size=2&status=deleted", 3); strings.Join(got, " ") != "g5 g3 g1" {
		t.Errorf("%v", got)
	}
	for i := range 5 {
		w.inProject(acctA, projX).made(fmt.Sprint("same", i))
	}
	got := w.inProject(acctA, projX).pages("page_size=2", 5)
	if slices.Sort(got); strings.Join(got, " ") != "same0 same1 same2 same3 same4" {
		t.Errorf("%v", got)
	}
}

// TestDefaultPageHolds50 groups.
func TestDefaultPageHolds50(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 51 {
		w.made(fmt.Sprint("g", i))
	}
	if got := w.Expect(w.call("security_group.list", nil), 200); len(names(got)) != 50 || got.Body["next_page_token"] == "" {
		t.Errorf("%d groups", len(names(got)))
	}
}

// TestWrongQueryIsRefused, and a page token that is not this list's.
func TestWrongQueryIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		w.made(fmt.Sprint("g", i))
		w.inProject(acctA, projX).made(fmt.Sprint("g", i))
		w.inProject(acctB, projA).made(fmt.Sprint("g", i))
		w.Clock.Add(1)
	}
	token := w.call("security_group.list?page_size=1", nil).Body["next_page_token"].(string)
	active := w.call("security_group.list?page_size=1&status=active", nil).Body["next_page_token"].(string)
	for query, wrong := range map[string]string{
		"page_size=0": "page_size", "page_size=101": "page_size", "page_size=-1": "page_size", "page_size=": "page_size", "page_size=1e1": "page_size", "page_size=01": "page_size",
		"page_size=1&page_size=2": "page_size", "status=ACTIVE": "status", "status=": "status", "status=gone": "status", "status=active,deleted": "status", "status[$ne]=x": "status[$ne]",
		"pageSize=1": "pageSize", "name=web": "name", "page_size=0&status=x&y=1": "page_size status y", "%zz": "query",
		"page_token=x": "page_token", "page_token=" + token[:len(token)-2]: "page_token", "page_token=" + token + "A": "page_token", "page_token=" + url.QueryEscape(token+"="): "page_token",
		"page_token=" + active: "page_token", "status=active&page_token=" + token: "page_token", "status=deleted&page_token=" + token: "page_token",
		"page_token=" + strings.Repeat("A", 5000): "page_token",
	} {
		w.refused(w.call("security_group.list?"+query, nil), strings.Fields(wrong)...)
	}
	for _, other := range []*firewallWorld{w.inProject(acctA, projX), w.inProject(acctB, projA), w.inProject(acctA, "proj-absent-v1")} {
		w.refused(other.call("security_group.list?page_token="+token, nil), "page_token")
	}
	for _, size := range []string{"1", "100"} { // a token is bound to the list and not to the size of a page
		w.Expect(w.call("security_group.list?page_size="+size+"&page_token="+token, nil), 200, `"g1"`)
	}
}

// TestDeletedGroupsAreForgotten guarantees that a project keeps the last deleted ones only: making
// and deleting groups can't fill the store.
func TestDeletedGroupsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inProject(acctA, projX).deleted("elsewhere")
	for i := range firewall.MaxDeleted {
		w.deleted(fmt.Sprint("g", i))
	}
	total := func(world *firewallWorld, want int) {
		t.Helper()
		if got := world.call("security_group.list?status=deleted&page_size=1", nil).Body["total_count"]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v are kept, want %d", got, want)
		}
	}
	total(w, firewall.MaxDeleted)
	for i := range 3 {
		w.deleted(fmt.Sprint("more", i))
	}
	total(w, firewall.MaxDeleted)
	total(w.inProject(acctA, projX), 1)
	all := w.pages("status=deleted&page_size=100", firewall.MaxDeleted)
	if all[0] != "more2" || all[len(all)-1] != "g3" {
		t.Errorf("from %s to %s", all[0], all[len(all)-1])
	}
}

// deleted makes a group and deletes it.
func (w *firewallWorld) deleted(name string) {
	w.T.Helper()
	id, _ := w.made(name)
	w.Clock.Add(1)
	w.Expect(w.call("security_group.delete", nil, id), 200)
}
