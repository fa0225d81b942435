package harness

import (
	"os/exec"
	"strings"
	"testing"
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

// UserToken is a user's token, of the gateway's own issuer.
func (g *Gateway) UserToken(t testing.TB, user string) string {
	t.Helper()
	return g.Token(t, "--user", user)
}

// ServiceToken is the token of a service with these scopes, of the gateway's own issuer.
func (g *Gateway) ServiceToken(t testing.TB, scopes ...string) string {
	t.Helper()
	return g.Token(t, "--service", "test", "--scope", strings.Join(scopes, " "))
}

// OtherEnding is a token that ends in other letters, whatever its own are.
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
