package decisionlog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestAnIndexChangesNoPage guarantees that pages with an index equal those without one, in both directions and from
// random places, while the log grows, begins new segments and is replaced.
func TestAnIndexChangesNoPage(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Size = 4 << 20 } // segments of 256 KiB
	l := w.open(t)
	plain, indexed := decisionlog.Reader{Dir: w.dir}, decisionlog.Reader{Dir: w.dir, Index: &decisionlog.Index{}}
	var places []decisionlog.Places
	number := 0
	for round := range 60 {
		for range random.IntN(80) {
			number++
			user := fmt.Sprintf("user-%d-v1", random.IntN(1+number))
			j := judgement(t, number)
			j.Question.AccountID = fmt.Sprintf("acct-%d-v1", random.IntN(2))
			j.Question.Facts.Subject = &resources.Subject{UserID: user, UserExists: true}
			if random.IntN(100) == 0 { // longer than a block
				j.Context = []resources.Member{{Name: "long", Value: []byte(`"` + strings.Repeat("x", 150_000) + `"`)}}
			}
			must.Do(t, l.Record(t.Context(), j))
		}
		if round == 30 { // a restart begins a new segment
			must.Do(t, l.Close())
			l = w.open(t)
		}
		search := decisionlog.Search{Size: 1 + random.IntN(30), Deadline: time.Now().Add(time.Minute)}
		search.Account = fmt.Sprintf("acct-%d-v1", random.IntN(3))
		if random.IntN(2) == 0 {
			allowed := random.IntN(2) == 0
			search.Allowed = &allowed
		}
		var begin decisionlog.Places
		if len(places) > 0 && random.IntN(3) > 0 {
			begin = places[random.IntN(len(places))]
		}
		for _, read := range []func(decisionlog.Reader, context.Context, decisionlog.Search, decisionlog.Places) (decisionlog.Page, error){
			decisionlog.Reader.Before, decisionlog.Reader.After,
		} {
			var got, want decisionlog.Page
			for try := 0; try == 0 || try < 5 && !reflect.DeepEqual(got, want); try++ { // a segment may be compressed between the two
				var err error
				want, err = read(plain, t.Context(), search, begin)
				must.Do(t, err)
				got, err = read(indexed, t.Context(), search, begin)
				must.Do(t, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: %d records, want %d; more %v, want %v; places %v, want %v", round, len(got.Records), len(want.Records), got.More, want.More, got.Places, want.Places)
			}
			places = append(places, got.Places)
		}
	}
	must.Do(t, l.Close())
}

// TestAReplacedSegmentIsIndexedAnew guarantees that records of a replaced file never get the facts of the old one.
func TestAReplacedSegmentIsIndexedAnew(t *testing.T) {
	index := &decisionlog.Index{}
	var first *world
	for _, users := range [][]string{{"user-old-v1"}, {"user-with-a-longer-name-v1", "user-new-v1"}} {
		w := newWorld(t)
		l := w.open(t)
		for i, user := range users {
			j := judgement(t, i)
			j.Question.Facts.Subject = &resources.Subject{UserID: user, UserExists: true}
			must.Do(t, l.Record(t.Context(), j))
		}
		if first == nil {
			first = w
		} else {
			const name = "000000000001.log"
			must.Do(t, os.WriteFile(first.file("next"), w.read(t, name), 0o600))
			must.Do(t, os.Rename(first.file("next"), first.file(name)))
		}
		page, err := decisionlog.Reader{Dir: first.dir, Index: index}.After(t.Context(), decisionlog.Search{Size: 9, Deadline: time.Now().Add(time.Minute)}, nil)
		must.Do(t, err)
		var got []string
		for _, r := range page.Records {
			got = append(got, r.Judgement().Question.Facts.Subject.UserID)
		}
		if !slices.Equal(got, users) {
			t.Errorf("%q, want %q", got, users)
		}
	}
}
