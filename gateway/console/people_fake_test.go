package console_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/resources"
)

const (
	admin  = "user-ada-v1"
	reader = "user-rob-v1"
	api    = "/api/v1/accounts/acct-a-v1"
)

// fakeAPI answers reads with lists of one item, and changes of the admin with success. It refuses all changes of others.
type fakeAPI struct {
	mu sync.Mutex
	// text stands in every field of a user.
	text string
	// answers are bodies by "METHOD path", in place of the usual ones, and refusals statuses with bodies.
	answers  map[string]string
	refusals map[string]int
	// byQuery answers a call by more than its path; false is that it does not.
	byQuery func(*http.Request) (string, bool)
	// changes are the calls that change something, previews the bodies of previews.
	changes, previews []string
	queries           map[string]string
	headers           map[string]http.Header
}

// RoundTrip implements http.RoundTripper.
func (f *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	var raw []byte
	if r.Body != nil {
		raw, _ = io.ReadAll(r.Body)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := r.Method + " " + r.URL.EscapedPath()
	f.headers[key], f.queries[key] = r.Header, r.URL.RawQuery
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
	isAdmin := r.Header.Get("Authorization") == "Bearer token-"+admin
	switch {
	case r.URL.Path == "/access/v1/evaluations":
		return answer(200, f.evaluations(raw, isAdmin))
	case strings.HasSuffix(key, "/preview"):
		f.previews = append(f.previews, string(raw))
	case r.Method != http.MethodGet:
		line := key
		if r.URL.RawQuery != "" {
			line += "?" + r.URL.RawQuery
		}
		f.changes = append(f.changes, strings.TrimSpace(line+" "+string(raw)))
		if !isAdmin {
			return answer(403, `{"error":{"code":"FORBIDDEN","message":"You may not do this."}}`)
		}
	}
	if f.byQuery != nil {
		if body, ok := f.byQuery(r); ok {
			return answer(200, body)
		}
	}
	if body, ok := f.answers[key]; ok {
		return answer(max(200, f.refusals[key]), body)
	}
	return answer(200, f.everything(r.URL.Path))
}

// evaluations allows the admin everything, and others nothing.
func (f *fakeAPI) evaluations(raw []byte, allowed bool) string {
	var ask struct {
		Evaluations []json.RawMessage `json:"evaluations"`
	}
	_ = json.Unmarshal(raw, &ask)
	one := `{"decision":` + map[bool]string{true: "true", false: "false"}[allowed] + `}`
	return `{"evaluations":[` + strings.TrimSuffix(strings.Repeat(one+",", len(ask.Evaluations)), ",") + `]}`
}

// everything is a body with all members that a page reads: the text in each.
func (f *fakeAPI) everything(path string) string {
	text, _ := json.Marshal(f.text)
	id := `"id":"user-bob-v1","name":"T","email":"T","status":"ACTIVE","description":"T","created_at":"2026-01-02T03:04:05.000Z"`
	if strings.HasSuffix(path, "/profile") {
		id = `"id":"` + strings.Split(path, "/")[6] + `","name":"T","email":"T","status":"ACTIVE"`
	}
	role := `"id":"role-x-v1","name":"T","description":"T","scope":"PROJECT","status":"ACTIVE","isCustom":true,"createdBy":"T","permissions":["project:*:read","T"]`
	held := `{"roleId":"role-x-v1","projectId":"proj-a-v1","resourceId":"T","groupId":"","assigneeId":"user-bob-v1","assigneeType":"USER","status":"ACTIVE","expiresAt":"2030-01-02T03:04:05.000Z"}`
	rows := held
	if strings.HasSuffix(path, "/roles") {
		rows = `{` + role + `}`
	}
	body := `{` + role + `,"user":{` + id + `},"users":[{` + id + `}],"total":3,"total_count":3,"next_page_token":"next&page",
		"data":` + `[` + rows + `],"meta":{"total":3,"page":1,"totalPages":2},"assignments":[` + held + `],
		"group":{"id":"group-x-v1","name":"T","description":"T"},"groups":[{"id":"group-x-v1","name":"T","description":"T"}],"members":[{"user_id":"user-bob-v1"}],
		"agent":{"id":"agent-x-v1","name":"T","status":"ACTIVE","clients":[{"issuer":"T","client_id":"T"}]},"agents":[{"id":"agent-x-v1","name":"T","status":"ACTIVE","clients":[{"issuer":"T","client_id":"T"}]}],
		"delegation":{"user_id":"user-bob-v1","agent_id":"agent-x-v1","permissions":["T"],"project_id":"proj-a-v1"},"delegations":[{"user_id":"user-bob-v1","agent_id":"agent-x-v1","permissions":["T"],"project_id":"proj-a-v1"}],
		"projects":[{"id":"proj-a-v1","name":"T"}],"actions":[{"action":"project:security_group:read","description":"T"}],
		"security_group":{"id":"sg-x-v1","name":"T","description":"T","status":"active","rules":[{"direction":"ingress","protocol":"tcp","port_range_min":1,"port_range_max":2,"remote_ip_prefix":"T","description":"T"}]},
		"security_groups":[{"id":"sg-x-v1","name":"T","description":"T","status":"active"}],"clusters":[{"id":"k-1","name":"T","status":"T"}],
		"gains":[{"user":"user-bob-v1","action":"project:thing:gain","place":{"project_id":"proj-a-v1"}}],
		"loses":[{"user":"T","action":"project:thing:lose","place":{}}],"people":2,"complete":false,"account_revision":7}`
	if strings.HasSuffix(path, api+"/assignments") {
		body = strings.Replace(body, "next&page", "", 1)
	}
	if strings.HasSuffix(path, "/keys") {
		body = `{"data":{"id":"apikey-x-v1","key_name":"T","raw_key":"the-raw-key","scopes":["read"],
			"keys":[{"id":"apikey-x-v1","key_name":"T","masked_key":"pcl_sk_…abcd","scopes":["read"],"is_active":true,"created_at":"2026-01-02T03:04:05.000Z"}]}}`
	}
	return strings.ReplaceAll(body, `"T"`, string(text))
}

// fakeSessions has a session for each user, whose secret is the user's id. used are the uses since the last request.
type fakeSessions struct {
	console.Sessions
	used *[]bool
}

func (f fakeSessions) Session(_ context.Context, secret string, used bool) (*resources.ConsoleSession, error) {
	*f.used = append(*f.used, used)
	return &resources.ConsoleSession{UserID: secret, AccountID: "acct-a-v1", Token: "token-" + secret}, nil
}

// peopleSite is a console before a fake API.
type peopleSite struct {
	*testing.T
	*fakeAPI
	handler http.Handler
	used    []bool
}

func newPeopleSite(t *testing.T) *peopleSite {
	t.Helper()
	f := &fakeAPI{text: "Text", answers: map[string]string{}, refusals: map[string]int{}, queries: map[string]string{}, headers: map[string]http.Header{}}
	s := &peopleSite{T: t, fakeAPI: f}
	c, err := console.New(console.Config{
		URL: &url.URL{Scheme: "http", Host: "127.0.0.1:9003"}, API: f, Sessions: fakeSessions{used: &s.used}, IDs: resources.IDs{Now: time.Now, Random: rand.Reader},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.handler = c
	return s
}

// refuse makes the API refuse a call.
func (s *peopleSite) refuse(key string, status int, body string) {
	s.answers[key], s.refusals[key] = body, status
}

// send sends a request of a user; fields make it a form.
func (s *peopleSite) send(user, path string, fields url.Values) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9003"+path, nil)
	if fields != nil {
		r = httptest.NewRequest(http.MethodPost, "http://127.0.0.1:9003"+path, bytes.NewReader([]byte(fields.Encode())))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://127.0.0.1:9003")
	}
	r.AddCookie(&http.Cookie{Name: "portcullis", Value: user})
	w := httptest.NewRecorder()
	s.changes, s.previews, s.used = nil, nil, nil
	s.handler.ServeHTTP(w, r)
	return w
}

// fields reads "name=value" pairs.
func fields(pairs ...string) url.Values {
	out := url.Values{}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		out.Add(name, value)
	}
	return out
}
