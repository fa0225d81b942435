package peer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

// maxSecret bounds a secret in bytes.
const maxSecret = 8 << 10

var errSecret = errors.New("a secret must be one line of 1 to 8,192 visible characters")

// Credential is what a call to an upstream shows. The zero one is the gateway's assertion, with the identity headers.
// With any other one the upstream is not told who calls.
type Credential struct {
	kind, file, token string
}

// SecretIn is a bearer token in a file. Each call reads it, so that it may be replaced at any time.
func SecretIn(file string) Credential {
	return Credential{kind: resources.MCPCredentialSecret, file: file}
}

// Bearer is a bearer token that passes CheckSecret.
func Bearer(token string) Credential {
	return Credential{kind: resources.MCPCredentialExchange, token: token}
}

// NoCredential shows nothing.
func NoCredential() Credential { return Credential{kind: resources.MCPCredentialNone} }

// show adds the credential to the headers of a call.
func (c Credential) show(out http.Header, keys *assertion.Keys, said assertion.Statement) error {
	switch c.kind {
	case resources.MCPCredentialNone:
		return nil
	case resources.MCPCredentialSecret:
		secret, err := ReadSecret(c.file)
		if err != nil {
			return resources.Unavailable(notNow, err)
		}
		out.Set("Authorization", "Bearer "+secret)
		return nil
	case resources.MCPCredentialExchange:
		out.Set("Authorization", "Bearer "+c.token)
		return nil
	}
	token, err := keys.Sign(said)
	if err != nil {
		return err
	}
	identify(out, &said)
	out.Set(assertion.Header, token)
	return nil
}

// ReadSecret reads a file with a secret: one word in visible characters.
func ReadSecret(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("peer: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	raw, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("peer: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if len(raw) > maxSecret { // the rest was not read
		return "", errSecret
	}
	if err := CheckSecret(secret); err != nil {
		return "", err
	}
	return secret, nil
}

// CheckSecret returns an error unless a secret is one word of visible characters.
func CheckSecret(secret string) error {
	if secret == "" || len(secret) > maxSecret || strings.ContainsAny(secret, " \t") || !httpguts.ValidHeaderFieldValue(secret) {
		return errSecret
	}
	return nil
}
