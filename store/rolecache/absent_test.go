package rolecache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// maxAccounts is the number of revisions in a cache, as in the package.
const maxAccounts = 100_000

// TestFactsOfAccountsThatDoNotExistAreNotKept guarantees that neither level caches facts about unknown accounts. They
// evict no other facts.
func TestFactsOfAccountsThatDoNotExistAreNotKept(t *testing.T) {
	const entries = 10
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{
		Entries: entries, Local: true, Remote: s, Secrets: [][]byte{secret}, Observe: func(string) {},
	})
	w.status()
	shared := len(s.values)
	for i := range 10 * entries {
		facts, err := w.cache.Facts(t.Context(), fmt.Sprintf("acct-none%d-v1", i), user, "proj-p-v1")
		if err != nil || facts.Revision != 0 || facts.Subject.AccountExists || facts.Subject.Member {
			t.Fatalf("%+v %v", facts, err)
		}
	}
	views := w.counted()
	if w.status(); views.Load() != 0 {
		t.Errorf("a question about an account that exists costs %d reads afterwards", views.Load())
	}
	if len(s.values) != shared {
		t.Errorf("replicas share %d values of accounts that don't exist", len(s.values)-shared)
	}
}

// TestFactsThatAClientInventsAreNotKept guarantees that neither level caches facts about users and projects from
// outside the account. They evict no other facts.
func TestFactsThatAClientInventsAreNotKept(t *testing.T) {
	const entries = 16
	w, s := newWorld(t), &shelf{values: map[string][]byte{}}
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = other, "ACTIVE" })
	w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{
		Entries: entries, Local: true, Remote: s, Secrets: [][]byte{secret}, Observe: func(string) {},
	})
	questions := []resources.About{{UserID: user, ProjectID: "proj-p-v1"}, {}}
	ask := func(pairs ...resources.About) {
		t.Helper()
		must.Get(factsOf(t, w.cache, account, pairs))(t)
	}
	ask(questions...)
	shared, before := len(s.values), w.cache.State()
	for i := range 10 * entries {
		made := func(kind string) string { return fmt.Sprintf("%s-made%d-v1", kind, i) }
		for _, pair := range []resources.About{{UserID: made("user")}, {UserID: user, ProjectID: made("proj")}, {UserID: second, ProjectID: made("proj")}} {
			facts, err := w.cache.Facts(t.Context(), account, pair.UserID, pair.ProjectID)
			if err != nil || facts.Subject.Member != (pair.UserID == user) || pair.ProjectID != "" && facts.ProjectState != resources.ProjectAbsent {
				t.Fatalf("%+v %v", facts, err)
			}
		}
		ask(resources.About{UserID: made("user"), ProjectID: made("proj")}, resources.About{UserID: made("other")}, resources.About{UserID: second})
	}
	views := w.counted()
	if ask(questions...); views.Load() != 0 || w.cache.State() != before {
		t.Errorf("what is known costs %d reads afterwards; %+v, before %+v", views.Load(), w.cache.State(), before)
	}
	if len(s.values) != shared || shared == 0 {
		t.Errorf("replicas share %d values, %d before", len(s.values), shared)
	}
}

// TestFactsAboutOthersMembersAreReadAnew guarantees that the cache reads facts about a user of another account each
// time. A change of a user moves the revision of their own account alone.
func TestFactsAboutOthersMembersAreReadAnew(t *testing.T) {
	w := newWorld(t)
	for _, status := range []string{"ACTIVE", "SUSPENDED", "ACTIVE"} {
		w.set(second, func(u *resources.User) { u.AccountID, u.Status = other, status })
		facts, err := w.cache.Facts(t.Context(), account, second, "")
		if err != nil || facts.Subject.UserStatus != status || facts.Subject.Member {
			t.Errorf("%+v, %v, want %s", facts.Subject, err, status)
		}
	}
}

// TestAccountThatIsMadeIsKnownAtOnce guarantees that the cache finds a new account, also after questions about it
// before it existed.
func TestAccountThatIsMadeIsKnownAtOnce(t *testing.T) {
	w := newWorld(t)
	const later = "acct-later-v1"
	for range 2 {
		if facts, err := w.cache.Facts(t.Context(), later, second, ""); err != nil || facts.Subject.AccountExists {
			t.Fatalf("%+v %v", facts, err)
		}
	}
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = later, "ACTIVE" })
	if facts, err := w.cache.Facts(t.Context(), later, second, ""); err != nil || !facts.Subject.AccountExists || !facts.Subject.Member {
		t.Errorf("%+v %v", facts, err)
	}
}

// TestLookUpOfARevisionPassesTheGate guarantees that the gate bounds the look-ups of revisions like other reads of the
// store.
func TestLookUpOfARevisionPassesTheGate(t *testing.T) {
	w, reads := newWorld(t), gate.New(1, 0)
	w.changes = noList
	w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: 10, Reads: reads})
	must.Do(t, reads.Enter(t.Context(), ""))
	views := w.counted()
	if _, err := w.cache.Facts(t.Context(), account, user, ""); !errors.Is(err, gate.ErrFull) || views.Load() != 0 {
		t.Errorf("%d reads, %v", views.Load(), err)
	}
	reads.Leave()
	if got := w.status(); got != "ACTIVE" || reads.Inside() != 0 {
		t.Errorf("%s afterwards, %d inside", got, reads.Inside())
	}
}

// TestKnownRevisionsAreEvictedOneByOne guarantees that one account too many evicts one other account, and an unknown
// account evicts none.
func TestKnownRevisionsAreEvictedOneByOne(t *testing.T) {
	const more = 10
	w := newWorld(t)
	w.freshness = func(context.Context) (store.Freshness, error) {
		return store.Freshness{Generation: "one", Epoch: 1}, nil
	}
	w.changes = noList
	w.view = func(_ context.Context, fn func(store.Tx) error) error { return fn(manyAccounts{&snapshot{}}) }
	w.cache = rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: 1, Local: true})
	ask := func(id string) string {
		must.Get(w.cache.Facts(t.Context(), id, user, ""))(t)
		return id
	}
	accounts := make([]string, maxAccounts+more)
	current := func() (n int) {
		for _, id := range accounts {
			if w.cache.Knows(id) {
				n++
			}
		}
		return n
	}
	for i := range accounts {
		if i == maxAccounts {
			for n := range 1000 {
				ask(fmt.Sprintf("%s%d-v1", none, n))
			}
			if got := current(); got != maxAccounts {
				t.Errorf("%d of %d revisions are known after questions about accounts that don't exist", got, maxAccounts)
			}
		}
		if accounts[i] = ask(fmt.Sprintf("acct-%d-v1", i)); !w.cache.Knows(accounts[i]) {
			t.Fatalf("account %d is not known after it was asked for", i)
		}
	}
	if got := current(); got != maxAccounts {
		t.Errorf("%d revisions are known after %d, want %d", got, len(accounts), maxAccounts)
	}
}

// none is the prefix of accounts that don't exist.
const none = "acct-none"

// manyAccounts is a snapshot of empty accounts at their first revision. Accounts with the prefix none do not exist.
type manyAccounts struct{ *snapshot }

func (m manyAccounts) Revision(_ context.Context, account string) (int64, error) {
	if strings.HasPrefix(account, none) {
		return 0, nil
	}
	return 1, nil
}

func (m manyAccounts) Together(ctx context.Context, account string, reads ...store.Read) (int64, [][]store.Row, error) {
	return storetest.OneByOne(ctx, m, account, reads...)
}
