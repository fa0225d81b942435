package mongodb_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
)

// person is a record of two releases: the newer one also finds it by its mail address, which
// is unique, and in the order of its number.
type person struct {
	ID   string `json:"id"`
	Team string `json:"team"`
	Mail string `json:"mail"`
	N    int    `json:"n"`
}

func people(newer bool) store.Collection[person] {
	schema := store.Schema{
		Name: "people", Columns: []store.Column{{Name: "team", Kind: store.KindString}},
		Indexes: []store.Index{{Name: "by_team", Columns: []string{"team"}}},
	}
	if newer {
		schema.Columns = append(schema.Columns, store.Column{Name: "mail", Kind: store.KindString}, store.Column{Name: "n", Kind: store.KindInt})
		schema.Indexes = append(schema.Indexes, store.Index{Name: "by_mail", Columns: []string{"mail"}, Unique: true},
			store.Index{Name: "by_number", Columns: []string{"team", "n"}})
	}
	return store.NewCollection(schema, func(p *person) string { return p.ID }, func(p *person) []store.Value {
		all := []store.Value{store.String(p.Team), store.String(p.Mail), store.Int(int64(p.N))}
		return all[:len(schema.Columns)]
	})
}

// release is a running one.
type release struct {
	*mongodb.Store
	t      *testing.T
	people store.Collection[person]
}

func newRelease(t *testing.T, url string, newer bool) *release {
	t.Helper()
	people := people(newer)
	return &release{Store: open(t, url, people.Schema()), t: t, people: people}
}

// put adds a person, or counts in one that is there. An index that is being made may be in the
// way for a time.
func (r *release) put(id string) {
	r.t.Helper()
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		err = r.Transact(r.t.Context(), func(tx store.Tx) error {
			rec, err := r.people.Get(r.t.Context(), tx, id)
			if errors.Is(err, store.ErrNotFound) {
				return r.people.Insert(r.t.Context(), tx, person{ID: id, Team: "t", Mail: id + "@example.com"})
			}
			if err != nil {
				return err
			}
			rec.Value.N++
			return r.people.Replace(r.t.Context(), tx, rec)
		})
		if !errors.Is(err, store.ErrUnavailable) {
			break
		}
	}
	if err != nil {
		r.t.Errorf("%s: %v", id, err)
	}
}

// missing are those of the first n persons of a kind that a query finds not.
func (r *release) missing(index, kind string, n int) (out []string) {
	r.t.Helper()
	err := r.View(r.t.Context(), func(tx store.Tx) error {
		matches := map[string]bool{}
		q := store.Query{Index: index}
		if index != "by_mail" {
			q.Equal = []store.Value{store.String("t")}
		}
		all, err := r.people.Find(r.t.Context(), tx, q)
		for _, rec := range all {
			matches[rec.Value.ID] = true
		}
		out = nil
		for i := range n {
			if id := fmt.Sprint(kind, i); !matches[id] {
				out = append(out, id)
			}
		}
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
	return out
}

// TestTwoReleasesAtATime: the older one adds and changes records while the newer one starts and
// works. Each finds at once what it can find; the newer one's own indexes have what the older
// one wrote after a few seconds.
func TestTwoReleasesAtATime(t *testing.T) {
	const each = 40
	url := database(t)
	older := newRelease(t, url, false)
	for i := range each {
		older.put(fmt.Sprint("first", i))
	}
	var working sync.WaitGroup
	begun := make(chan struct{})
	working.Go(func() {
		for i := range each {
			older.put(fmt.Sprint("older", i))
			older.put(fmt.Sprint("first", i))
			if i == 0 {
				close(begun)
			}
		}
	})
	<-begun
	newer := newRelease(t, url, true)
	for i := range each {
		newer.put(fmt.Sprint("newer", i))
		for _, index := range []string{"by_team", "by_mail", "by_number"} {
			if lost := newer.missing(index, "newer", i+1); lost != nil {
				t.Errorf("the newer release finds none of %q %s", lost, index)
			}
		}
		if lost := older.missing("by_team", "newer", i+1); lost != nil {
			t.Errorf("the older release finds none of %q", lost)
		}
	}
	working.Wait()
	for i := range each {
		older.put(fmt.Sprint("newer", i)) // which knows not all of it
	}
	for _, kind := range []string{"first", "older", "newer"} {
		if lost := older.missing("by_team", kind, each); lost != nil {
			t.Errorf("the older release finds none of %q", lost)
		}
		for _, index := range []string{"by_team", "by_mail", "by_number"} {
			lost := newer.missing(index, kind, each)
			for end := time.Now().Add(20 * time.Second); lost != nil && index != "by_team" && time.Now().Before(end); {
				lost = newer.missing(index, kind, each)
			}
			if lost != nil {
				t.Errorf("the newer release finds none of %q %s", lost, index)
			}
		}
	}
}
