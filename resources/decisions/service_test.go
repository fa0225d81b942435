package decisions_test

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

const account = "acct-a-v1"

// gone is a gateway that does not answer.
type gone struct{}

func (gone) Ask(context.Context, *decisions.Question) (*decisions.Answer, error) {
	return nil, errors.New("gone")
}

// member is a gateway with a log.
type member struct {
	decisions.Folder
	log *decisionlog.Log
}

func newMember(t *testing.T) *member {
	t.Helper()
	dir := t.TempDir()
	log := must.Get(decisionlog.Open(t.Context(), decisionlog.Options{
		Dir: dir, Required: true, Size: 1 << 20, Age: time.Hour, Secrets: [][]byte{make([]byte, 32)}, Input: input, Now: time.Now,
	}))(t)
	t.Cleanup(func() { _ = log.Close() })
	return &member{decisions.Folder{Dir: dir, Input: input, Turns: gate.New(2, 100)}, log}
}

func input(*resources.Judgement) ([]byte, error) { return []byte(`{"now":1}`), nil }

// decide records a verdict at this time.
func (m *member) decide(t *testing.T, id string, moment int64, change ...func(*resources.Judgement)) {
	t.Helper()
	j := &resources.Judgement{ID: id, Path: resources.PathDecision, Question: resources.Question{AccountID: account, Now: resources.Time(moment)}}
	for _, c := range change {
		c(j)
	}
	must.Do(t, m.log.Record(t.Context(), j))
}

// fleet is the service of the first of several gateways.
type fleet struct {
	*decisions.Service
	peers  map[string]decisions.Source
	denied error
}

func newFleet(t *testing.T, local *member, rest ...*member) *fleet {
	t.Helper()
	tokens := must.Get(wire.NewPageTokens([][]byte{make([]byte, 32)}))(t)
	f := &fleet{peers: map[string]decisions.Source{}}
	for i, m := range rest {
		f.peers[fmt.Sprint("gateway-", i)] = m
	}
	f.Service = decisions.New(decisions.Config{
		Own: local, Watch: local.log.Watch, Tokens: tokens, Now: time.Now, Others: func(context.Context) map[string]decisions.Source { return f.peers },
		Authorize: func(context.Context, resources.Principal, string, string) error { return f.denied },
	})
	return f
}

type listed struct {
	Decisions []struct {
		ID    string             `json:"decision_id"`
		Input json.RawMessage    `json:"input"`
		Place *decisionlog.Place `json:"place"`
	} `json:"decisions"`
	Next     string   `json:"next_page_token"`
	After    string   `json:"after"`
	LeftOut  bool     `json:"left_out"`
	Complete bool     `json:"complete"`
	Missing  []string `json:"missing"`
}

func (l *listed) ids() (out []string) {
	for _, d := range l.Decisions {
		out = append(out, d.ID)
	}
	return out
}

func (f *fleet) ask(query url.Values, place any) (l listed, r wire.Response, err error) {
	return f.askIn(context.Background(), query, place)
}

func (f *fleet) askIn(ctx context.Context, query url.Values, place any) (l listed, r wire.Response, err error) {
	r, err = f.Routes()["decision.list"](ctx, &wire.Request{
		Params: map[string]string{"accountId": account}, Query: query.Encode(), Principal: resources.Principal{Kind: resources.PrincipalUser}, Place: place,
	})
	if err != nil {
		return l, r, err
	}
	raw, err := json.Marshal(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	return l, r, err
}

func (f *fleet) list(t *testing.T, query url.Values) listed {
	t.Helper()
	l, _ := must.Two(f.ask(query, nil))(t)
	return l
}

// TestPagesOfAFleetAreWhole guarantees each decision of all gateways once, in the order of time, by page and by cursor,
// with a gateway that is named twice.
func TestPagesOfAFleetAreWhole(t *testing.T) {
	members := []*member{newMember(t), newMember(t), newMember(t)}
	f := newFleet(t, members[0], members[1], members[2], members[2])
	began := f.list(t, nil)
	var want []string
	for n := range 40 {
		id := fmt.Sprintf("d-%02d", n)
		members[rand.IntN(3)].decide(t, id, 1000+int64(n))
		want = append(want, id)
		members[rand.IntN(3)].decide(t, "other", 1000+int64(n), func(j *resources.Judgement) { j.Question.AccountID = "acct-b-v1" })
	}
	var got []string
	for after, more := began.After, true; more; {
		l := f.list(t, url.Values{"after": {after}, "page_size": {"7"}})
		got, after, more = append(got, l.ids()...), l.After, len(l.Decisions) > 0
	}
	if !slices.Equal(got, want) {
		t.Errorf("by cursor %v", got)
	}
	got = nil
	for token, more := "", true; more; {
		l := f.list(t, url.Values{"page_token": {token}, "page_size": {"7"}})
		if token == "" {
			l = f.list(t, url.Values{"page_size": {"7"}})
		}
		if !l.Complete {
			t.Errorf("%+v", l)
		}
		got, token, more = append(got, l.ids()...), l.Next, l.Next != ""
	}
	if slices.Reverse(want); !slices.Equal(got, want) {
		t.Errorf("by page %v", got)
	}
}

// TestAListAndItsFollowerShareNothing guarantees of decisions recorded beside a list that each one is in the list or behind
// its cursor, and none in both.
func TestAListAndItsFollowerShareNothing(t *testing.T) {
	m := newMember(t)
	f := newFleet(t, m)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := range 25 {
				m.decide(t, fmt.Sprintf("d-%d-%02d", w, n), int64(1000+n))
			}
		})
	}
	written := make(chan struct{})
	go func() { writers.Wait(); close(written) }()
	var lists []listed
	for under := true; under; {
		select {
		case <-written:
			under = false
		default:
			lists = append(lists, f.list(t, url.Values{"page_size": {"100"}}))
		}
	}
	for _, l := range lists {
		after := f.list(t, url.Values{"page_size": {"100"}, "after": {l.After}})
		got := append(l.ids(), after.ids()...)
		if slices.Sort(got); len(got) != 100 || len(slices.Compact(got)) != 100 {
			t.Errorf("%d decisions of 100, after a list of %d", len(got), len(l.Decisions))
		}
	}
}

// TestInputsAreLeftOut guarantees with inputs=false the same decisions without what policy read, of every gateway and kind,
// by page and to followers, also beside a follower that wants the inputs. A page token goes on as its list began.
func TestInputsAreLeftOut(t *testing.T) {
	local, other := newMember(t), newMember(t)
	f := newFleet(t, local, other)
	began := f.list(t, nil)
	for n := range 4 {
		[]*member{local, other}[n%2].decide(t, fmt.Sprint("d-", n), 1000+int64(n), func(j *resources.Judgement) {
			if n == 3 {
				j.Path, j.Call = resources.PathMCPCall, &resources.MCPCall{Server: "files", Method: "tools/call", Name: "read"}
			}
		})
	}
	for name, query := range map[string]url.Values{
		"by page": {}, "to a follower": {"after": {began.After}}, "the newest to a follower": {"after": {began.After}, "newest": {"true"}},
	} {
		whole := f.list(t, query)
		query.Set("inputs", "false")
		bare := f.list(t, query)
		if len(whole.Decisions) != 4 || !slices.Equal(whole.ids(), bare.ids()) {
			t.Errorf("%s: %v with inputs, %v without", name, whole.ids(), bare.ids())
		}
		for i := range whole.Decisions {
			if whole.Decisions[i].Input == nil || bare.Decisions[i].Input != nil {
				t.Errorf("%s: %s with inputs, %s without", name, whole.Decisions[i].Input, bare.Decisions[i].Input)
			}
		}
	}
	first := f.list(t, url.Values{"inputs": {"false"}, "page_size": {"2"}})
	if l, _, err := f.ask(url.Values{"page_size": {"2"}, "page_token": {first.Next}}, nil); err == nil {
		t.Errorf("the token of a list without inputs goes on with them: %+v", l)
	}
	if l := f.list(t, url.Values{"inputs": {"false"}, "page_size": {"2"}, "page_token": {first.Next}}); len(l.Decisions) != 2 {
		t.Errorf("%+v", l)
	}
}

// TestADecisionIsFoundByItsID guarantees it on any gateway, and that the search looks around the time in the id alone. The
// answer has the place of the decision in its log, and for users no numbers that other accounts' decisions move.
func TestADecisionIsFoundByItsID(t *testing.T) {
	local, other := newMember(t), newMember(t)
	f := newFleet(t, local, other)
	ids := resources.IDs{Now: time.Now, Random: crand.Reader}
	made := time.Now().UnixMilli()
	near, away, foreign := ids.ULID(), ids.ULID(), ids.ULID()
	other.decide(t, near, made-30_000)
	local.decide(t, away, made-300_000)
	local.decide(t, foreign, made, func(j *resources.Judgement) { j.Question.AccountID = "acct-b-v1" })
	for id, want := range map[string][]string{near: {near}, away: nil, foreign: nil} {
		l := f.list(t, url.Values{"id": {id}})
		if !slices.Equal(l.ids(), want) {
			t.Errorf("%s: %+v, want %v", id, l, want)
		}
		for _, d := range l.Decisions {
			if d.Place == nil || len(d.Place.Hash) != 43 || d.Place.Segment+d.Place.Line != 0 {
				t.Errorf("%s is at %+v", id, d.Place)
			}
		}
	}
	if l := f.list(t, url.Values{}); len(l.Decisions) == 0 || l.Decisions[0].Place != nil {
		t.Errorf("a list: %+v", l)
	}
	a := must.Get(other.Ask(t.Context(), &decisions.Question{Filter: decisionlog.Filter{ID: near}, Size: 1, Within: 10_000, Strangers: true}))(t)
	var e decisionlog.Event
	if must.Do(t, json.Unmarshal(a.Rows[0].Event, &e)); e.Place == nil || e.Place.Segment != 1 || e.Place.Line < 2 {
		t.Errorf("for a service: %s", a.Rows[0].Event)
	}
}

// TestAMissingGatewayIsNamed, and what it has comes once it is back.
func TestAMissingGatewayIsNamed(t *testing.T) {
	local, other := newMember(t), newMember(t)
	f := newFleet(t, local, other)
	began := f.list(t, nil)
	now := time.Now().UnixMilli()
	local.decide(t, "own", now)
	other.decide(t, "other", now)
	f.peers["gateway-0"] = gone{}
	l := f.list(t, url.Values{"after": {began.After}})
	if l.Complete || !slices.Equal(l.Missing, []string{"gateway-0"}) || !slices.Equal(l.ids(), []string{"own"}) {
		t.Errorf("%+v", l)
	}
	if page := f.list(t, nil); page.Complete || !slices.Equal(page.ids(), []string{"own"}) {
		t.Errorf("%+v", page)
	}
	f.peers["gateway-0"] = other
	if l = f.list(t, url.Values{"after": {l.After}}); !l.Complete || !slices.Equal(l.ids(), []string{"other"}) {
		t.Errorf("once it is back: %+v", l)
	}
}

// TestARevokedReaderGetsNoRows guarantees it for one whose right ends while the log is read.
func TestARevokedReaderGetsNoRows(t *testing.T) {
	local := newMember(t)
	f := newFleet(t, local)
	began := f.list(t, nil)
	local.decide(t, "d", 1000)
	f.denied = resources.Denied("revoked")
	for _, query := range []url.Values{nil, {"after": {began.After}}} {
		if l, _, err := f.ask(query, nil); !resources.IsKind(err, resources.KindForbidden) || len(l.Decisions) > 0 {
			t.Errorf("%v: %+v %v", query, l, err)
		}
	}
}

// TestAFollowerIsWokenByItsAccount, not by others and not by those who read the decisions, and then misses nothing.
func TestAFollowerIsWokenByItsAccount(t *testing.T) {
	local := newMember(t)
	f := newFleet(t, local)
	query := url.Values{"after": {f.list(t, nil).After}, "wait": {"30s"}}
	asleep := func(r wire.Response) bool {
		select {
		case <-r.Wake:
			return false
		default:
			return r.Wait == 30*time.Second && r.Waiters != nil
		}
	}
	_, r, err := f.ask(query, nil)
	if err != nil || !asleep(r) {
		t.Fatalf("%+v %v", r, err)
	}
	local.decide(t, "foreign", 1000, func(j *resources.Judgement) { j.Question.AccountID = "acct-b-v1" })
	if !asleep(r) {
		t.Error("another account's decision wakes it")
	}
	l, r, err := f.ask(query, r.Place)
	if err != nil || len(l.Decisions) > 0 || !asleep(r) {
		t.Fatalf("%+v %v", l, err)
	}
	read, _ := resources.ParseAction(decisions.ActionRead)
	local.decide(t, "reading", 1001, func(j *resources.Judgement) {
		j.Path, j.Question.Action, j.Decision.Allowed = resources.PathAccess, read, true
	})
	if l, r, err = f.ask(query, r.Place); err != nil || len(l.Decisions) > 0 {
		t.Fatalf("a reader's own call: %+v %v", l, err)
	}
	local.decide(t, "d", 1002)
	if asleep(r) {
		t.Error("it sleeps on")
	}
	if l, _, err = f.ask(query, r.Place); err != nil || !slices.Equal(l.ids(), []string{"d"}) {
		t.Errorf("%+v %v", l, err)
	}
}

// TestWaitersAreBounded guarantees a refusal for one more than MaxWaiters.
func TestWaitersAreBounded(t *testing.T) {
	f := newFleet(t, newMember(t))
	_, r := must.Two(f.ask(url.Values{"after": {f.list(t, nil).After}, "wait": {"1s"}}, nil))(t)
	for range decisions.MaxWaiters {
		must.Do(t, r.Waiters.TryEnter())
	}
	if err := r.Waiters.TryEnter(); !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("one too many: %v", err)
	}
}

// TestTheBeginningOfTimeIsABound guarantees that until=1970-01-01T00:00:00Z gives no later decision. Its number is 0, as
// that of a search without a bound.
func TestTheBeginningOfTimeIsABound(t *testing.T) {
	local := newMember(t)
	local.decide(t, "a", 1000)
	f := newFleet(t, local)
	for _, name := range []string{"1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00.999Z"} {
		if l := f.list(t, url.Values{"until": {name}}); len(l.Decisions) > 0 {
			t.Errorf("until %s: %v", name, l.ids())
		}
		if l := f.list(t, url.Values{"since": {name}}); len(l.Decisions) != 1 {
			t.Errorf("since %s: %v", name, l.ids())
		}
	}
}
