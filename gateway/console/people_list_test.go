package console_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestListsHavePages guarantees the link to the next page, and the query for the page.
func TestListsHavePages(t *testing.T) {
	s := newPeopleSite(t)
	for path, want := range map[string]struct{ link, call, query string }{
		"/people?q=t%26x":                        {`href="/people?q=t%26x&amp;page_token=next%26page"`, "/users", "page_size=50&q=t%26x"},
		"/people?page_token=n":                   {`href="/people?page_token=next%26page"`, "/users", "page_size=50&page_token=n"},
		"/people/user-bob-v1?page=2":             {`href="/people/user-bob-v1?page=2"`, "/roles/users/user-bob-v1", "page=2&pageSize=50"},
		"/groups":                                {`href="/groups?page_token=next%26page"`, "/groups", "page_size=50"},
		"/groups/group-x-v1?page_token=n":        {`href="/groups/group-x-v1?page_token=next%26page"`, "/groups/group-x-v1/members", "page_size=50&page_token=n"},
		"/roles?scope=PROJECT&page=1":            {`href="/roles?page=2&amp;scope=PROJECT"`, "/roles", "page=1&pageSize=50&scope=PROJECT"},
		"/roles/role-x-v1":                       {`href="/roles/role-x-v1?page=2"`, "/roles/role-x-v1/assignments", "pageSize=50"},
		"/platform":                              {`href="/platform?page_token=next%26page"`, "/projects", "page_size=50"},
		"/platform/proj-a-v1?page_token=n":       {`href="/platform/proj-a-v1?page_token=next%26page"`, "/projects/proj-a-v1/security-groups", "page_size=50&page_token=n"},
		"/platform/proj-a-v1/kubernetes":         {`href="/platform/proj-a-v1/kubernetes?page_token=next%26page"`, "/projects/proj-a-v1/kubernetes", "page_size=50"},
		"/platform/proj-a-v1/gpu-clusters?other": {`href="/platform/proj-a-v1/gpu-clusters?page_token=next%26page"`, "/projects/proj-a-v1/gpu-clusters", "page_size=50"},
	} {
		if body := s.send(admin, path, nil).Body.String(); !strings.Contains(body, want.link) {
			t.Errorf("%s: no %s", path, want.link)
		}
		if got := s.queries["GET "+api+want.call]; got != want.query {
			t.Errorf("%s: the query is %q, want %q", path, got, want.query)
		}
	}
}

// TestEmptyListsSayWhatToDo guarantees a sentence where a list is empty.
func TestEmptyListsSayWhatToDo(t *testing.T) {
	s := newPeopleSite(t)
	for path, want := range map[string][2]string{
		"/people?q=z":                      {"/users", "Nobody’s name, e-mail or id begins with this."},
		"/people/user-bob-v1":              {"/roles/users/user-bob-v1", "Assign one, with an end if it is for a while."},
		"/people/user-bob-v1/keys":         {"/users/user-bob-v1/keys", "People make their own keys"},
		"/people/" + admin + "/keys":       {"/users/" + admin + "/keys", "A key lets a program act as you"},
		"/groups":                          {"/groups", "Create the first one above."},
		"/roles":                           {"/roles", "Show all."},
		"/platform":                        {"/projects", "Create the first one above."},
		"/platform/proj-a-v1":              {"/projects/proj-a-v1/security-groups", "They are made with the API"},
		"/platform/proj-a-v1/kubernetes":   {"/projects/proj-a-v1/kubernetes", "Clusters are made with the API"},
		"/platform/proj-a-v1/gpu-clusters": {"/projects/proj-a-v1/gpu-clusters", "Clusters are made with the API"},
	} {
		s.answers["GET "+api+want[0]] = `{}`
		if body := s.send(admin, path, nil).Body.String(); !strings.Contains(body, want[1]) {
			t.Errorf("%s does not say %q", path, want[1])
		}
		delete(s.answers, "GET "+api+want[0])
	}
}

// TestASecretIsShownOnce guarantees a key's secret on the answer to its form, and on no other page. A form that is
// sent again makes no other key.
func TestASecretIsShownOnce(t *testing.T) {
	s := newPeopleSite(t)
	keys := "/people/" + admin + "/keys"
	w := s.send(admin, keys, fields("key_name=ci", "scopes=read", "once=abc"))
	if !strings.Contains(w.Body.String(), `value="the-raw-key"`) || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the key is not shown: %s", w.Body)
	}
	if got := s.headers["POST "+api+"/users/"+admin+"/keys"].Get("Idempotency-Key"); got != "abc" {
		t.Errorf("the form sends %q as its name", got)
	}
	for _, path := range []string{keys, "/people/" + admin} {
		if strings.Contains(s.send(admin, path, nil).Body.String(), "the-raw-key") {
			t.Errorf("%s shows the secret", path)
		}
	}
	s.refuse("POST "+api+"/users/"+admin+"/keys", 409, `{"success":false,"error":{"code":"USER_002","message":"This was done already.","details":""}}`)
	if w := s.send(admin, keys, fields("key_name=ci", "scopes=write", "once=abc")); w.Code != 409 || !strings.Contains(w.Body.String(), `value="write" checked`) {
		t.Errorf("again: %d %s", w.Code, w.Body)
	}
	if strings.Contains(s.send(admin, "/people/user-bob-v1/keys", nil).Body.String(), "<form method=\"post\" action=\"/people") {
		t.Error("an admin is offered a key of somebody else")
	}
}

// TestIdsOfAPathStayOneSegment guarantees that an id of an address reaches no other path of the API.
func TestIdsOfAPathStayOneSegment(t *testing.T) {
	s := newPeopleSite(t)
	odd := url.PathEscape("../x?y=1#z/ä")
	s.send(admin, "/people/"+odd+"/remove", url.Values{})
	if want := "DELETE " + api + "/users/" + odd; len(s.changes) != 1 || s.changes[0] != want {
		t.Errorf("the calls are %q, want %q", s.changes, want)
	}
	if w := s.send(admin, "/people/"+odd+"/invitation", url.Values{}); w.Header().Get("Location") != "/people/"+odd+"?done=invited" {
		t.Errorf("the form leads to %q", w.Header().Get("Location"))
	}
	for path, want := range map[string]int{"/platform/proj-a-v1/secrets": 404, "/platform/proj-a-v1/secrets/x/delete": 404} {
		if w := s.send(admin, path, nil); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// TestPatternsAreExpanded guarantees that a role's page has the actions of its patterns, and no others.
func TestPatternsAreExpanded(t *testing.T) {
	s := newPeopleSite(t)
	s.answers["GET /api/v1/actions"] = `{"actions":[{"action":"project:disk:read"},{"action":"project:disk:delete"},{"action":"account:disk:read"}]}`
	body := s.send(admin, "/roles/role-x-v1", nil).Body.String()
	if !strings.Contains(body, "<code>project:disk:read</code>") || strings.Contains(body, "disk:delete") || strings.Contains(body, "account:disk:read") {
		t.Error(body)
	}
}

// TestWhoMayNotListSeesTheRest guarantees that a page shows the refusal of its list, with its status. Everybody sees
// their own page.
func TestWhoMayNotListSeesTheRest(t *testing.T) {
	s := newPeopleSite(t)
	refusal := `{"error":{"code":"FORBIDDEN","message":"You may not list them."}}`
	for path, call := range map[string]string{
		"/people": "/users", "/people/user-bob-v1": "/roles/users/user-bob-v1", "/groups": "/groups", "/roles": "/roles", "/platform": "/projects",
		"/platform/proj-a-v1/kubernetes": "/projects/proj-a-v1/kubernetes", "/people/user-bob-v1/keys": "/users/user-bob-v1/keys",
	} {
		s.refuse("GET "+api+call, 403, refusal)
		w := s.send(reader, path, nil)
		if w.Code != 403 || !strings.Contains(w.Body.String(), "You may not list them.") || !strings.Contains(w.Body.String(), "<h1>") {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for key := range s.answers {
		if key != "GET "+api+"/users" {
			delete(s.answers, key)
		}
	}
	if w := s.send(reader, "/people/"+reader, nil); w.Code != 200 || !strings.Contains(w.Body.String(), "<bdi>Text</bdi>") {
		t.Errorf("one's own page: %d", w.Code)
	}
}

// TestAGroupWithManyRolesSaysWhyThereIsNoPreview guarantees the page and the deletion without one.
func TestAGroupWithManyRolesSaysWhyThereIsNoPreview(t *testing.T) {
	s := newPeopleSite(t)
	held := func(many int) {
		rows := strings.Repeat(`,{"roleId":"role-x-v1","assigneeId":"group-x-v1","assigneeType":"IAMGROUP"}`, many)
		s.answers["GET "+api+"/assignments"] = `{"assignments":[` + strings.TrimPrefix(rows, ",") + `]}`
	}
	for many, want := range map[int]string{0: "", 20: "Preview</button>", 21: "more than 20 roles, too many for a preview"} {
		held(many)
		w := s.send(admin, "/groups/group-x-v1/delete", nil)
		if page := w.Body.String(); w.Code != 200 || !strings.Contains(page, want) || strings.Contains(page, "Preview</button>") != (many == 20) {
			t.Errorf("%d roles: %d %s", many, w.Code, page)
		}
	}
	held(21)
	if w := s.send(admin, "/groups/group-x-v1/delete", fields("do=preview")); w.Code != 400 || len(s.changes) != 0 {
		t.Errorf("a preview without one: %d %v", w.Code, s.changes)
	}
	if w := s.send(admin, "/groups/group-x-v1/delete", fields("do=save")); w.Code != 303 || len(s.changes) != 1 {
		t.Errorf("%d %v", w.Code, s.changes)
	}
}

// TestMovingClustersAreAskedForAgain guarantees the list alone for the script, until a provisioner is done with all, and
// that it is not a use of the session.
func TestMovingClustersAreAskedForAgain(t *testing.T) {
	s := newPeopleSite(t)
	list := "GET " + api + "/projects/proj-a-v1/kubernetes"
	for status, moving := range map[string]bool{
		"CLUSTER_STATUS_PENDING": true, "CLUSTER_STATUS_PROVISIONING": true, "CLUSTER_STATUS_DELETING": true, "deleting": true,
		"CLUSTER_STATUS_RUNNING": false, "CLUSTER_STATUS_ERROR": false, "CLUSTER_STATUS_DELETED": false, "odd": false,
	} {
		s.answers[list] = `{"clusters":[{"base":{"cluster_id":"k-1","name":"<b>","status":"` + status + `"}}]}`
		for _, path := range []string{"/platform/proj-a-v1/kubernetes?page_token=a%26b", "/clusters/proj-a-v1/kubernetes?page_token=a%26b"} {
			w := s.send(admin, path, nil)
			page := w.Body.String()
			if w.Code != 200 || strings.Contains(page, `data-poll="/clusters/proj-a-v1/kubernetes?page_token=a%26b"`) != moving || !strings.Contains(page, "<bdi>&lt;b&gt;</bdi>") {
				t.Errorf("%s of %s: %d %s", path, status, w.Code, page)
			}
			if part := strings.HasPrefix(path, "/clusters"); strings.Contains(page, "<html") == part || !slices.Equal(s.used, []bool{!part}) {
				t.Errorf("%s: %v %s", path, s.used, page)
			}
		}
	}
	s.refuse(list, 403, `{"error":{"message":"You may not do this."}}`)
	for path, want := range map[string]int{"/clusters/proj-a-v1/kubernetes": 403, "/clusters/proj-a-v1/secrets": 404} {
		if w := s.send(admin, path, nil); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
