package users_test

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
)

// person adds a member of an account with an address and a name.
func (w *usersWorld) person(account, id, email, name string) {
	w.AddUser(account, id, resources.StatusActive)
	w.ChangeUser(id, func(u *resources.User) { u.Email, u.Name = email, name })
}

// search returns the ids of all users that q finds, page by page, and how many pages there were.
func (w *usersWorld) search(q string, size int) (out []string, pages int) {
	w.T.Helper()
	for next := "first"; next != ""; pages++ {
		query := fmt.Sprintf("page_size=%d&q=%s", size, url.QueryEscape(q))
		if next != "first" {
			query += "&page_token=" + url.QueryEscape(next)
		}
		var ids []string
		ids, _, next = w.page(query)
		if len(ids) > size {
			w.T.Errorf("%d users on a page of %d", len(ids), size)
		}
		out = append(out, ids...)
	}
	return out, pages
}

// TestUsersAreFoundByTheBeginning guarantees the users, their order, and each once. Letters of pattern languages are
// letters.
func TestUsersAreFoundByTheBeginning(t *testing.T) {
	w := newWorld(t)
	w.person(acctA, "Sam-Ext", "zed@example.com", "Ann")
	w.person(acctA, "id-2", "SAM@example.com", "Samantha") // by two fields
	w.person(acctA, "id-3", "x3@example.com", "sam%ple")
	w.person(acctA, "id-4", "sa_m@example.com", "É Sam")
	w.person(acctA, "id-5", "s.am@example.com", "é sam")
	w.person(acctA, "id-6", "sXam@example.com", "İda \u212Aim")
	w.person(acctB, "sam-b", "samb@example.com", "Sam of B")
	w.person("", "sam-none", "samnone@example.com", "Sam of none")
	for q, want := range map[string][]string{
		"sam": {"id-2", "id-3", "Sam-Ext"}, "SAM": {"id-2", "id-3", "Sam-Ext"}, "sam-": {"Sam-Ext"}, "sam@example.com": {"id-2"},
		"s": {"id-5", "id-4", "id-2", "id-6", "id-3", "Sam-Ext"}, "sa_": {"id-4"}, "s.": {"id-5"}, "sam%": {"id-3"}, "%": nil, "_": nil, ".": nil, "*": nil,
		"sam%p": {"id-3"}, "am": nil, "É": {"id-4"}, "é": {"id-5"}, "É S": {"id-4"}, "i̇da": nil, "İDA": {"id-6"}, "İda k": nil, "İda \u212A": {"id-6"},
		"samb": nil, "id-9": nil, "id-": {"id-2", "id-3", "id-4", "id-5", "id-6"}, "' OR 1=1 --": nil, `\`: nil, "sam ": nil, "\U0010FFFF": nil,
	} {
		for _, size := range []int{1, 2, 100} {
			if got, _ := w.search(q, size); !slices.Equal(got, want) {
				t.Errorf("%q by %d: %q, want %q", q, size, got, want)
			}
		}
	}
	if ids, total, _ := w.page("q="); len(ids) != 8 || total != "8" {
		t.Errorf("without a text: %q of %s", ids, total)
	}
	w.ChangeUser("id-3", func(u *resources.User) { u.Name = "Tim" })
	if got, _ := w.search("sam", 10); !slices.Equal(got, []string{"id-2", "Sam-Ext"}) {
		t.Errorf("by the name of before: %q", got)
	}
}

func TestSearchesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	list := func(caller resources.Principal, account, query string) areatest.Answer {
		r := ask(caller, account, "", nil)
		r.Query = query
		return w.Ask("user.list", r)
	}
	for _, query := range []string{"q=" + strings.Repeat("a", 256), "q=%ff", "q=a%00", "q=a%0d%0ab", "q=a&q=b"} {
		w.Expect(list(areatest.As(acctA, bob), acctA, query), 400, "REQ_001", "q: ")
	}
	_, _, next := w.page("q=user&page_size=1")
	_, _, plain := w.page("page_size=1")
	for token, queries := range map[string][]string{next: {"q=use", "q=users", ""}, plain: {"q=user"}} {
		for _, query := range queries {
			w.Expect(list(areatest.As(acctA, bob), acctA, query+"&page_token="+url.QueryEscape(token)), 400, "page_token: ")
		}
	}
	w.Expect(list(areatest.As(acctB, bea), acctB, "q=user&page_token="+url.QueryEscape(next)), 400, "page_token: ")
	w.Expect(list(areatest.As(acctA, bob), acctA, "q=USER&page_token="+url.QueryEscape(next)), 200) // the same list
}

// TestSearchAmongManyReadsFew guarantees that a request reads a bounded number of users, also among matches of
// another field. Pages repeat and skip nobody while others come.
func TestSearchAmongManyReadsFew(t *testing.T) {
	const many = 1500
	w := newWorld(t)
	add := func(ids ...string) {
		w.Write(func(ctx context.Context, tx store.Tx) error {
			for _, id := range ids {
				u := resources.User{
					ExternalID: "many-" + id, UUID: "uuid-" + id, AccountID: acctA, Email: "many-" + id + "@example.com", Name: "Many " + id, Status: resources.StatusActive,
				}
				if err := w.Collections.Users.Insert(ctx, tx, u); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var ids, matches []string
	for i := range many {
		ids = append(ids, fmt.Sprintf("%04d", i))
	}
	add(ids...)
	pages, next := 0, "first"
	for ; next != ""; pages++ {
		query := "q=many&page_size=100"
		if next != "first" {
			query += "&page_token=" + url.QueryEscape(next)
		}
		var page []string
		page, _, next = w.page(query)
		matches = append(matches, page...)
		add(fmt.Sprintf("0000-%02d", pages), fmt.Sprintf("%04d-x%02d", pages*120, pages))
	}
	if sorted := slices.Sorted(slices.Values(matches)); len(slices.Compact(sorted)) != len(matches) {
		t.Errorf("somebody came twice among %d", len(matches))
	}
	for _, id := range ids {
		if !slices.Contains(matches, "many-"+id) {
			t.Errorf("%s was skipped", id)
		}
	}
	if pages < many/100+2*many/1100 { // names and ids match nobody who was not found
		t.Errorf("%d pages", pages)
	}
}
