package authzen_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

const account = "acct-a-v1"

// searched is a policy, its facts and a directory of users; each can be made to fail.
type searched struct {
	verdict.Tree
	users   []string
	allowed func(user string) bool
	// looks is how often the snapshot is taken for one Look, looked how often there was a Look.
	looks, looked int
	// behind is how many revisions a snapshot is behind what is known.
	behind int64
	// owed is what searches were charged beside one for each call.
	owed int
	// revision is the account's in the last answer.
	revision int64
	// last is the last result.
	last string
	// asked are the accounts and the resources that the app was asked about.
	asked []string
	// err is the error of the part that fails.
	access, decide, facts, holders, look error
	app                                  *resources.App
	// decided is how many questions were decided, failAfter how many of them without the error.
	decided, failAfter int
}

func (s *searched) Access(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true}, s.access
}

func (s *searched) Decide(_ context.Context, q resources.Question) (resources.Decision, error) {
	if s.decided++; s.decided <= s.failAfter {
		return resources.Decision{Allowed: s.allowed(q.Facts.Subject.UserID)}, nil
	}
	return resources.Decision{Allowed: s.allowed(q.Facts.Subject.UserID)}, s.decide
}

func (s *searched) App(kind string) (resources.App, bool) {
	if s.app == nil || !slices.Contains(s.app.Types, kind) {
		return resources.App{}, false
	}
	return *s.app, true
}

func (s *searched) DecideApp(_ context.Context, q resources.Question) (resources.AppDecision, error) {
	s.asked = append(s.asked, q.AccountID+" "+string(q.App.Resource))
	var e struct{ ID, Name string }
	part := map[string][]byte{"subject": q.App.Subject, "resource": q.App.Resource, "action": q.App.Action}[s.users[0]]
	err := json.Unmarshal(part, &e)
	return resources.AppDecision{Decision: resources.Decision{Allowed: s.allowed(e.ID + e.Name)}}, errors.Join(err, s.decide)
}

func (s *searched) Facts(_ context.Context, account, user, _ string) (resources.Facts, error) {
	return resources.Facts{Revision: 7, Subject: &resources.Subject{AccountID: account, UserID: user}}, s.facts
}

func (s *searched) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	for i, pair := range pairs {
		facts[i], _ = s.Facts(ctx, account, pair.UserID, pair.ProjectID)
		facts[i].Revision -= s.behind
	}
	return s.facts
}

func (s *searched) AccessByUser(string) bool { return true }

func (s *searched) Revision() string { return "rev-1" }

func (s *searched) ByRoles() bool { return true }

func (s *searched) Granting(resources.Action) []string { return nil }

func (s *searched) Actions() []string { return nil }

func (s *searched) Homes(_ context.Context, users []string) ([]string, error) {
	return make([]string, len(users)), nil
}

func (s *searched) Look(_ context.Context, _ string, fn func(authzen.Snapshot) error) error {
	s.looked++
	for range s.looks {
		if err := fn(s); err != nil {
			return err
		}
	}
	return s.look
}

// Owe implements doors.Rates.
func (s *searched) Owe(further int) { s.owed += further }

// Charge implements doors.Rates.
func (s *searched) Charge(int) error { return errors.New("a search is charged by what it judged") }

func (s *searched) Holders(_ context.Context, _ authzen.Grant, _ resources.Target, after string, limit int) ([]string, error) {
	start, ok := slices.BinarySearch(s.users, after)
	if ok {
		start++
	}
	return s.users[start:min(len(s.users), start+limit)], s.holders
}

func (s *searched) Stored(context.Context, authzen.Grant, string, string, string, authzen.Place, int) ([]authzen.Place, error) {
	return nil, s.holders
}

// ask makes one search by a service.
func (s *searched) ask(t *testing.T, wanted authzen.Wanted, body string) (results []string, next string, complete bool, err error) {
	t.Helper()
	tokens, err := wire.NewPageTokens([][]byte{make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	door := authzen.Search{
		Questions: authzen.Questions{Judge: &verdict.Judge{Pin: func() verdict.Tree { return s }, Facts: s, IDs: ids, Now: time.Now}},
		Of:        wanted, Directory: s, Tokens: tokens,
	}
	a, err := door.Answer(t.Context(), doors.Call{
		Caller: &resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}, Row: &route.Row{},
		Headers: jsonOnly{}, Rates: s, Body: []byte(body),
	})
	if err != nil {
		if a.Body != nil {
			t.Errorf("an error comes with %s", a.Body)
		}
		return nil, "", false, err
	}
	var out struct {
		Page struct {
			Next string `json:"next_token"`
		}
		Results []json.RawMessage
		Context struct {
			Complete bool
			Revision int64 `json:"account_revision"`
		}
	}
	must.Do(t, json.Unmarshal(a.Body, &out))
	s.revision = out.Context.Revision
	for _, raw := range out.Results {
		var r struct{ ID, Name string }
		must.Do(t, json.Unmarshal(raw, &r))
		results, s.last = append(results, r.ID+r.Name), string(raw)
	}
	return results, out.Page.Next, out.Context.Complete, nil
}

// jsonOnly are the headers of a call that says what its body is.
type jsonOnly struct{}

func (jsonOnly) Identity(string) (value, problem string) { return "", "" }

func (jsonOnly) Values(string) (values []string, odd bool) {
	return []string{"application/json"}, false
}

// TestAnAppHasNoAgent guarantees 400 for an agent in a question that an app decides: its answer can't be narrowed.
func TestAnAppHasNoAgent(t *testing.T) {
	const named = `"context":{"agent":"agent-a-v1"}`
	for wanted, body := range map[authzen.Wanted]string{
		authzen.Subjects:  `{"subject":{"type":"user"},"action":{"name":"read"},"resource":{"type":"doc","id":"1"},` + named + `}`,
		authzen.Resources: `{"subject":{"type":"user","id":"u"},"action":{"name":"read"},"resource":{"type":"doc"},` + named + `}`,
		authzen.Actions:   `{"subject":{"type":"user","id":"u"},"resource":{"type":"doc","id":"1"},` + named + `}`,
	} {
		s := &searched{users: []string{"subject"}, allowed: func(string) bool { return true }, looks: 1, app: &resources.App{Types: []string{"doc"}}}
		if _, _, _, err := s.ask(t, wanted, body); !resources.IsKind(err, resources.KindBadRequest) || s.decided > 0 {
			t.Errorf("%d: %v", wanted, err)
		}
	}
}

func numbered(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("u%05d", i))
	}
	return all
}

const whoReads = `{"subject":{"type":"user"},"action":{"name":"account:user:read"},"resource":{"type":"account","id":"` + account + `"}`

// TestSnapshotThatIsTakenAgainStartsAnew: what an attempt found that the store gave up is not in the page.
func TestSnapshotThatIsTakenAgainStartsAnew(t *testing.T) {
	s := &searched{users: numbered(5), allowed: func(string) bool { return true }, looks: 3}
	got, next, complete, err := s.ask(t, authzen.Subjects, whoReads+`}`)
	if err != nil || !slices.Equal(got, s.users) || next != "" || !complete {
		t.Errorf("%q %q %t, %v", got, next, complete, err)
	}
}

// TestPageOfFewAmongManyIsBounded: a page judges no more candidates than its bound, and the next one goes
// on from there.
func TestPageOfFewAmongManyIsBounded(t *testing.T) {
	s := &searched{users: numbered(10_000), allowed: func(user string) bool { return strings.HasSuffix(user, "999") }, looks: 1}
	var all []string
	for pages, token := 1, ""; ; pages++ {
		before := s.decided
		got, next, _, err := s.ask(t, authzen.Subjects, whoReads+fmt.Sprintf(`,"page":{"limit":50,"token":%q}}`, token))
		if err != nil {
			t.Fatal(err)
		}
		if n := s.decided - before; n > 4100 {
			t.Errorf("page %d judged %d candidates", pages, n)
		}
		all = append(all, got...)
		if token = next; token == "" {
			if pages < 3 || len(all) != 10 {
				t.Errorf("%d pages, %q", pages, all)
			}
			return
		}
	}
}

// TestSmallPageOfNobodyTakesFewReads: where few are allowed, the limit does not say how often the store is read.
func TestSmallPageOfNobodyTakesFewReads(t *testing.T) {
	s := &searched{users: numbered(10_000), allowed: func(string) bool { return false }, looks: 1}
	got, next, _, err := s.ask(t, authzen.Subjects, whoReads+`,"page":{"limit":1}}`)
	if err != nil || len(got) > 0 || next == "" || s.looked > 20 {
		t.Errorf("%q %q in %d reads of the store, %v", got, next, s.looked, err)
	}
}

// TestOldSnapshotIsNoAnswer guarantees that a page is at least as new as the verdict on the caller's right to search.
func TestOldSnapshotIsNoAnswer(t *testing.T) {
	s := &searched{users: numbered(5), allowed: func(string) bool { return true }, looks: 1, behind: 1}
	if got, _, _, err := s.ask(t, authzen.Subjects, whoReads+`}`); !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPageHasTheRevisionOfItsResults guarantees the revision of a page: its results were judged by it. The account
// changes behind the last candidate, and a look for further ones finds nobody.
func TestPageHasTheRevisionOfItsResults(t *testing.T) {
	s := &searched{users: numbered(2), looks: 1}
	s.allowed = func(user string) bool {
		s.behind = -1 // the next snapshot is newer
		return user == "u00000"
	}
	got, next, _, err := s.ask(t, authzen.Subjects, whoReads+`,"page":{"limit":1}}`)
	if err != nil || !slices.Equal(got, s.users[:1]) || s.revision != 7 {
		t.Fatalf("%q at revision %d, %v", got, s.revision, err)
	}
	got, next, _, err = s.ask(t, authzen.Subjects, whoReads+`,"page":{"limit":1,"token":"`+next+`"}}`)
	if err != nil || len(got) > 0 || next != "" || s.revision != 8 {
		t.Errorf("%q %q at revision %d, %v", got, next, s.revision, err)
	}
}

// TestSearchIsChargedByWhatItJudged guarantees the price of one for each hundred candidates, also beside an error, and
// for any limit.
func TestSearchIsChargedByWhatItJudged(t *testing.T) {
	for _, c := range []struct{ users, limit, want int }{{0, 1000, 0}, {1, 1000, 0}, {100, 1000, 0}, {101, 1000, 1}, {250, 100, 0}, {1000, 1000, 9}} {
		s := &searched{users: numbered(c.users), allowed: func(string) bool { return true }, looks: 1}
		if _, _, _, err := s.ask(t, authzen.Subjects, whoReads+fmt.Sprintf(`,"page":{"limit":%d}}`, c.limit)); err != nil || s.owed != c.want {
			t.Errorf("%d users, limit %d: %d, %v", c.users, c.limit, s.owed, err)
		}
	}
	s := &searched{users: numbered(10_000), allowed: func(string) bool { return false }, looks: 1}
	if _, _, _, err := s.ask(t, authzen.Subjects, whoReads+`,"page":{"limit":1}}`); err != nil || s.owed != s.decided/100-1 {
		t.Errorf("nobody among %d: %d, %v", s.decided, s.owed, err)
	}
	s = &searched{users: numbered(500), allowed: func(string) bool { return false }, looks: 1, failAfter: 300, decide: errors.New("broken")}
	if _, _, _, err := s.ask(t, authzen.Subjects, whoReads+`,"page":{"limit":1000}}`); err == nil || s.owed != 2 {
		t.Errorf("an error after 300: %d, %v", s.owed, err)
	}
}

// TestLimitOfAFurtherPage guarantees that a further page without a limit has the first one's. Another limit is a 400.
func TestLimitOfAFurtherPage(t *testing.T) {
	s := &searched{users: numbered(300), allowed: func(string) bool { return true }, looks: 1}
	for _, c := range []struct {
		first, further string
		want           int // 0 is a 400
	}{
		{`"limit":2,`, ``, 2},
		{`"limit":2,`, `"limit":2,`, 2},
		{`"limit":2,`, `"limit":3,`, 0},
		{`"limit":2,`, `"limit":100,`, 0},
		{``, ``, 100},
		{``, `"limit":100,`, 100},
		{``, `"limit":2,`, 0},
	} {
		page := func(limit, token string) ([]string, string, error) {
			got, next, _, err := s.ask(t, authzen.Subjects, whoReads+`,"page":{`+limit+`"token":"`+token+`"}}`)
			return got, next, err
		}
		first, next, err := page(c.first, "")
		if err != nil || next == "" {
			t.Fatalf("%+v: %d, %q, %v", c, len(first), next, err)
		}
		got, _, err := page(c.further, next)
		if c.want == 0 {
			if !resources.IsKind(err, resources.KindBadRequest) || !strings.HasPrefix(resources.AsError(err).Problems[0].String(), "page.limit: ") {
				t.Errorf("%+v: %d, %v", c, len(got), err)
			}
		} else if err != nil || !slices.Equal(got, s.users[c.want:2*c.want]) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// TestNoErrorIsAResult guarantees that any failure gives no answer, and no 500 either.
func TestNoErrorIsAResult(t *testing.T) {
	for name, fail := range map[string]func(*searched, error){
		"access": func(s *searched, err error) { s.access = err }, "decide": func(s *searched, err error) { s.decide = err },
		"facts": func(s *searched, err error) { s.facts = err }, "holders": func(s *searched, err error) { s.holders = err },
		"look": func(s *searched, err error) { s.look = err },
	} {
		s := &searched{users: numbered(5), allowed: func(string) bool { return true }, looks: 1}
		fail(s, errors.New("broken"))
		if _, _, _, err := s.ask(t, authzen.Subjects, whoReads+`}`); !resources.IsKind(err, resources.KindUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAppIsSearchedByWhatItLists: each listed entity of the type once, in pages, and nothing where the app
// lists nothing.
func TestAppIsSearchedByWhatItLists(t *testing.T) {
	entities := []resources.Entity{{Type: "record", ID: "b"}, {Type: "other", ID: "a"}, {Type: "record", ID: "a"}, {Type: "record", ID: "c"}, {Type: "record", ID: "no"}}
	listing := &resources.App{Types: []string{"record", "other"}, Subjects: entities, Resources: entities, Actions: []string{"b", "c", "a", "no"}}
	mute := &resources.App{Types: listing.Types}
	for wanted, body := range map[authzen.Wanted]string{
		authzen.Subjects:  `{"subject":{"type":"record"},"action":{"name":"view"},"resource":{"type":"other","id":"1"}`,
		authzen.Resources: `{"subject":{"type":"user","id":"u"},"action":{"name":"view"},"resource":{"type":"record"}`,
		authzen.Actions:   `{"subject":{"type":"user","id":"u"},"resource":{"type":"record","id":"1"}`,
	} {
		part := map[authzen.Wanted]string{authzen.Subjects: "subject", authzen.Resources: "resource", authzen.Actions: "action"}[wanted]
		s := &searched{users: []string{part}, allowed: func(id string) bool { return id != "no" }, app: listing}
		first, next, complete, err := s.ask(t, wanted, body+`,"page":{"limit":2}}`)
		if err != nil || !slices.Equal(first, []string{"a", "b"}) || next == "" || !complete {
			t.Fatalf("%s: %q %q %t, %v", part, first, next, complete, err)
		}
		last, next, _, err := s.ask(t, wanted, body+`,"page":{"limit":2,"token":"`+next+`"}}`)
		if err != nil || !slices.Equal(last, []string{"c"}) || next != "" {
			t.Errorf("%s: %q %q, %v", part, last, next, err)
		}
		s.app = mute
		if got, next, complete, err := s.ask(t, wanted, body+`}`); err != nil || len(got) > 0 || next != "" || complete {
			t.Errorf("%s: %q %q %t, %v", part, got, next, complete, err)
		}
	}
}

// TestWhatASearchFindsIsIgnored guarantees that a search reads no id of the sought entity and no sought action (8.4 and 8.5).
func TestWhatASearchFindsIsIgnored(t *testing.T) {
	listing := &resources.App{Types: []string{"record"}, Resources: []resources.Entity{{Type: "record", ID: "a"}}, Actions: []string{"a"}}
	listing.Subjects = listing.Resources
	for _, id := range []string{`"x"`, `""`, `7`, `null`, `{"id":""}`} {
		for wanted, body := range map[authzen.Wanted]string{
			authzen.Subjects:  `{"subject":{"type":"record","id":` + id + `},"action":{"name":"view"},"resource":{"type":"record","id":"1"}}`,
			authzen.Resources: `{"subject":{"type":"user","id":"u"},"action":{"name":"view"},"resource":{"type":"record","id":` + id + `}}`,
			authzen.Actions:   `{"subject":{"type":"user","id":"u"},"action":{"name":` + id + `},"resource":{"type":"record","id":"1"}}`,
		} {
			s := &searched{users: []string{"subject"}, allowed: func(string) bool { return true }, app: listing}
			if got, _, _, err := s.ask(t, wanted, body); err != nil || !slices.Equal(got, []string{"a"}) {
				t.Errorf("%s: %q, %v", body, got, err)
			}
		}
	}
}

// TestAppIsSearchedInTheNamedAccount guarantees that a search for an app's resources asks about the account of
// resource.properties. Its results name the account, too. Without one it is the subject's own.
func TestAppIsSearchedInTheNamedAccount(t *testing.T) {
	for properties, want := range map[string]string{
		``: ` {"type":"record","id":"a"}`,
		`,"properties":{"account_id":"` + account + `","size":1}`: account + ` {"type":"record","id":"a","properties":{"account_id":"` + account + `"}}`,
	} {
		s := &searched{users: []string{"resource"}, allowed: func(string) bool { return true }}
		s.app = &resources.App{Types: []string{"record"}, Resources: []resources.Entity{{Type: "record", ID: "a"}}}
		got, _, _, err := s.ask(t, authzen.Resources, `{"subject":{"type":"user","id":"u"},"action":{"name":"view"},"resource":{"type":"record"`+properties+`}}`)
		if err != nil || !slices.Equal(got, []string{"a"}) || !slices.Equal(s.asked, []string{want}) || !strings.HasSuffix(want, s.last) {
			t.Errorf("%s: %q by %q, %v", properties, s.last, s.asked, err)
		}
	}
}
