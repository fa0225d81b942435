package rolecache_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/test/must"
)

// shelf is a second level in memory.
type shelf struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
	gets   int
}

func (s *shelf) Get(_ context.Context, keys ...string) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets++
	var out [][]byte
	for _, k := range keys {
		out = append(out, s.values[k])
	}
	return out, s.err
}

func (s *shelf) Set(_ context.Context, values map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.values, values)
}

var secret, older = bytes.Repeat([]byte("a"), 32), bytes.Repeat([]byte("b"), 32)

// replica returns the cache of another process with the same store and second level, and the results that it observes.
func (w *world) replica(r rolecache.Remote, secrets ...[]byte) (*rolecache.Cache, *[]string) {
	w.t.Helper()
	var seen []string
	c := rolecache.New(w, records.NewCollections(), rolecache.Options{
		Entries: 1000, Remote: r, Secrets: secrets, Observe: func(result string) { seen = append(seen, result) },
	})
	return c, &seen
}

func (w *world) countViews() *int {
	views := 0
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		views++
		return w.tellView(ctx, fn)
	}
	return &views
}

// ask returns the facts about the user and the project.
func ask(t *testing.T, c *rolecache.Cache) resources.Facts {
	t.Helper()
	return must.Get(c.Facts(t.Context(), account, user, "proj-p-v1"))(t)
}

// TestReplicasShareWhatOneHasRead guarantees that a second replica gets the same facts from the second level, in one
// look and without a view of the store.
func TestReplicasShareWhatOneHasRead(t *testing.T) {
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	first, seen := w.replica(s, secret)
	want := ask(t, first)
	views := w.countViews()
	second, again := w.replica(s, secret)
	got := ask(t, second)
	if !reflect.DeepEqual(got, want) || *views != 0 || s.gets != 2 {
		t.Errorf("%+v, want %+v; %d views, %d looks", got.Subject, want.Subject, *views, s.gets)
	}
	if !slices.Equal(*seen, []string{"miss"}) || !slices.Equal(*again, []string{"hit"}) {
		t.Errorf("observed %v and %v", *seen, *again)
	}
	ask(t, second)
	if s.gets != 2 {
		t.Error("a warm question looked again")
	}
}

// TestSubjectSurvivesTheShelf guarantees that the second level returns all fields of the facts, with any characters.
func TestSubjectSurvivesTheShelf(t *testing.T) {
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	w.set(user, func(u *resources.User) {
		u.AccountID, u.Status, u.AuthenticationPartnerID, u.UUID = account, "ACTIVE", "sub \"é\u2028 <>&", "uuid"
	})
	first, _ := w.replica(s, secret)
	second, _ := w.replica(s, secret)
	if a, b := ask(t, first), ask(t, second); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a.Subject, b.Subject)
	}
}

// TestShelfOnlyMisses guarantees that missing, broken and forged values in the second level change no answer.
// Options.Observe gets the kind.
func TestShelfOnlyMisses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(w *world, s *shelf)
		want  string
	}{
		"nothing": {func(_ *world, s *shelf) { clear(s.values) }, "miss"},
		"half": {func(_ *world, s *shelf) {
			maps.DeleteFunc(s.values, func(k string, _ []byte) bool { return kindOf(k) == "p" })
		}, "miss"},
		"down":  {func(_ *world, s *shelf) { s.err = errors.New("gone") }, "down"},
		"cut":   {func(_ *world, s *shelf) { spoilEach(s, func(v []byte) []byte { return v[:10] }) }, "forged"},
		"empty": {func(_ *world, s *shelf) { spoilEach(s, func([]byte) []byte { return []byte{} }) }, "forged"},
		"a bit": {func(_ *world, s *shelf) { spoilEach(s, func(v []byte) []byte { v[len(v)-3] ^= 1; return v }) }, "forged"},
		"no mac": {func(_ *world, s *shelf) {
			spoilEach(s, func(v []byte) []byte { return append(make([]byte, 32), v[32:]...) })
		}, "forged"},
		"another's": {func(w *world, s *shelf) {
			w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
			c, _ := w.replica(s, secret)
			must.Get(c.Facts(w.t.Context(), account, second, "proj-p-v1"))(w.t)
			must.Get(c.Facts(w.t.Context(), account, user, "proj-p-v1"))(w.t)
			var users, seconds []string
			for k := range s.values {
				if strings.Contains(k, user) {
					users = append(users, k)
				}
				if strings.Contains(k, second) {
					seconds = append(seconds, k)
				}
			}
			for _, k := range users {
				s.values[k] = s.values[seconds[0]]
			}
		}, "forged"},
		"of before a change": {func(w *world, s *shelf) {
			w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
			clear(s.values)
			c, _ := w.replica(s, secret)
			ask(w.t, c)
			before := maps.Clone(s.values)
			w.set(user, func(u *resources.User) { u.Status = "ACTIVE" })
			clear(s.values)
			ask(w.t, c)
			for k := range s.values {
				for old, v := range before {
					if kindOf(old) == kindOf(k) {
						s.values[k] = v
					}
				}
			}
		}, "forged"},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(t), &shelf{values: map[string][]byte{}}
			first, _ := w.replica(s, secret)
			ask(t, first)
			c.spoil(w, s)
			replica, seen := w.replica(s, secret)
			facts := ask(t, replica)
			if facts.Subject.UserID != user || facts.Subject.UserStatus != "ACTIVE" || !slices.Equal(*seen, []string{c.want}) {
				t.Errorf("%+v, observed %v", facts.Subject, *seen)
			}
		})
	}
}

// kindOf returns the kind in the name of a value.
func kindOf(name string) string { return strings.Split(name, ":")[2] }

func spoilEach(s *shelf, change func([]byte) []byte) {
	for k, v := range s.values {
		s.values[k] = change(slices.Clone(v))
	}
}

// TestOldValuesAreNeverAskedFor guarantees that old values in the second level change no answer: the cache asks only
// for values of the current revision.
func TestOldValuesAreNeverAskedFor(t *testing.T) {
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	first, _ := w.replica(s, secret)
	ask(t, first)
	before := maps.Clone(s.values)
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	ask(t, first)
	s.values = before // a fail-over to an old copy
	for _, c := range []*rolecache.Cache{first, func() *rolecache.Cache { c, _ := w.replica(s, secret); return c }()} {
		if facts := ask(t, c); facts.Subject.UserStatus != "SUSPENDED" {
			t.Errorf("%+v", facts.Subject)
		}
	}
}

// TestRotatedSecretsAreRead guarantees that a cache reads values under each of its secrets, and under no other one.
func TestRotatedSecretsAreRead(t *testing.T) {
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	first, _ := w.replica(s, older)
	ask(t, first)
	rotated, seen := w.replica(s, secret, older)
	ask(t, rotated)
	stranger, forged := w.replica(s, secret)
	ask(t, stranger)
	if !slices.Equal(*seen, []string{"hit"}) || !slices.Equal(*forged, []string{"forged"}) {
		t.Errorf("observed %v and %v", *seen, *forged)
	}
}
