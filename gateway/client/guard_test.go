package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/gateway/client/clienttest"
)

// byHeader takes a header for the user whom the service has authenticated.
func byHeader(r *http.Request) (string, error) {
	switch user := r.Header.Get("X-Test-User"); user {
	case "":
		return "", client.ErrNoUser
	case "broken":
		return "", errors.New("the session store is away")
	default:
		return user, nil
	}
}

// reached is a handler that counts.
type reached struct{ n int }

func (h *reached) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.n++
	if !client.DecisionOf(r.Context()).Allowed {
		w.WriteHeader(http.StatusTeapot)
	}
}

func TestGuardLetsInWhatIsAllowed(t *testing.T) {
	g := clienttest.New(t)
	g.Allow = func(e client.Evaluation) bool {
		return e.Subject.ID == "user-a-v1" && e.Resource.Type == client.TypeRoute && e.Resource.ID == "/widgets/a%20b" && e.Action.Name == "GET"
	}
	inside := &reached{}
	h := g.Client(t).Guard(client.ByCatalogue(byHeader), inside)
	for name, c := range map[string]struct {
		method, target, user string
		fail                 []int
		status               int
	}{
		"allowed":           {"GET", "/widgets/a%20b?x=1", "user-a-v1", nil, 200},
		"HEAD as GET":       {"HEAD", "/widgets/a%20b", "user-a-v1", nil, 200},
		"another user":      {"GET", "/widgets/a%20b", "user-b-v1", nil, 403},
		"another method":    {"DELETE", "/widgets/a%20b", "user-a-v1", nil, 403},
		"another path":      {"GET", "/widgets/../widgets/a%20b", "user-a-v1", nil, 403},
		"nobody":            {"GET", "/widgets/a%20b", "", nil, 401},
		"users unknown":     {"GET", "/widgets/a%20b", "broken", nil, 403},
		"gateway away":      {"GET", "/widgets/a%20b", "user-a-v1", []int{503, 503, 503}, 503},
		"gateway refuses":   {"GET", "/widgets/a%20b", "user-a-v1", []int{400}, 403},
		"no right to ask":   {"GET", "/widgets/a%20b", "user-a-v1", []int{403}, 503},
		"too many requests": {"GET", "/widgets/a%20b", "user-a-v1", []int{429}, 503},
		"absolute target":   {"GET", "http://h/widgets/a%20b", "user-a-v1", nil, 403},
	} {
		t.Run(name, func(t *testing.T) {
			g.Fail(c.fail...)
			before := inside.n
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.target, http.NoBody)
			if strings.HasPrefix(c.target, "/") {
				r.RequestURI = c.target
			}
			r.Header.Set("X-Test-User", c.user)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status || (inside.n > before) != (c.status == http.StatusOK) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if c.status != http.StatusOK && !strings.HasPrefix(w.Body.String(), `{"error":{"code":"`) {
				t.Errorf("body %s", w.Body)
			}
		})
	}
}

func TestGuardAsksForTheNamedAction(t *testing.T) {
	g := clienttest.New(t)
	g.Allow = func(e client.Evaluation) bool {
		return e.Resource.Type == client.TypePath && e.Resource.ID == "accounts/a" && e.Action.Name == "account:widget:read"
	}
	action := "account:widget:read"
	h := g.Client(t).Guard(client.ByAction(byHeader, func(*http.Request) (string, string, error) { return action, "accounts/a", nil }), &reached{})
	ask := func() int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody)
		r.Header.Set("X-Test-User", "user-a-v1")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if got := ask(); got != http.StatusOK {
		t.Error(got)
	}
	if action = "account:widget:delete"; ask() != http.StatusForbidden {
		t.Error("another action is let in")
	}
	if d := client.DecisionOf(t.Context()); d.Allowed {
		t.Error("a request that was not judged has a decision that allows")
	}
}

// TestAServiceAsksForTheRowsOfItsOwnName guarantees that the Host header is not part of the question, since a client
// chooses it.
func TestAServiceAsksForTheRowsOfItsOwnName(t *testing.T) {
	g := clienttest.New(t)
	var asked []any
	g.Allow = func(e client.Evaluation) bool {
		asked = append(asked, e.Resource.Properties["host"])
		return true
	}
	for _, ask := range []client.Ask{client.ByCatalogue(byHeader), client.ByCatalogueOf("widgets.example", byHeader)} {
		r := httptest.NewRequest(http.MethodGet, "/widgets", http.NoBody)
		r.Host = "another.example"
		r.Header.Set("X-Test-User", "user-a-v1")
		g.Client(t).Guard(ask, &reached{}).ServeHTTP(httptest.NewRecorder(), r)
	}
	if len(asked) != 2 || asked[0] != nil || asked[1] != "widgets.example" {
		t.Errorf("%v", asked)
	}
}
