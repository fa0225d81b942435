package gateway_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// shapedLikeCredentials are a key and a short token, made anew. Both have a request id's form.
func shapedLikeCredentials() []string {
	key, _ := resources.NewAPIKeys(masterKey()).New(resources.IDs{Now: time.Now, Random: rand.Reader})
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return []string{key, part(`{"alg":"EdDSA"}`) + "." + part(`{"sub":"a"}`) + "." + rand.Text() + rand.Text()}
}

// TestNoRefusalShowsACredential that stands in the wrong place: in the path, in the identity
// headers, in what policy says of either, in a method, in a field's name.
func TestNoRefusalShowsACredential(t *testing.T) {
	tells := func(_ context.Context, q resources.Question) (resources.Decision, error) {
		return resources.Decision{Reason: fmt.Sprintf("%s may not in %s of %s", q.Target.UserID, q.Target.ProjectID, q.AccountID), PolicyRevision: "rev-1"}, nil
	}
	refusing := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{tells, tells}.pin() })
	deciding := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{tells, allow}.pin() })
	for _, credential := range shapedLikeCredentials() {
		for name, c := range map[string]struct {
			edge   *edge
			raw    string
			status int
		}{
			"an account of the path":    {refusing, request("GET", "/api/v1/accounts/"+credential+"/roles", "", bearer), 403},
			"a project of the path":     {refusing, request("POST", "/api/v1/projects/"+credential+"/walls", "{}", bearer, jsonType), 403},
			"a user of the path":        {refusing, request("PUT", "/api/v1/users/"+credential, "{}", bearer, jsonType), 403},
			"a project that is denied":  {deciding, question("projects/" + credential + "/x"), 200},
			"the account in question":   {deciding, strings.Replace(question("projects/p/x"), "acct-a-v1", credential, 1), 200},
			"the user in question":      {refusing, strings.Replace(question("projects/p/x"), "user-bob-v1", credential, 1), 403},
			"no route":                  {refusing, request("GET", "/"+credential, "", bearer), 404},
			"an action":                 {deciding, strings.Replace(question("x"), "project:instance:read", credential, 1), 400},
			"a segment that is refused": {deciding, question("x//" + credential), 400},
		} {
			r := c.edge.send(t, c.raw)
			if r.Status != c.status || strings.Contains(fmt.Sprint(r.Header, r.Body), credential[len(credential)-20:]) {
				t.Errorf("%s: %d %v %s", name, r.Status, r.Header, r.Body)
			}
			if strings.Contains(name, "denied") && !strings.Contains(r.Body, "…") {
				t.Errorf("%s: %s", name, r.Body)
			}
		}
	}
}

// TestRequestIDLikeACredentialIsReplaced: it would be echoed, logged and passed on.
func TestRequestIDLikeACredentialIsReplaced(t *testing.T) {
	e, made := start(t), regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{26}$`)
	for _, credential := range shapedLikeCredentials() {
		for _, raw := range []string{question("x", "X-Request-ID: "+credential), request("GET", "/", "", "X-Request-ID: a."+credential)} {
			r := e.send(t, raw)
			if got := r.Header.Get("X-Request-ID"); !made.MatchString(got) || e.last(t).RequestID != got {
				t.Errorf("%q became %q (%d), recorded as %q", credential, got, r.Status, e.last(t).RequestID)
			}
		}
	}
}
