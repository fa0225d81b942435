package route_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestARowSaysWhereItsPlaceStands: the account and the project are those parameters, and the resource is behind them.
func TestARowSaysWhereItsPlaceStands(t *testing.T) {
	for _, c := range []struct {
		path, account, project, call string
		want                         resources.Target
	}{
		{"/v1/projects/{p}/{rest+}", "", "{p}", "/v1/projects/p-1/disks/d-1/x", resources.Target{ProjectID: "p-1", Rest: "disks/d-1/x", Resource: "disks/d-1"}},
		{"/v1/{tenant}/projects/{p}", "{tenant}", "{p}", "/v1/a-1/projects/p-1", resources.Target{AccountID: "a-1", ProjectID: "p-1"}},
		{"/{p}/of/{tenant}/x", "{tenant}", "{p}", "/p-1/of/a-1/x", resources.Target{AccountID: "a-1", ProjectID: "p-1", Rest: "x"}},
		{"/v2/accounts/{tenant}/{rest+}", "{tenant}", "", "/v2/accounts/a-1/x/y", resources.Target{AccountID: "a-1", Rest: "x/y", Resource: "x/y"}},
		{"/v1/{tenant}/projects", "{tenant}", "", "/v1/a-1/projects", resources.Target{AccountID: "a-1", Rest: "projects"}},
		{"/v1/{tenant:acct}/", "{tenant}", "", "/v1/acct-a-v1/", resources.Target{AccountID: "acct-a-v1"}},
		{"/v1/Projects/{p:proj}/{id}", "", "{p}", "/v1/Projects/proj-p-v1/i", resources.Target{ProjectID: "proj-p-v1", Rest: "i"}},
	} {
		r := resources.Route{Method: "GET", Host: "w.example", Path: c.path, Place: resources.RoutePlace{Account: c.account, Project: c.project}}
		row, err := route.NewRow(r)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		var table route.Table
		table.Insert(row)
		m := table.Find("w.example", "GET", c.call, nil)
		if m.Row == nil {
			t.Errorf("%s is no call of %s", c.call, c.path)
			continue
		}
		if got, problems := row.Read(c.call, m.Values); got != c.want || len(problems) > 0 {
			t.Errorf("%s: %+v %v, want %+v", c.path, got, problems, c.want)
		}
	}
}

// TestNoOtherPlaceIsNamed: a path that names an account or a project beside its row's place is refused.
func TestNoOtherPlaceIsNamed(t *testing.T) {
	row, err := route.NewRow(resources.Route{Host: "w.example", Path: "/{kind}/{p}/{rest+}", Place: resources.RoutePlace{Project: "{p}"}})
	if err != nil {
		t.Fatal(err)
	}
	for path, values := range map[string][]string{
		"/projects/p/x": {"projects", "p", "x"}, "/Accounts/p/x": {"Accounts", "p", "x"}, "/k/projects/x": {"k", "projects", "x"},
		"/k/p/projects/q": {"k", "p", "projects/q"}, "/k/p/x/ACCOUNTS": {"k", "p", "x/ACCOUNTS"}, "/k/p/account%C5%BF/q": {"k", "p", "account%C5%BF/q"},
		"/k/p/../x": {"k", "p", "../x"}, "/k/p:q/x": {"k", "p:q", "x"}, "/k/p/x/": {"k", "p", "x/"},
	} {
		if got, problems := row.Read(path, values); len(problems) == 0 || got != (resources.Target{}) {
			t.Errorf("%s is taken as %+v", path, got)
		}
	}
}

// TestAPlaceThatIsNotThereIsRefused, and one beside which the path names another.
func TestAPlaceThatIsNotThereIsRefused(t *testing.T) {
	const host = "w.example"
	for want, routes := range map[string][]resources.Route{
		"only a row with a host": {{Path: "/v1/{p}", Place: resources.RoutePlace{Project: "{p}"}}},
		"project must be a parameter": {
			{Host: host, Path: "/v1/{p}", Place: resources.RoutePlace{Project: "p"}},
			{Host: host, Path: "/v1/{p}", Place: resources.RoutePlace{Project: "{q}"}},
			{Host: host, Path: "/v1/{p:proj}", Place: resources.RoutePlace{Project: "{p:proj}"}},
			{Host: host, Path: "/v1/{rest+}", Place: resources.RoutePlace{Project: "{rest+}"}},
		},
		"account must be a parameter": {{Host: host, Path: "/v1/a/{p}", Place: resources.RoutePlace{Account: "a", Project: "{p}"}}},
		"two parameters":              {{Host: host, Path: "/v1/{p}", Place: resources.RoutePlace{Account: "{p}", Project: "{p}"}}},
		"must be the one of place": {
			{Host: host, Path: "/v1/projects/{p}/{q}", Place: resources.RoutePlace{Project: "{q}"}},
			{Host: host, Path: "/accounts/{a}/projects/{p}", Place: resources.RoutePlace{Project: "{p}"}},
			{Host: host, Path: "/{t}/projects/p-1/x", Place: resources.RoutePlace{Account: "{t}"}},
			{Host: host, Path: "/{t}/projects/{rest+}", Place: resources.RoutePlace{Account: "{t}"}},
			{Host: host, Path: "/projects/{t}", Place: resources.RoutePlace{Account: "{t}"}},
			{Host: host, Path: "/{t}/PROJECTS/{p}", Place: resources.RoutePlace{Account: "{t}"}},
		},
		"the project, whose ids": {{Host: host, Path: "/v1/{p:acct}", Place: resources.RoutePlace{Project: "{p}"}}},
		"the account, whose ids": {{Host: host, Path: "/v1/{a:proj}", Place: resources.RoutePlace{Account: "{a}"}}},
		"a . or .. segment":      {{Host: host, Path: "/v1/../{p}", Place: resources.RoutePlace{Project: "{p}"}}},
	} {
		for _, r := range routes {
			if _, err := route.NewRow(r); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s with %+v: %v, want %q", r.Path, r.Place, err, want)
			}
		}
	}
}

// TestASlashAtTheEndIsOfARowWithAHost: / and what ends with it are calls of such rows, and of no others.
func TestASlashAtTheEndIsOfARowWithAHost(t *testing.T) {
	for path, want := range map[string]resources.Target{"/": {}, "/x/": {Rest: "x"}, "/accounts/{a}/": {AccountID: "a-1"}, "/{id}/": {Rest: "a-1"}} {
		row, err := route.NewRow(resources.Route{Host: "w.example", Path: path})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		call := strings.NewReplacer("{a}", "a-1", "{id}", "a-1").Replace(path)
		if got, problems := row.Read(call, []string{"a-1"}[:min(1, len(row.Params))]); got != want || len(problems) > 0 {
			t.Errorf("%s: %+v %v, want %+v", path, got, problems, want)
		}
	}
	for _, path := range []string{"//", "/x//", "///", "/./", "/x/../"} {
		if _, err := route.NewRow(resources.Route{Host: "w.example", Path: path}); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
}
