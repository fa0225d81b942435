package access_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
	"github.com/portcullis-authz/portcullis/test/tier"
)

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

// kept is how long the worlds of onEachStore keep change records.
const kept = 24 * time.Hour

// onEachStore runs a test on worlds that record changes, on each engine.
func onEachStore(t *testing.T, test func(*accessWorld)) {
	for _, engine := range []string{"sqlite", "mongodb"} {
		t.Run(engine, func(t *testing.T) {
			world := areatest.New(t, resources.AreaAccess)
			if engine == "mongodb" {
				s, err := mongodb.Open(t.Context(), mongodb.Options{URL: servers.Mongo(t, 1).Database(t), Schemas: world.Collections.Schemas()})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				world.Store = s
			}
			test(newWorldOn(t, world, func(cfg *access.Config) {
				recorder := &changes.Recorder{
					Collections: cfg.Collections, IDs: cfg.IDs, Now: cfg.Now, Retention: kept, Action: func(route string) string { return route },
					Shown: changes.Shown{Assignment: access.ShownAssignment, Project: access.ShownProject},
				}
				cfg.Store, cfg.ChangeRetention = recorder.Wrap(cfg.Store), kept
			}))
		})
	}
}

// listed are the ids of the records that a query is answered with, and its page token.
func (w *accessWorld) listed(query string) (ids []string, token string) {
	w.T.Helper()
	got := w.Expect(w.Ask("change.list", askForChanges(query)), 200)
	for _, c := range got.Body["changes"].([]any) {
		ids = append(ids, c.(map[string]any)["id"].(string))
	}
	return ids, got.Str("next_page_token")
}

// stored counts the records of changes that the store has, and their parts.
func (w *accessWorld) stored() (count, parts int) {
	w.T.Helper()
	must.Do(w.T, w.Store.View(w.T.Context(), func(tx store.Tx) error {
		all, err := w.Collections.Changes.List(w.T.Context(), tx, "", 1000)
		pieces, err2 := w.Collections.ChangeParts.List(w.T.Context(), tx, "", 1000)
		count, parts = len(all), len(pieces)
		return errors.Join(err, err2)
	}))
	return count, parts
}

func (w *accessWorld) makeGroup(name string) (id string) {
	w.T.Helper()
	return w.Expect(w.call("group.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"`+name+`"}`), 201).Str("group.id")
}

// TestChangesAreShownForTheirTime, and a later change takes those away that are past it.
func TestChangesAreShownForTheirTime(t *testing.T) {
	onEachStore(t, func(w *accessWorld) {
		w.makeGroup("first")
		first, _ := w.listed("")
		w.Clock.Add(int64((kept - time.Hour) / time.Millisecond))
		w.makeGroup("second")
		both, _ := w.listed("")
		if len(first) != 1 || len(both) != 2 || both[1] != first[0] {
			t.Fatalf("%v, then %v", first, both)
		}
		w.Clock.Add(int64(2 * time.Hour / time.Millisecond))
		for _, query := range []string{"", "after="} {
			if got, _ := w.listed(query); len(got) != 1 || got[0] != both[0] {
				w.T.Errorf("%q: %v, want the second of %v", query, got, both)
			}
		}
		gone := func() { w.T.Helper(); w.Expect(w.Ask("change.list", askForChanges("after="+first[0])), 410) }
		gone()
		if n, _ := w.stored(); n != 2 {
			w.T.Errorf("%d records before the next change", n)
		}
		w.makeGroup("third")
		if n, _ := w.stored(); n != 2 {
			w.T.Errorf("%d records after it", n)
		}
		gone()
		if got, _ := w.listed("after=" + both[0]); len(got) != 1 {
			w.T.Errorf("behind the second: %v", got)
		}
		w.Clock.Add(int64(2 * kept / time.Millisecond))
		if got, _ := w.listed(""); len(got) != 0 {
			w.T.Errorf("%v after their time", got)
		}
	})
}

// manyMembers are more than one record has room for.
const manyMembers = 300

// TestALargeGroupLeavesOneRecordWithAllOfIt guarantees one record of a deletion larger than an engine takes in one.
// Retention removes all of it.
func TestALargeGroupLeavesOneRecordWithAllOfIt(t *testing.T) {
	onEachStore(t, func(w *accessWorld) {
		group := w.makeGroup("large")
		w.Write(func(ctx context.Context, tx store.Tx) (err error) {
			for i := 0; i < manyMembers && err == nil; i++ {
				m := resources.GroupMember{AccountID: acctA, GroupID: group, UserID: fmt.Sprintf("user-%05d-v1", i), AddedAt: areatest.Start}
				m.ID = records.MemberID(group, m.UserID)
				err = w.Collections.Members.Insert(ctx, tx, m)
			}
			return err
		})
		w.Expect(w.call("group.delete", areatest.As(acctA, alice), pathOf(acctA, "groupId", group), "", nil), 200)
		got := w.Expect(w.Ask("change.list", askForChanges("subject="+group+"&page_size=1")), 200)
		list := got.Body["changes"].([]any)
		if n, parts := w.stored(); len(list) != 1 || n != 2 || parts == 0 {
			t.Fatalf("%d records of the deletion, %d in all in %d parts", len(list), n, parts)
		}
		members := map[string]bool{}
		for _, m := range list[0].(map[string]any)["before"].(map[string]any)["group_members"].([]any) {
			members[m.(map[string]any)["user_id"].(string)] = true
		}
		if len(members) != manyMembers {
			w.T.Errorf("%d members, want %d", len(members), manyMembers)
		}
		verified, err := w.Collections.Verify(t.Context(), w.Store)
		for _, damage := range verified.Damage {
			if strings.Contains(damage, "change") {
				err = errors.Join(err, errors.New(damage))
			}
		}
		if err != nil {
			w.T.Error(err)
		}
		w.Clock.Add(int64(2 * kept / time.Millisecond))
		w.makeGroup("later")
		if n, parts := w.stored(); n != 1 || parts != 0 {
			w.T.Errorf("%d records, %d parts after their time", n, parts)
		}
	})
}

// TestAChangeMayBeLargerThanADocument of MongoDB (16 MiB), and a page has few of such.
func TestAChangeMayBeLargerThanADocument(t *testing.T) {
	tier.Check(t)
	onEachStore(t, func(w *accessWorld) {
		raw := make([]byte, 4<<20) // that can't be compressed: several parts
		_, _ = rand.Read(raw)      // never fails
		noise := base64.StdEncoding.EncodeToString(raw)
		sides := map[string]string{"change-large-v1": strings.Repeat("a", 17<<20), "change-other-v1": noise, "change-small-v1": "x"}
		number := int64(0)
		for _, id := range []string{"change-large-v1", "change-other-v1", "change-small-v1"} {
			number++
			w.Write(func(ctx context.Context, tx store.Tx) error {
				before, err := json.Marshal(map[string]string{"name": sides[id]})
				if err != nil {
					return err
				}
				return w.Collections.InsertChange(ctx, tx, resources.Change{
					ID: id, At: areatest.Start, AccountID: acctA, AccountRevision: 1000 + number, ChangeSides: resources.ChangeSides{Before: before},
				})
			})
		}
		for query, want := range map[string][]string{
			"":       {"change-small-v1 change-other-v1", "change-large-v1"},
			"after=": {"change-large-v1"},
		} {
			for i, page := range want {
				ids, token := w.listed(query)
				if strings.Join(ids, " ") != page || (token == "") != (i == len(want)-1) {
					w.T.Errorf("%q: %v, token %q", query, ids, token)
				}
				query += "&page_token=" + url.QueryEscape(token)
			}
		}
		for id, text := range sides {
			err := w.Store.View(t.Context(), func(tx store.Tx) error {
				rec, err := w.Collections.Changes.Get(t.Context(), tx, id)
				if err == nil {
					err = w.Collections.JoinChange(t.Context(), tx, &rec.Value)
				}
				var before struct{ Name string }
				if err == nil {
					err = json.Unmarshal(rec.Value.Before, &before)
				}
				if err == nil && before.Name != text {
					err = fmt.Errorf("%s: %d bytes, want %d", id, len(before.Name), len(text))
				}
				return err
			})
			if err != nil {
				w.T.Error(err)
			}
		}
	})
}
