package idempotency_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// TestRepeatGivesTheFirstAnswer checks that a repeat is read again, makes nothing and gets the same
// bytes. Without a key each request makes a record.
func TestRepeatGivesTheFirstAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.must(plain("k", "a"))
	for range 3 {
		if again := w.must(plain("k", "a")); again != first {
			t.Errorf("%s, the first was %s", again, first)
		}
	}
	if w.made.Load() != 1 || w.read.Load() != 4 {
		t.Errorf("made %d times, read %d times", w.made.Load(), w.read.Load())
	}
	w.count(1, 1)
	first, second := w.must(plain("", "a")), w.must(plain("", "a"))
	if first == second {
		t.Error("a request without a key was answered again")
	}
	w.count(3, 1)
}

// TestKeyIsForOneRequest checks that another request with the same key is refused.
func TestKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(request("user-u-v1", "k", "/p", "q", "a"))
	other := w.keeper.Create("project.create", w.creating)
	for name, r := range map[string]*wire.Request{
		"body":             request("user-u-v1", "k", "/p", "q", "b"),
		"query":            request("user-u-v1", "k", "/p", "", "a"),
		"path":             request("user-u-v1", "k", "/p2", "q", "a"),
		"a moved boundary": request("user-u-v1", "k", "/p", "qa", ""),
	} {
		if message := w.refused(r, resources.KindConflict); !strings.Contains(message, "another request") {
			t.Errorf("another %s: %q", name, message)
		}
	}
	if _, err := other(t.Context(), request("user-u-v1", "k", "/p", "q", "a")); !resources.IsKind(err, resources.KindConflict) {
		t.Errorf("another endpoint: %v", err)
	}
	w.count(1, 1)
}

// TestEveryCallerHasTheirOwnKeys guarantees that other users, accounts and kinds of principal share no response. This
// holds if their concatenated parts are equal, too.
func TestEveryCallerHasTheirOwnKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	callers := []resources.Principal{
		{Kind: resources.PrincipalUser, ID: "u", AccountID: "a"},
		{Kind: resources.PrincipalUser, ID: "u2", AccountID: "a"},
		{Kind: resources.PrincipalUser, ID: "u", AccountID: "a2"},
		{Kind: resources.PrincipalService, ID: "u", AccountID: "a"},
		{Kind: resources.PrincipalUser, ID: "ua", AccountID: ""},
		{Kind: resources.PrincipalUser, ID: "", AccountID: "ua"},
		{Kind: resources.PrincipalUser, ID: "u1:a", AccountID: ""},
	}
	seen := map[string]bool{}
	for _, caller := range callers {
		r := plain("k", "a")
		r.Principal = caller
		seen[w.must(r)] = true
	}
	if len(seen) != len(callers) {
		t.Errorf("%d answers for %d callers", len(seen), len(callers))
	}
	w.count(len(callers), len(callers))
}

// TestSameUserByTokenAndByKeyIsOneCaller checks a retry with another credential of the same user.
func TestSameUserByTokenAndByKeyIsOneCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, byKey := w.must(plain("k", "a")), plain("k", "a")
	byKey.Principal.Credential, byKey.Principal.KeyID = resources.CredentialKey, "apikey-k-v1"
	if again := w.must(byKey); again != first {
		t.Errorf("%s, the first was %s", again, first)
	}
}

// TestShownOnceIsNeitherStoredNorReplayed checks that a repeat names the new record and does not show
// its secret.
func TestShownOnceIsNeitherStoredNorReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.once = "apikey-made-v1"
	w.must(plain("k", "a"))
	for range 2 {
		if message := w.refused(plain("k", "a"), resources.KindConflict); !strings.Contains(message, w.once) {
			t.Errorf("the repeat does not name what was made: %q", message)
		}
	}
	if message := w.refused(plain("k", "b"), resources.KindConflict); strings.Contains(message, w.once) {
		t.Errorf("another request is told what was made: %q", message)
	}
	w.count(1, 1)
	w.stored(func(body string) {
		if body != "" {
			t.Errorf("kept: %s", body)
		}
	})
}

// TestKeyHasAForm checks that a key has 1 to 255 visible ASCII characters. A request with another key
// is not read.
func TestKeyHasAForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{" ", "a b", "a\t", "\x00", "\x7f", "ä", strings.Repeat("k", 256)} {
		w.refused(plain(key, "a"), resources.KindBadRequest)
	}
	if w.read.Load() != 0 {
		t.Errorf("%d requests were read", w.read.Load())
	}
	for _, key := range []string{"k", "!~", strings.Repeat("k", 255)} {
		w.must(plain(key, "a"))
	}
	w.count(3, 3)
}
