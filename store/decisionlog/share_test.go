package decisionlog_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// holder is a tree without a mask that holds the writer at the first verdict until it is let go.
type holder struct {
	mask
	once        sync.Once
	held, letGo chan struct{}
}

func newHolder() *holder { return &holder{held: make(chan struct{}), letGo: make(chan struct{})} }

func (h *holder) Masks() bool {
	h.once.Do(func() { close(h.held) })
	<-h.letGo
	return false
}

// stuck is a log whose writer has one verdict and waits until it is let go.
func stuck(t *testing.T, required bool) (w *world, l *decisionlog.Log, letGo func()) {
	t.Helper()
	w = newWorld(t)
	h := newHolder()
	w.change = func(o *decisionlog.Options) { o.Required, o.Mask, o.Input = required, h, appInput }
	l = w.open(t)
	go func() { _ = l.Record(context.Background(), verdicts("acct-first-v1", "first", 1)...) }()
	<-h.held
	return w, l, func() { close(h.letGo) }
}

// verdicts are so many about a user of the account.
func verdicts(account, id string, many int) []*resources.Judgement {
	action, _ := resources.ParseAction("project:instance:read")
	out := make([]*resources.Judgement, many)
	for n := range out {
		out[n] = &resources.Judgement{ID: fmt.Sprintf("%s-%03d", id, n), Path: resources.PathDecision, Question: resources.Question{
			Principal: resources.Principal{Kind: resources.PrincipalUser, ID: "user-a-v1", AccountID: account},
			Action:    action, AccountID: account, Now: 1,
		}}
	}
	return out
}

// recorded counts the records by the first word of their ids, and returns them in their order.
func (w *world) recorded(t *testing.T, l *decisionlog.Log) (ids []string, count map[string]int) {
	t.Helper()
	must.Do(t, l.Close())
	ids, count = w.ids(t), map[string]int{}
	for _, id := range ids {
		name, _, _ := strings.Cut(id, "-")
		count[name]++
	}
	return ids, count
}

// TestAnAccountTakesNoRoomOfOthers: its batches fill the queue, and each verdict of others has room. What is lost is the
// account's, which the log, the metrics and the log of the process name.
func TestAnAccountTakesNoRoomOfOthers(t *testing.T) {
	w, l, letGo := stuck(t, false)
	for n := range 200 {
		must.Do(t, l.Record(t.Context(), verdicts("acct-a-v1", fmt.Sprintf("a-%d", n), 100)...))
	}
	for n := range 500 {
		must.Do(t, l.Record(t.Context(), verdicts("acct-b-v1", fmt.Sprintf("b-%d", n), 1)...))
	}
	for n := range 20 {
		must.Do(t, l.Record(t.Context(), verdicts(fmt.Sprintf("acct-%d-v1", n), "c", 100)...))
		must.Do(t, l.Record(t.Context(), verdicts("acct-a-v1", fmt.Sprintf("a-%d", 200+n), 100)...))
	}
	letGo()
	_, got := w.recorded(t, l)
	s := l.Stats()
	if got["b"] != 500 || got["c"] != 2000 || got["a"] < 10_000 || got["a"]+int(s.Lost) != 22_000 {
		t.Errorf("%v, and %d are lost", got, s.Lost)
	}
	r := w.verify(t)
	for name, lost := range map[string]map[string]uint64{"the metrics": s.LostOf, "the log": r.LostOf} {
		if !maps.Equal(lost, map[string]uint64{"acct-a-v1": s.Lost}) {
			t.Errorf("%s: %v of %d", name, lost, s.Lost)
		}
	}
	if len(r.Findings) > 0 || r.Lost != s.Lost || !strings.Contains(w.said.text, "acct-a-v1: ") {
		t.Errorf("%+v, %s", r, w.said.text)
	}
}

// door is a tree without a mask that holds the writer while the door is closed.
type door struct {
	mask
	closed sync.Mutex
}

func (d *door) Masks() bool {
	d.closed.Lock()
	defer d.closed.Unlock()
	return false
}

// TestTheLogCountsEveryLoss guarantees that the numbers in the process's log add up to the lost verdicts, also if they were
// lost in several crowds within the time of one line.
func TestTheLogCountsEveryLoss(t *testing.T) {
	w, d := newWorld(t), &door{}
	w.change = func(o *decisionlog.Options) { o.Required, o.Mask, o.Input = false, d, appInput }
	l := w.open(t)
	for _, account := range []string{"acct-a-v1", "acct-b-v1", "acct-a-v1"} {
		d.closed.Lock()
		for n := range 60 {
			must.Do(t, l.Record(t.Context(), verdicts(account, fmt.Sprintf("%d", n), 500)...))
		}
		d.closed.Unlock()
		harness.Soon(t, "all that waits is written", func() bool { return l.Stats().Waiting == 0 })
	}
	must.Do(t, l.Close())
	logged, byAccount := 0, map[string]uint64{}
	for _, line := range regexp.MustCompile(`faster than .* decisions=(\d+) accounts="([^"]*)"`).FindAllStringSubmatch(w.said.all(), -1) {
		logged += must.Get(strconv.Atoi(line[1]))(t)
		for _, part := range strings.Split(line[2], ", ") {
			account, many, _ := strings.Cut(part, ": ")
			byAccount[account] += must.Get(strconv.ParseUint(many, 10, 64))(t)
		}
	}
	if s := l.Stats(); s.Lost == 0 || uint64(logged) != s.Lost || !maps.Equal(byAccount, s.LostOf) {
		t.Errorf("the log has %d, %v of %d, %v: %s", logged, byAccount, s.Lost, s.LostOf, w.said.all())
	}
}

// TestBatchesGiveWayToAnAccountWithLess, also if no account has more than half of the queue.
func TestBatchesGiveWayToAnAccountWithLess(t *testing.T) {
	w, l, letGo := stuck(t, false)
	for n := range 54 {
		for _, name := range []string{"a", "b", "d"} {
			must.Do(t, l.Record(t.Context(), verdicts("acct-"+name+"-v1", fmt.Sprintf("%s-%d", name, n), 100)...))
		}
	}
	for n := range 2 {
		must.Do(t, l.Record(t.Context(), verdicts("acct-c-v1", fmt.Sprintf("c-%d", n), 100)...))
	}
	letGo()
	if _, got := w.recorded(t, l); got["c"] != 200 || got["a"]+got["b"]+got["d"] != 16_100 {
		t.Errorf("%v", got)
	}
}

// TestVerdictsThatComeAloneGoFirst guarantees that a single verdict reaches the queue and the disk before an earlier batch,
// also of the same account.
func TestVerdictsThatComeAloneGoFirst(t *testing.T) {
	w, l, letGo := stuck(t, false)
	for n := range 200 {
		must.Do(t, l.Record(t.Context(), verdicts("acct-a-v1", fmt.Sprintf("a-%d", n), 100)...))
	}
	for n := range 300 {
		must.Do(t, l.Record(t.Context(), verdicts("acct-a-v1", fmt.Sprintf("s-%d", n), 1)...))
	}
	letGo()
	ids, got := w.recorded(t, l)
	if got["s"] != 300 || strings.Contains(fmt.Sprint(ids[1:301]), "a-") {
		t.Errorf("%v, first are %v", got, ids[:5])
	}
}

// TestAccountsWithBatchesTakeTurns: what came earlier of one account is not all written before another account's.
func TestAccountsWithBatchesTakeTurns(t *testing.T) {
	w, l, letGo := stuck(t, false)
	for _, name := range []string{"a", "b"} {
		for n := range 20 {
			must.Do(t, l.Record(t.Context(), verdicts("acct-"+name+"-v1", fmt.Sprintf("%s-%d", name, n), 100)...))
		}
	}
	letGo()
	ids, _ := w.recorded(t, l)
	if len(ids) != 4001 || !strings.HasPrefix(ids[1], "a-0-") || !strings.HasPrefix(ids[101], "b-0-") || !strings.HasPrefix(ids[201], "a-1-") {
		t.Errorf("%d verdicts, in the order %s, %s, %s", len(ids), ids[1], ids[101], ids[201])
	}
}

// TestABatchAboutSeveralAccountsIsItsCallers: a service takes no room in the name of each account that it asks about.
func TestABatchAboutSeveralAccountsIsItsCallers(t *testing.T) {
	w, l, letGo := stuck(t, false)
	for n := range 9000 {
		batch := slices.Concat(verdicts(fmt.Sprintf("acct-%d-v1", n), fmt.Sprintf("a-%d", n), 1), verdicts("acct-b-v1", fmt.Sprintf("c-%d", n), 1))
		for _, j := range batch {
			j.Question.Principal = resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}
		}
		must.Do(t, l.Record(t.Context(), batch...))
	}
	letGo()
	_, got := w.recorded(t, l)
	if s := l.Stats(); !maps.Equal(s.LostOf, map[string]uint64{"service-a": s.Lost}) || s.Lost == 0 {
		t.Errorf("%v of %d are lost, %v", s.LostOf, s.Lost, got)
	}
}

// TestNoAccountHasMoreThanHalf guarantees that an account gives up what it has beyond half of the queue to another one,
// also single verdicts.
func TestNoAccountHasMoreThanHalf(t *testing.T) {
	for name, each := range map[string]int{"alone": 1, "batches": 64} {
		w, l, letGo := stuck(t, false)
		for n := range 16_384 {
			must.Do(t, l.Record(t.Context(), verdicts("acct-a-v1", fmt.Sprintf("a-%d", n), 1)...))
		}
		for n := range 16_384 / each {
			must.Do(t, l.Record(t.Context(), verdicts("acct-b-v1", fmt.Sprintf("b-%d", n), each)...))
		}
		letGo()
		if _, got := w.recorded(t, l); got["a"] < 8192-each || got["b"] < 8192-each || got["a"]+got["b"] > 16_384 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestLargeVerdictsTakeNoRoomOfOthers: room is in bytes, too.
func TestLargeVerdictsTakeNoRoomOfOthers(t *testing.T) {
	w, l, letGo := stuck(t, false)
	large := func(account, id string) []*resources.Judgement {
		all := verdicts(account, id, 2)
		for _, j := range all {
			j.Path, j.Question.App = resources.PathApps+"a/decision", &resources.Entities{
				ResourceType: "doc", Subject: []byte(`{}`), Resource: []byte(`{}`), Context: []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`),
			}
		}
		return all
	}
	for n := range 100 { // more verdicts, and fewer bytes
		must.Do(t, l.Record(t.Context(), verdicts("acct-b-v1", fmt.Sprintf("s-%d", n), 2)...))
	}
	for n := range 60 {
		must.Do(t, l.Record(t.Context(), large("acct-a-v1", fmt.Sprintf("a-%d", n))...))
	}
	for n := range 10 {
		must.Do(t, l.Record(t.Context(), large("acct-b-v1", fmt.Sprintf("b-%d", n))...))
	}
	letGo()
	if _, got := w.recorded(t, l); got["b"] != 20 || got["s"] != 200 || got["a"] < 20 {
		t.Errorf("%v", got)
	}
}

// TestRequiredVerdictsThatGiveWayAreNotTold: whose verdicts make room for another account's gets an error, and nothing is
// lost.
func TestRequiredVerdictsThatGiveWayAreNotTold(t *testing.T) {
	w, l, letGo := stuck(t, true)
	var all sync.WaitGroup
	var mu sync.Mutex
	answered, gaveWay := []string{"first-000"}, make(chan struct{}, 163)
	ask := func(asked []*resources.Judgement) {
		all.Go(func() {
			err := l.Record(t.Context(), asked...)
			if err != nil && (asked[0].Question.AccountID != "acct-a-v1" || !resources.IsKind(err, resources.KindUnavailable)) {
				t.Errorf("%s: %v", asked[0].ID, err)
			}
			if err != nil {
				gaveWay <- struct{}{}
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				for _, j := range asked {
					answered = append(answered, j.ID)
				}
			}
		})
	}
	for n := range 163 {
		ask(verdicts("acct-a-v1", fmt.Sprintf("a-%d", n), 100))
	}
	for l.Stats().Waiting < 16_300 {
		runtime.Gosched()
	}
	for n := range 200 {
		ask(verdicts("acct-b-v1", fmt.Sprintf("b-%d", n), 1))
	}
	<-gaveWay
	letGo()
	all.Wait()
	ids, got := w.recorded(t, l)
	slices.Sort(ids)
	slices.Sort(answered)
	if !slices.Equal(ids, answered) || got["b"] != 200 || got["a"] == 16_300 || l.Stats().Lost != 0 {
		t.Errorf("%d records, %d were told: %v, %+v", len(ids), len(answered), got, l.Stats())
	}
}
