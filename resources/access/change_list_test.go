package access_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// manyChanges is more than two steps read.
const manyChanges = 500

// changed is a world with so many changes of the account A, and with the store and the gate through which they are read.
func changed(t *testing.T, many int64) (w *accessWorld, f *faultyStore, scans *gate.Gate, change func(number int64, action string)) {
	f, scans = &faultyStore{}, gate.New(1, 1)
	w = newWorld(t, faulty(f), func(cfg *access.Config) { cfg.Scans = scans })
	insert := func(ctx context.Context, tx store.Tx, number int64, action string) error {
		return w.Collections.Changes.Insert(ctx, tx, resources.Change{
			ID: fmt.Sprintf("change-%05d-v1", number), At: areatest.Start, AccountID: acctA, AccountRevision: 1000 + number, Action: action,
		})
	}
	w.Write(func(ctx context.Context, tx store.Tx) (err error) {
		for i := int64(0); i < many && err == nil; i++ {
			err = insert(ctx, tx, i, "account:role:update")
		}
		return err
	})
	return w, f, scans, func(number int64, action string) {
		w.Write(func(ctx context.Context, tx store.Tx) error { return insert(ctx, tx, number, action) })
	}
}

func askForChanges(query string) *wire.Request {
	return &wire.Request{Principal: areatest.As(acctA, alice), Params: map[string]string{"accountId": acctA}, Query: query}
}

// TestChangesAreReadInSteps: a snapshot is held for one step, steps behind the first one wait for their turn, and each
// authorizes the caller anew.
func TestChangesAreReadInSteps(t *testing.T) {
	w, f, scans, change := changed(t, manyChanges)
	change(manyChanges, "account:role:create")
	view, snapshots := f.view, 0
	f.view = func(ctx context.Context, fn func(store.Tx) error) error {
		if snapshots++; (scans.Inside() == 1) != (snapshots > 1) {
			t.Errorf("snapshot %d with %d inside", snapshots, scans.Inside())
		}
		return view(ctx, fn)
	}
	for _, query := range []string{"action=account:role:create", "after=&action=account:role:create"} {
		snapshots = 0
		if got := w.Ask("change.list", askForChanges(query)); got.Status != 200 || strings.Count(got.Text, `"id":"change-`) != 1 || snapshots != 3 || scans.Inside() != 0 {
			t.Errorf("%s: %d %s after %d snapshots", query, got.Status, got.Text, snapshots)
		}
	}
	f.view = func(ctx context.Context, fn func(store.Tx) error) error {
		if snapshots++; snapshots == 5 {
			w.SetAccount(acctA, resources.StatusSuspended)
			w.ChangeUser(alice, func(u *resources.User) { u.Status = resources.StatusInactive })
		}
		return view(ctx, fn)
	}
	if got := w.Ask("change.list", askForChanges("action=account:none:create")); got.Status != 403 {
		t.Errorf("%d %s for a caller who may not read any more", got.Status, got.Text)
	}
}

// TestASearchEndsWithItsCaller guarantees 503, and no internal error, at the end of the caller during a wait for its turn.
// An agent may cancel its call of a tool.
func TestASearchEndsWithItsCaller(t *testing.T) {
	w, _, scans, _ := changed(t, manyChanges)
	must.Do(t, scans.TryEnter())
	ctx, leave := context.WithCancel(w.Ctx)
	go func() {
		for scans.Waiting() == 0 {
			runtime.Gosched()
		}
		leave()
	}()
	if answer, err := w.Routes["change.list"](ctx, askForChanges("action=account:none:create")); !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("%+v %v", answer, err)
	}
}

// TestAWaitGoesOnWhereItLooked, and does not read again what it has read.
func TestAWaitGoesOnWhereItLooked(t *testing.T) {
	w, f, _, change := changed(t, manyChanges)
	r := askForChanges("after=&wait=30s&action=account:role:create")
	first, err := w.Routes["change.list"](w.Ctx, r)
	if err != nil || first.Wait != 30*time.Second {
		t.Fatalf("%+v %v", first, err)
	}
	view, snapshots := f.view, 0
	f.view = func(ctx context.Context, fn func(store.Tx) error) error { snapshots++; return view(ctx, fn) }
	r.Place = first.Place
	second, err := w.Routes["change.list"](w.Ctx, r)
	if err != nil || second.Wait == 0 || snapshots != 1 {
		t.Fatalf("%+v %v after %d snapshots", second, err, snapshots)
	}
	change(manyChanges, "account:role:create")
	r.Place = second.Place
	if got := w.Ask("change.list", r); strings.Count(got.Text, `"id":"change-`) != 1 || snapshots != 2 {
		t.Errorf("%d %s after %d snapshots", got.Status, got.Text, snapshots)
	}
}

// TestASearchThatTakesLongEndsWithAToken, and goes on with it; it does not wait for what comes behind it.
func TestASearchThatTakesLongEndsWithAToken(t *testing.T) {
	t.Parallel()
	w, _, scans, change := changed(t, manyChanges)
	change(-1, "account:role:create")
	change(manyChanges, "account:group:create")
	for query, number := range map[string]string{
		"action=account:role:create":                  "-0001",
		"after=&wait=30s&action=account:group:create": "00500",
	} {
		if err := scans.Enter(t.Context(), ""); err != nil { // nobody else has a second step
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 4*time.Second) // it takes a half of it
		answer, err := w.Routes["change.list"](ctx, askForChanges(query))
		stop()
		scans.Leave()
		raw, _ := json.Marshal(answer.Body) // it is rendered everywhere
		var early struct {
			Changes []any
			Token   string `json:"next_page_token"`
		}
		if err != nil || json.Unmarshal(raw, &early) != nil || len(early.Changes) != 0 || early.Token == "" || answer.Wait != 0 {
			t.Fatalf("%s: %s %+v %v", query, raw, answer, err)
		}
		rest := query + "&page_token=" + url.QueryEscape(early.Token)
		if got := w.Ask("change.list", askForChanges(rest)); got.Status != 200 || strings.Count(got.Text, `"id":"change-`) != 1 || !strings.Contains(got.Text, number) ||
			!strings.Contains(got.Text, `"next_page_token":""`) {
			t.Errorf("%s: %d %s", rest, got.Status, got.Text)
		}
		other := strings.Replace(rest, "account:", "project:", 1)
		w.Expect(w.Ask("change.list", askForChanges(other)), 400, "page_token: ")
	}
	w.Expect(w.Ask("change.list", askForChanges("after=&page_token=x")), 400, "page_token: ")
}

// TestARareChangeOfALargeLogIsFound, however little time there is for a page.
func TestARareChangeOfALargeLogIsFound(t *testing.T) {
	tier.Check(t)
	t.Parallel()
	w, _, _, change := changed(t, 50_000)
	change(-1, "account:role:create")
	query, pages := "action=account:role:create", 0
	for token := ""; ; pages++ {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		w.Ctx = ctx
		got := w.Ask("change.list", askForChanges(query+token))
		stop()
		if got.Status != 200 {
			t.Fatalf("%d %s after %d pages", got.Status, got.Text, pages)
		}
		if strings.Contains(got.Text, `"id":"change--0001-v1"`) {
			break
		}
		if got.Str("next_page_token") == "" {
			t.Fatalf("the end after %d pages", pages)
		}
		token = "&page_token=" + url.QueryEscape(got.Str("next_page_token"))
	}
	t.Logf("%d pages without one", pages)
}

// TestTheTimeOfAChangeIsInItsID guarantees that the console finds a change by its id alone. The clock moves on while the
// record is made.
func TestTheTimeOfAChangeIsInItsID(t *testing.T) {
	w := newWorld(t, func(cfg *access.Config) {
		moment := areatest.Start
		moving := func() time.Time {
			moment++
			return time.UnixMilli(int64(moment))
		}
		recorder := &changes.Recorder{
			Collections: cfg.Collections, IDs: resources.IDs{Now: moving, Random: cfg.IDs.Random}, Now: moving, Action: func(route string) string { return route },
		}
		cfg.Store = recorder.Wrap(cfg.Store)
	})
	w.makeGroup("Team")
	all, _ := w.listed("")
	made, ok := resources.MadeAt(resources.PrefixChange, all[0])
	if !ok {
		t.Fatal(all)
	}
	if got, _ := w.listed("since=" + made.String() + "&until=" + (made + 1).String()); !slices.Equal(got, all) {
		t.Errorf("%v, want %v", got, all)
	}
}
