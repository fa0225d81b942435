package console_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const profile = "GET " + account + "/users/user-ada-v1/profile"

// notAnswers are the failures of a call by a broken gateway or by a proxy before it.
func notAnswers() map[string]func(*http.Request) (*http.Response, error) {
	return map[string]func(*http.Request) (*http.Response, error){
		"no connection": func(*http.Request) (*http.Response, error) { return nil, errors.New("refused by 10.0.0.5") },
		"half an answer": func(*http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(`{"user":{"id":"user-ada-v1",`), iotest.ErrReader(errors.New("reset by 10.0.0.5")))
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
		},
		"a redirect": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {"http://10.0.0.5/"}}, Body: http.NoBody}, nil
		},
	}
}

// TestAGatewayWithoutAnAnswer guarantees a 503 with a remedy, and no menu before the gateway has let the user in. The
// session survives.
func TestAGatewayWithoutAnAnswer(t *testing.T) {
	for name, no := range notAnswers() {
		s := newSite(t, full(), "user-ada-v1")
		s.api.answers["POST /access/v1/evaluations"] = answer{200, `{"evaluations":[{"decision":true}]}`}
		s.api.instead = map[string]func(*http.Request) (*http.Response, error){profile: no}
		for _, path := range []string{"/", "/nowhere"} {
			w := s.get(path)
			shows(t, w, 503, "The gateway does not answer.", "Try again in a moment.")
			for _, part := range []string{"Ada", "Sign out", "10.0.0.5"} {
				if strings.Contains(w.Body.String(), part) {
					t.Errorf("%s: %s has %q", name, path, part)
				}
			}
			if w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s: %s ends the session", name, path)
			}
		}
		s.api.instead = map[string]func(*http.Request) (*http.Response, error){"GET " + account + "/users": no}
		shows(t, s.get("/people"), 503, "The gateway does not answer.", "Ada")
		s.api.instead = map[string]func(*http.Request) (*http.Response, error){"DELETE " + account + "/users/user-bob-v1": no}
		s.api.answers["GET "+account+"/users/user-bob-v1/profile"] = answer{200, `{"user":{"id":"user-bob-v1","name":"Bob"}}`}
		shows(t, s.post("/people/user-bob-v1/remove", url.Values{}), 503, "Check before you send it again")
		s.private.instead = map[string]func(*http.Request) (*http.Response, error){"GET /status": no}
		if name != "a redirect" { // the private listener treats it as any other status
			shows(t, s.get("/"), 503, "The gateway does not answer.")
		}
		s.private.instead = nil
		shows(t, s.get("/"), 200, "Ada")
	}
}

// TestTheAPIsRefusalAtTheDoor guarantees the API's status and message, without the menu, before the user is let in.
func TestTheAPIsRefusalAtTheDoor(t *testing.T) {
	s := newSite(t, full())
	s.api.answers[profile] = answer{503, `{"success":false,"error":{"code":"SERVICE_UNAVAILABLE","message":"The store gives no answer; try again."}}`}
	w := s.get("/")
	shows(t, w, 503, "The store gives no answer; try again.")
	if strings.Contains(w.Body.String(), "Sign out") || w.Header().Get("Set-Cookie") != "" || s.session.ended.Load() {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	for _, status := range []int{401, 403} {
		s := newSite(t, full())
		s.api.answers[profile] = answer{status, `{"error":"No."}`}
		if w := s.get("/"); !s.session.ended.Load() || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("%d: the session goes on", status)
		}
	}
}

// TestCallsOfThePageAreBounded guarantees an earlier deadline for API calls than for the page.
func TestCallsOfThePageAreBounded(t *testing.T) {
	s := newSite(t, full())
	bounded := false
	s.api.instead = map[string]func(*http.Request) (*http.Response, error){profile: func(r *http.Request) (*http.Response, error) {
		deadline, ok := r.Context().Deadline()
		bounded = ok && time.Until(deadline) < 30*time.Second
		return nil, errors.New("no")
	}}
	if shows(t, s.get("/"), 503); !bounded {
		t.Error("the call has no deadline")
	}
}
