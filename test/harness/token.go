package harness

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// Token is `portcullis token` on the gateway's data folder.
func (g *Gateway) Token(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command(Binary, append([]string{"token", "--data-dir", g.DataDir}, args...)...).Output()
	if err != nil {
		t.Fatalf("portcullis token %v: %v", args, err)
	}
	token := strings.TrimSpace(string(out))
	theSecrets.Token(token)
	return token
}

// UserToken is a user's token, of the gateway's own issuer: what `portcullis token --user` prints, without a process for
// each.
func (g *Gateway) UserToken(t testing.TB, user string) string {
	t.Helper()
	return g.sign(t, authn.TokenRequest{Subject: user, TTL: time.Hour})
}

// ServiceToken is the token of a service with these scopes, of the gateway's own issuer.
func (g *Gateway) ServiceToken(t testing.TB, scopes ...string) string {
	t.Helper()
	return g.sign(t, authn.TokenRequest{Subject: resources.ServicePrefix + "test", Scopes: scopes, TTL: time.Hour})
}

func (g *Gateway) sign(t testing.TB, request authn.TokenRequest) string {
	t.Helper()
	file := must.Get(os.Open(filepath.Join(g.DataDir, "master.key")))(t)
	key, err := resources.ReadMasterKey(file)
	must.Do(t, errors.Join(err, file.Close()))
	signer := must.Get(authn.NewSigner(key))(t)
	token := must.Get(signer.Sign(request))(t)
	theSecrets.Token(token)
	return token
}

// OtherEnding is a token with other letters at its end.
func OtherEnding(token string) string {
	const last = 4
	other := strings.Map(func(c rune) rune {
		if c == 'A' {
			return 'Q'
		}
		return 'A'
	}, token[len(token)-last:])
	return token[:len(token)-last] + other
}
