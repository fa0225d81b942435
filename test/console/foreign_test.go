package console_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const foreignPassword = "a user of the tests"

// foreignUsers are the users of a provider: the admin of the account that the gateway starts with.
type foreignUsers struct{}

var _ storage.UserStore = foreignUsers{}

func (foreignUsers) GetUserByID(id string) *storage.User {
	if id != harness.OutsideAdmin {
		return nil
	}
	return &storage.User{ID: id, Username: "admin", Password: foreignPassword, Email: "admin@example.com", EmailVerified: true}
}

func (u foreignUsers) GetUserByUsername(name string) *storage.User {
	if user := u.GetUserByID(harness.OutsideAdmin); user.Username == name {
		return user
	}
	return nil
}

func (foreignUsers) ExampleClientID() string { return storage.ServiceUserID }

// foreignStorage gives clients JWTs for access tokens, as the API takes them.
type foreignStorage struct{ *storage.Storage }

func (s foreignStorage) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	client, err := s.Storage.GetClientByClientID(ctx, id)
	return foreignClient{client}, err
}

type foreignClient struct{ op.Client }

func (foreignClient) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

// foreignConsole starts an OpenID provider of zitadel/oidc, and a gateway whose console signs people in there.
func foreignConsole(t *testing.T) (provider *httptest.Server, g *harness.Gateway) {
	t.Helper()
	provider = httptest.NewUnstartedServer(nil)
	issuer := "http://" + provider.Listener.Addr().String()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(clientSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	// The console's address is known when the gateway runs, and the gateway starts when its provider answers.
	clients := map[string]*storage.Client{}
	provider.Config.Handler = exampleop.SetupServer(issuer, foreignStorage{storage.NewStorageWithClients(foreignUsers{}, clients)}, nil, false, op.WithAllowInsecure())
	provider.Start()
	t.Cleanup(provider.Close)
	g = harness.OutsideGateway(t, "--jwt-issuer", issuer, "--jwt-audience", clientID, "--jwks-url", issuer+"/keys", "--console-listen", "127.0.0.1:0",
		"--console-issuer", issuer, "--console-client-id", clientID, "--console-client-secret-file", secret)
	clients[clientID] = storage.WebClient(clientID, clientSecret, g.ConsoleURL+"/login/callback")
	return provider, g
}

// atProvider signs in with name and password, and returns the address of the console to which the provider sends the
// browser.
func atProvider(t *testing.T, provider *httptest.Server, target, password string) (callback *url.URL) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/login/callback" {
			callback = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}}
	page, err := client.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	_ = page.Body.Close()
	asked := page.Request.URL
	if asked.Path != "/login/username" {
		t.Fatalf("the provider shows %s", asked)
	}
	form := url.Values{"id": {asked.Query().Get("authRequestID")}, "username": {"admin"}, "password": {password}}
	answer, err := client.PostForm(provider.URL+"/login/username", form)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return callback
}

// TestAProviderOfOthersSignsIn guarantees the whole way with a provider that is not of these tests: its discovery
// document, its keys, its check of PKCE and of the redirect URI, its nonce, and its access token at the API.
func TestAProviderOfOthersSignsIn(t *testing.T) {
	t.Parallel()
	provider, g := foreignConsole(t)
	b := newBrowser(t, g)
	target := b.leave("/ask")
	if got := atProvider(t, provider, target, "another password"); got != nil {
		t.Fatalf("a wrong password leads to %s", got)
	}
	callback := atProvider(t, provider, target, foreignPassword)
	if callback == nil || !strings.HasPrefix(callback.String(), g.ConsoleURL+"/login/callback?") {
		t.Fatalf("the provider leads to %v", callback)
	}
	if got := newBrowser(t, g).get(callback.RequestURI()); got.Status != http.StatusForbidden {
		t.Errorf("in another browser: %d", got.Status)
	}
	if got := b.get(callback.RequestURI()); got.Status != http.StatusOK || b.session() == nil {
		t.Fatalf("%d\n%s", got.Status, got.Body)
	}
	if got := b.get("/ask"); got.Status != http.StatusOK || !got.says(harness.OutsideAdmin) {
		t.Errorf("signed in: %d", got.Status)
	}
	again := newBrowser(t, g)
	again.leave("/")
	if got := again.get(callback.RequestURI()); got.Status != http.StatusForbidden || again.session() != nil {
		t.Errorf("the answer to another sign-in: %d", got.Status)
	}
}
