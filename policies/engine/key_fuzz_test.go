//go:build !race

package engine_test

// One goroutine loads: the race detector would only make it slow.

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// FuzzVerdictKey guarantees that two questions never share a key, for any words in them. The tree reads all words, so
// the key has each of them, separated from the others.
func FuzzVerdictKey(f *testing.F) {
	set := must.Get(load(f, tellingTree(f)))(f)
	keys := engine.NewKeys(set)
	f.Add("a", "b", "c", "ab", "", "c")
	f.Add("\x02a", "", "x,y", "", "\x02a", "x\x00y")
	f.Add("user:1", "2", "project:a:b", "user", "1:2", "project:a:b")
	f.Fuzz(func(t *testing.T, user, rest, word, otherUser, otherRest, otherWord string) {
		ask := func(user, rest, word string) resources.Question {
			return resources.Question{
				// The two stand side by side in the key.
				Principal: resources.Principal{
					Kind: resources.PrincipalService, ID: user, UUID: rest, Credential: resources.CredentialToken, Scopes: strings.Split(word, ","),
				},
				AccountID: word,
			}
		}
		one, two := ask(user, rest, word), ask(otherUser, otherRest, otherWord)
		same := [3]string{user, rest, word} == [3]string{otherUser, otherRest, otherWord}
		if a, b := keys.Of(whole, "decision", &one), keys.Of(whole, "decision", &two); (a == b) != same || a == "" {
			t.Fatalf("%+v\n%+v\nhave the keys\n%q\n%q", one, two, a, b)
		}
	})
}
