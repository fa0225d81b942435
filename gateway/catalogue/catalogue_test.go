package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

func rows() []resources.Route {
	row := func(name, method, host, path, action string) resources.Route {
		return resources.Route{Name: name, Method: method, Host: host, Path: path, Action: action, Effect: "read", Upstream: "external"}
	}
	all := []resources.Route{
		row("read", "GET", "", "/accounts/{accountId}/projects/{projectId:proj}/{rest+}", "project:widget:read"),
		row("settings", "*", "", "/accounts/{accountId}/projects/{projectId}", "account:project:read"),
		row("own", "GET", "w.example", "/own/{userId}", "project:widget:read"),
		row("open", "GET", "", "/open", ""),
		row("list", "GET", "", "/accounts", "account:account:read"),
	}
	all[3].Access = []string{"public"}
	all = append(all, resources.Route{Name: "docs", Spec: "N13", Method: "GET", Path: "/docs", Access: []string{"public"}, Upstream: "apidoc"},
		resources.Route{Name: "well-known", Method: "GET", Path: "/.well-known/x", Access: []string{"public"}, Upstream: resources.UpstreamAuthorize})
	all[0].Audience = "widgets"
	return all
}

const place = "/accounts/acct-b-v1/projects/proj-b-v1"

func index(t *testing.T) *catalogue.Index {
	t.Helper()
	return must.Get(catalogue.New(rows()))(t)
}

// TestACallIsFoundAsTheEdgeWouldJudgeIt: the row, the account in question and the place.
func TestACallIsFoundAsTheEdgeWouldJudgeIt(t *testing.T) {
	x := index(t)
	for _, c := range []struct{ host, method, path, row, account, target string }{
		{"", "GET", place + "/x/y/z", "read", "acct-b-v1", "acct-b-v1 proj-b-v1 x/y  "},
		{"", "HEAD", place + "/x", "read", "acct-b-v1", "acct-b-v1 proj-b-v1   "},
		{"", "PATCH", place, "settings", "acct-b-v1", "acct-b-v1    proj-b-v1"}, // an account action is judged in the account
		{"w.example", "GET", "/own/user-c-v1", "own", "acct-own-v1", "  own/user-c-v1 user-c-v1 "},
		{"", "GET", "/accounts", "list", "acct-own-v1", "    "},
	} {
		m, err := x.Find(catalogue.Call{Host: c.host, Method: c.method, Path: c.path})
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		q := m.Question("acct-own-v1", m.Place, m.Values)
		target := strings.Join([]string{q.Target.AccountID, q.Target.ProjectID, q.Target.Resource, q.Target.UserID, q.Through}, " ")
		if m.Route.Name != c.row || q.Route != &m.Route || q.Action != m.Action || q.AccountID != c.account || target != c.target {
			t.Errorf("%s %s: %s in %s at %q, want %s in %s at %q", c.method, c.path, m.Route.Name, q.AccountID, target, c.row, c.account, c.target)
		}
	}
	for _, c := range []struct {
		host, method, path string
		want               resources.Kind
	}{
		{"", "POST", place + "/x", resources.KindNotFound},
		{"", "OPTIONS", "/open", resources.KindNotFound},
		{"other.example", "GET", "/own/user-c-v1", resources.KindNotFound},
		{"", "GET", "/own/user-c-v1", resources.KindNotFound},
		{"", "GET", "/accounts/acct-b-v1/projects/widget/x", resources.KindBadRequest},
		{"", "GET", place + "/projects/x", resources.KindBadRequest},
		{"", "GET", place + "/", resources.KindNotFound},
		{"", "GET", place + "/x/", resources.KindBadRequest},
		{"", "get", "/open", resources.KindBadRequest},
		{"", "", "/open", resources.KindBadRequest},
		{"", "GET", "open", resources.KindBadRequest},
		{"", "GET", "", resources.KindBadRequest},
		{"", "GET", "/", resources.KindNotFound},
		{"", "GET", "/open?x", resources.KindNotFound},
		{"", "GET", "/%2e/open", resources.KindNotFound},
		{"", "GET", place + "/%2e%2e", resources.KindBadRequest},
	} {
		call := catalogue.Call{Host: c.host, Method: c.method, Path: c.path}
		if m, err := x.Find(call); !resources.IsKind(err, c.want) || m.Row != nil || x.Public(call) {
			t.Errorf("%s %s: %+v, %v", c.method, c.path, m, err)
		}
	}
	if m, err := (*catalogue.Index)(nil).Find(catalogue.Call{Method: "GET", Path: "/open"}); !resources.IsKind(err, resources.KindNotFound) || m.Row != nil {
		t.Errorf("without rows: %v", err)
	}
}

// TestWhatIsOpenToAnybodyIsToldFromTheRest. The gateway's own public rows are for no host with rows of its own.
func TestWhatIsOpenToAnybodyIsToldFromTheRest(t *testing.T) {
	x := index(t)
	if !x.Public(catalogue.Call{Method: "GET", Path: "/open"}) || x.Public(catalogue.Call{Method: "GET", Path: place + "/x"}) {
		t.Error("what is public is not told from what is not")
	}
	for _, path := range []string{"/docs", "/.well-known/x"} {
		for host, open := range map[string]bool{"": true, "other.example": true, "w.example": false} {
			if got := x.Public(catalogue.Call{Host: host, Method: "GET", Path: path}); got != open {
				t.Errorf("%s on %q is open: %v", path, host, got)
			}
		}
	}
	if !x.Public(catalogue.Call{Host: "w.example", Method: "GET", Path: "/open"}) {
		t.Error("an open row of an operator is not for every host")
	}
}

// TestRowsForProxiesAreNotServed, nor do they keep a call from a row that is served, or a host from the gateway's own pages.
func TestRowsForProxiesAreNotServed(t *testing.T) {
	x := must.Get(catalogue.New(append(rows(), resources.Route{Name: "wide", Method: "GET", Path: "/{rest+}", Upstream: "mine"})))(t)
	for path, want := range map[string]string{"/own/user-c-v1": "wide", "/open": "wide", "/docs": "docs"} {
		if m := x.Served("w.example", "GET", path, nil); m.Row == nil || m.Route.Name != want {
			t.Errorf("%s: %+v, want %s", path, m.Row, want)
		}
	}
	if x.ByHost() {
		t.Error("a row for a proxy has the edge look at hosts")
	}
	if m, err := x.Find(catalogue.Call{Host: "w.example", Method: "GET", Path: "/own/user-c-v1"}); err != nil || m.Route.Name != "own" {
		t.Errorf("%+v, %v", m.Row, err)
	}
}

// TestRowsThatNoCallCouldHaveAreRefused, each by its name, all at once.
func TestRowsThatNoCallCouldHaveAreRefused(t *testing.T) {
	bad := []resources.Route{
		{Name: "a place twice", Method: "GET", Path: "/open"},
		{Name: "a path", Method: "GET", Path: "/{rest+}/x"},
		{Name: "an action", Method: "GET", Path: "/x", Action: "read"},
		{Name: "a form of no ids", Method: "GET", Path: "/{id:sgx}"},
		{Name: "a literal account", Method: "GET", Path: "/accounts/acct-a-v1/report"},
	}
	_, err := catalogue.New(append(rows(), bad...))
	for _, r := range bad {
		if err == nil || !strings.Contains(err.Error(), "route "+r.Name+" (GET ") {
			t.Errorf("%s was taken: %v", r.Name, err)
		}
	}
}

// TestACallWhoseActionIsNamedNeedsNoRow: the proxy's configuration names the action, and the path the place, by the same rules.
func TestACallWhoseActionIsNamedNeedsNoRow(t *testing.T) {
	action := must.Get(resources.ParseAction("account:report:read"))(t)
	m, err := catalogue.Call{Method: "GET", Path: place + "/x"}.Unlisted(action)
	if q := m.Question("acct-own-v1", m.Place, m.Values); err != nil || m.Public || q.Route.Name != resources.RouteNamed || q.Action != action || q.AccountID != "acct-b-v1" || q.Through != "proj-b-v1" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, c := range []catalogue.Call{{Method: "get", Path: "/x"}, {Method: "GET", Path: "x"}, {Method: "GET", Path: "/x//y"}, {Method: "GET", Path: "/x/accounts/y"}} {
		if m, err := c.Unlisted(action); !resources.IsKind(err, resources.KindBadRequest) || m.Row != nil {
			t.Errorf("%+v: %+v, %v", c, m, err)
		}
	}
}

// TestUserInQuestionIsOneOfThePath guarantees that a path with both names is about {userId}, never about a user with
// both names joined.
func TestUserInQuestionIsOneOfThePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/x/{a}": "", "/x/{userId}": "1", "/x/{user_id}": "1", "/x/{userId}/{user_id}": "1", "/x/{user_id}/{userId}": "2"} {
		row := must.Get(route.NewRow(resources.Route{Path: path}))(t)
		if got := row.Question("", resources.Target{}, []string{"1", "2"}).Target.UserID; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestHiddenRowsAreNamed guarantees that the hosts without the gateway's public pages are named, and those pages. A row
// for proxies alone hides none, and no row that is not public is hidden.
func TestHiddenRowsAreNamed(t *testing.T) {
	served := resources.Route{Name: "bill", Method: "GET", Host: "Bill.example", Path: "/bills", Action: "project:bill:read", Effect: "read", Upstream: "bills"}
	kept := resources.Route{Name: "kept", Spec: "N13", Method: "GET", Path: "/kept", Upstream: "apidoc"}
	x := must.Get(catalogue.New(append(rows(), served, kept)))(t)
	hosts, pages := x.Hidden()
	if !slices.Equal(hosts, []string{"bill.example"}) || !slices.Equal(pages, []string{"docs", "well-known"}) {
		t.Errorf("%q do not have %q", hosts, pages)
	}
	if m := x.Served("bill.example", "GET", "/docs", nil); m.Row != nil {
		t.Errorf("%s is served", m.Route.Name)
	}
	if m := x.Served("bill.example", "GET", "/kept", nil); m.Row == nil {
		t.Error("a host with rows of its own hides a row that is not public")
	}
	if m := x.Served("w.example", "GET", "/docs", nil); m.Row == nil {
		t.Error("a row for a proxy hides a page")
	}
	if hosts, _ := index(t).Hidden(); len(hosts) > 0 {
		t.Errorf("%q have rows for proxies alone", hosts)
	}
}
