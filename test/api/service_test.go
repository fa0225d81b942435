package api_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// standIn is a service of an operator's own: it keeps what arrives.
type standIn struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, r)
		w.Header().Set("X-Widgets", "1")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "widgets")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) arrived() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// TestServiceOfOnesOwnBehindTheGateway is the example of docs/integrate/own-service.md: what is allowed arrives
// with the gateway's identity headers, what is not never arrives.
func TestServiceOfOnesOwnBehindTheGateway(t *testing.T) {
	t.Parallel()
	policies := harness.PoliciesWithWidgets(t)
	widgets := newStandIn(t)
	a := harness.StartTeam(t, "--policy-dir", policies, "--upstream", "widgets="+widgets.URL)
	a.Grant(t, "project_reader", a.Bob, a.Project)
	path := a.Path("/projects/" + a.Project + "/widgets")

	r := harness.Call(t, "GET", path+"?colour=red", a.UserToken(t, a.Bob), "", "X-Request-ID", "req-widgets", "X-User-ID", a.Bob,
		"X-Account-ID", a.Account, "X-Forwarded-User", "mallory", "Cookie", "session=1")
	if r.Status != http.StatusTeapot || string(r.Raw) != "widgets" || r.Header.Get("X-Widgets") != "1" {
		t.Fatalf("%d %s %v", r.Status, r.Raw, r.Header)
	}
	got := widgets.arrived()[0]
	if got.RequestURI != strings.TrimPrefix(path, a.URL)+"?colour=red" {
		t.Errorf("arrived as %s", got.RequestURI)
	}
	for name, want := range map[string]string{
		"X-User-ID": a.Bob, "X-Account-ID": a.Account, "X-Action": "project:widget:read", "X-Principal-Kind": "user",
		"X-Request-ID": "req-widgets", "Authorization": "", "Cookie": "", "X-Forwarded-User": "",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s arrived as %q, want %q", name, got.Header.Get(name), want)
		}
	}
	checkPublished(t, a.Gateway, got)

	for name, c := range map[string]struct {
		method, path, token string
		want                int
	}{
		"nobody":          {"GET", path, "", 401},
		"no role":         {"GET", path, a.UserToken(t, a.Carol), 403},
		"another project": {"GET", a.Path("/projects/proj-other-v1/widgets"), a.UserToken(t, a.Bob), 403},
		"another account": {"GET", a.URL + "/api/v1/accounts/acct-other-v1/projects/" + a.Project + "/widgets", a.UserToken(t, a.Bob), 403},
		"another method":  {"POST", path, a.AdminToken, 405},
		"below it":        {"GET", path + "/1", a.AdminToken, 404},
		"beside it":       {"GET", path + "/../widgets", a.AdminToken, 404},
	} {
		if r := harness.Call(t, c.method, c.path, c.token, ""); r.Status != c.want {
			t.Errorf("%s: %d %s, want %d", name, r.Status, r.Raw, c.want)
		}
	}
	if n := len(widgets.arrived()); n != 1 {
		t.Errorf("%d calls arrived, want the allowed one", n)
	}
}

// checkPublished checks the assertion as a service of others' making would: with the keys
// that the health listener publishes, and a JWT library.
func checkPublished(t *testing.T, g *harness.Gateway, r *http.Request) {
	t.Helper()
	keys := harness.Call(t, "GET", g.HealthURL+"/assertions/jwks.json", "", "")
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer("portcullis-gateway"), jwt.WithAudience("widgets"), jwt.WithExpirationRequired())
	claims := jwt.MapClaims{}
	must.Get(parser.ParseWithClaims(r.Header.Get("X-Portcullis-Assertion"), claims, func(token *jwt.Token) (any, error) {
		return publicKey(t, keys, token.Header["kid"]), nil
	}))(t)
	target := sha256.Sum256([]byte(r.RequestURI))
	if claims["sub"] != r.Header.Get("X-User-ID") || claims["target_sha256"] != base64.RawURLEncoding.EncodeToString(target[:]) || claims["method"] != r.Method || claims["request_id"] != "req-widgets" {
		t.Errorf("%v", claims)
	}
}

// publicKey is that of the key set with the id.
func publicKey(t *testing.T, set harness.Reply, kid any) ed25519.PublicKey {
	t.Helper()
	keys, _ := set.Body["keys"].([]any)
	for _, key := range keys {
		if x, ok := harness.At(key, "x").(string); ok && harness.At(key, "kid") == kid {
			return must.Get(base64.RawURLEncoding.DecodeString(x))(t)
		}
	}
	t.Fatalf("no key %v in %s", kid, set.Raw)
	return nil
}
