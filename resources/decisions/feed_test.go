package decisions_test

import (
	"context"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// counted counts the questions to a gateway.
type counted struct {
	decisions.Source
	asked atomic.Int64
}

func (c *counted) Ask(ctx context.Context, q *decisions.Question) (*decisions.Answer, error) {
	c.asked.Add(1)
	return c.Source.Ask(ctx, q)
}

// feed is a fleet with a clock that stands, and the number of questions to its first log.
type feed struct {
	*fleet
	source *counted
	now    time.Time
}

func newFeed(t *testing.T, local *member, rest ...*member) *feed {
	t.Helper()
	local.Index = &decisionlog.Index{}
	f := &feed{fleet: newFleet(t, local, rest...), source: &counted{Source: local}, now: time.Now()}
	f.Own, f.Now = f.source, func() time.Time { return f.now }
	return f
}

// cursor returns a cursor behind all decisions.
func (f *feed) cursor(t *testing.T) string { return f.list(t, nil).After }

// latest returns what a follower of the newest decisions gets, at most three.
func (f *feed) latest(t *testing.T, after string, more ...string) listed {
	t.Helper()
	query := url.Values{"after": {after}, "newest": {"true"}, "page_size": {"3"}}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return f.list(t, query)
}

func allowed(j *resources.Judgement) { j.Decision.Allowed = true }

// TestFollowersOfTheNewest guarantees the newest decisions behind a cursor and nothing twice, with another gateway, and
// with one that is named twice.
func TestFollowersOfTheNewest(t *testing.T) {
	local, other := newMember(t), newMember(t)
	f := newFeed(t, local, other, other)
	after := f.cursor(t)
	for n := range 4 {
		local.decide(t, fmt.Sprint("a", n), 1000+int64(n))
		other.decide(t, fmt.Sprint("b", n), 2000+int64(n))
	}
	l := f.latest(t, after)
	if !slices.Equal(l.ids(), []string{"b3", "b2", "b1"}) || !l.LeftOut || !l.Complete {
		t.Errorf("%+v", l)
	}
	local.decide(t, "c", 3000)
	other.decide(t, "foreign", 3001, func(j *resources.Judgement) { j.Question.AccountID = "acct-b-v1" })
	other.decide(t, "d", 3002)
	f.now = f.now.Add(time.Second)
	if l = f.latest(t, l.After); !slices.Equal(l.ids(), []string{"d", "c"}) || l.LeftOut {
		t.Errorf("%+v", l)
	}
	f.now = f.now.Add(time.Second)
	if l = f.latest(t, l.After); len(l.Decisions) > 0 || l.LeftOut {
		t.Errorf("again %+v", l)
	}
}

// asked is a gateway that tells of each question, and answers at the end of its context.
type asked chan struct{}

func (a asked) Ask(ctx context.Context, _ *decisions.Question) (*decisions.Answer, error) {
	a <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestAReadingOutOfTimeIsRepeated guarantees 503 for a caller whose time ends, in its turn or in its reading. The others
// do not get this reading: it may lack a gateway that had no time to answer.
func TestAReadingOutOfTimeIsRepeated(t *testing.T) {
	local := newMember(t)
	f := newFeed(t, local)
	after := f.cursor(t)
	local.decide(t, "d", 1000)
	slow := asked(make(chan struct{}, 2))
	f.peers["slow"] = slow
	query := url.Values{"after": {after}, "newest": {"true"}}
	late := func(ctx context.Context) {
		if l, _, err := f.askIn(ctx, query, nil); !resources.IsKind(err, resources.KindUnavailable) || len(l.Decisions) > 0 {
			t.Errorf("%v %+v", err, l)
		}
	}
	reading, end := context.WithCancel(t.Context())
	var first sync.WaitGroup
	first.Go(func() { late(reading) })
	<-slow
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late(ended) // in its turn
	end()
	first.Wait()
	delete(f.peers, "slow")
	if l := f.list(t, query); !slices.Equal(l.ids(), []string{"d"}) || !l.Complete {
		t.Errorf("%+v", l)
	}
}

// TestDenialsAreLeftOutLast guarantees each denial among more allows than an answer has.
func TestDenialsAreLeftOutLast(t *testing.T) {
	local := newMember(t)
	f := newFeed(t, local)
	after := f.cursor(t)
	local.decide(t, "denied-1", 1000)
	for n := range 20 {
		local.decide(t, fmt.Sprint("allowed-", n), 1001+int64(n), allowed)
	}
	local.decide(t, "denied-2", 1010)
	if l := f.latest(t, after); !slices.Equal(l.ids(), []string{"allowed-19", "denied-2", "denied-1"}) || !l.LeftOut {
		t.Errorf("%+v", l)
	}
	if l := f.latest(t, after, "verdict", "deny"); !slices.Equal(l.ids(), []string{"denied-2", "denied-1"}) || l.LeftOut {
		t.Errorf("%+v", l)
	}
	if l := f.latest(t, after, "verdict", "allow"); !slices.Equal(l.ids(), []string{"allowed-19", "allowed-18", "allowed-17"}) {
		t.Errorf("%+v", l)
	}
}

// TestFollowersShareALook guarantees one reading of the log a second for all followers with one filter, from
// different cursors, and each decision once for each of them. Another filter, and a service, have a reading of their own.
func TestFollowersShareALook(t *testing.T) {
	local := newMember(t)
	f := newFeed(t, local)
	cursors, got := make([]string, 5), make([][]string, 5)
	var want []string
	decide := func() {
		want = append(want, fmt.Sprint("d", len(want)))
		local.decide(t, want[len(want)-1], int64(1000+len(want)))
	}
	for i := range cursors {
		cursors[i] = f.cursor(t)
		got[i] = slices.Clone(want)
		decide()
	}
	read := func() int64 {
		f.source.asked.Store(0)
		for i := range cursors {
			l := f.latest(t, cursors[i], "page_size", "10")
			ids := l.ids()
			slices.Reverse(ids)
			cursors[i], got[i] = l.After, append(got[i], ids...)
			decide()
		}
		f.now = f.now.Add(time.Second)
		return f.source.asked.Load()
	}
	read()
	for range 3 {
		if n := read(); n != 1 {
			t.Errorf("%d followers have the log read %d times", len(cursors), n)
		}
	}
	f.now = f.now.Add(time.Second)
	for i := range got {
		l := f.latest(t, cursors[i], "page_size", "10")
		ids := l.ids()
		slices.Reverse(ids)
		if all := append(got[i], ids...); !slices.Equal(all, want) {
			t.Errorf("follower %d has %v, want %v", i, all, want)
		}
	}
	f.source.asked.Store(0)
	f.latest(t, cursors[0], "page_size", "10", "verdict", "deny")
	query := url.Values{"after": {cursors[0]}, "newest": {"true"}, "page_size": {"10"}}
	if _, err := f.Routes()["decision.list"](t.Context(), &wire.Request{
		Params: map[string]string{"accountId": account}, Query: query.Encode(), Principal: resources.Principal{Kind: resources.PrincipalService},
	}); err != nil || f.source.asked.Load() != 2 {
		t.Errorf("%v, %d readings", err, f.source.asked.Load())
	}
}

// TestFeedsKeepLittle guarantees a bound of memory for the answers to many filters.
func TestFeedsKeepLittle(t *testing.T) {
	const filters, rows, size = 80, 20, 32 << 10
	local := newMember(t)
	large := []byte(`{"x":"` + strings.Repeat("x", size) + `"}`)
	local.Input = func(*resources.Judgement) ([]byte, error) { return large, nil }
	f := newFeed(t, local)
	after := f.cursor(t)
	for n := range rows {
		local.decide(t, fmt.Sprint("d", n), 1000)
	}
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	for n := range filters {
		l := f.latest(t, after, "page_size", "100", "since", fmt.Sprintf("1970-01-01T00:00:00.%03dZ", n))
		if len(l.Decisions) != rows {
			t.Fatalf("%d decisions", len(l.Decisions))
		}
	}
	if kept := (int64(used()) - int64(before)) >> 20; kept > 40 {
		t.Errorf("the feeds keep %d MiB", kept)
	}
	runtime.KeepAlive(f)
}

// TestAFollowerOfTheNewestIsWoken guarantees that a decision wakes followers, also those after a look without it,
// and is an answer of the next look.
func TestAFollowerOfTheNewestIsWoken(t *testing.T) {
	local := newMember(t)
	f := newFeed(t, local)
	query := url.Values{"after": {f.cursor(t)}, "newest": {"true"}, "wait": {"30s"}}
	asked := func(place any) (listed, wire.Response) {
		t.Helper()
		return must.Two(f.ask(query, place))(t)
	}
	wakes := func(r wire.Response) bool {
		select {
		case <-r.Wake:
			return true
		default:
			return false
		}
	}
	_, r := asked(nil)
	if r.Wait != 30*time.Second || r.Waiters == nil || wakes(r) {
		t.Fatalf("%+v", r)
	}
	local.decide(t, "d", 1000)
	if !wakes(r) {
		t.Error("it sleeps on")
	}
	if l, late := asked(r.Place); len(l.Decisions) == 0 && !wakes(late) {
		t.Error("after a look that is too old, it sleeps on")
	}
	f.now = f.now.Add(250 * time.Millisecond)
	l, r := asked(r.Place)
	if !slices.Equal(l.ids(), []string{"d"}) || r.Wait != 0 {
		t.Errorf("%+v", l)
	}
	f.denied = resources.Denied("revoked")
	if l, _, err := f.ask(query, nil); !resources.IsKind(err, resources.KindForbidden) || len(l.Decisions) > 0 {
		t.Errorf("a revoked reader gets what others got: %+v %v", l, err)
	}
}
