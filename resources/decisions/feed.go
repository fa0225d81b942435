package decisions

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// feedEvery is the time between two looks at the logs for all followers of a feed. feedSoon is enough after a look
// without a decision for them.
const (
	feedEvery = time.Second
	feedSoon  = feedEvery / 4
)

// mostKept bounds the answers of all feeds, in bytes of their decisions.
const mostKept = 32 << 20

// feeds holds the feeds by what their followers want. A feed has the newest decisions of an account that match a filter.
type feeds struct {
	mu  sync.Mutex
	all map[string]*feed
	// kept is the size of the answers since the map was made.
	kept int
}

// feed has one look at the logs at a time. All followers are answered with decisions before it, so their cursors meet,
// and the answer to one of them is that to the others.
type feed struct {
	// turn holds the follower that reads or changes the fields below.
	turn chan struct{}
	// began is the time of the look, and watch watches the log since.
	began time.Time
	watch *decisionlog.Watch
	// ends are the places of the look, nil before its first answer. answers has its answers by the follower's place.
	ends    decisionlog.Places
	answers map[string]*feedAnswer
	// brought says that an answer has decisions.
	brought bool
}

// feedAnswer is the answer to a follower with the place behind it.
type feedAnswer struct {
	body  listBody
	place place
}

// find returns the feed for what a follower wants.
func (f *feeds) find(want *input) *feed {
	key := want.binding + "\n" + strconv.Itoa(want.size) + "\n" + strconv.FormatBool(want.strangers)
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.all[key]
	if one == nil {
		if len(f.all) == 0 || len(f.all) >= MaxWaiters {
			f.all, f.kept = map[string]*feed{}, 0 // those with followers are made again
		}
		one = &feed{turn: make(chan struct{}, 1)}
		f.all[key] = one
	}
	return one
}

// keep counts an answer. At the bound it forgets all feeds, since a reader of an account can ask with many filters.
func (f *feeds) keep(body *listBody) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept += len(body.After)
	for _, event := range body.Decisions {
		f.kept += len(event)
	}
	if f.kept > mostKept {
		f.all = nil
	}
}

// latest answers with the newest decisions behind the cursor, the newest first.
func (s *Service) latest(ctx context.Context, r *wire.Request, want *input) (wire.Response, error) {
	if before, resumed := r.Place.(place); resumed {
		want.start = before
	}
	a, watch, err := s.feeds.find(want).answer(ctx, s, want)
	if err != nil {
		return wire.Response{}, err
	}
	if len(a.body.Decisions) > 0 || a.body.LeftOut {
		return s.shown(ctx, r, want, a.body)
	}
	answer, err := wire.OK(a.body)
	answer.Wait, answer.Wake, answer.Waiters, answer.Place = want.wait, watch.Written, s.waiters, a.place
	return answer, err
}

// answer returns the answer to a follower, and what watches the log since the look.
func (f *feed) answer(ctx context.Context, s *Service, want *input) (*feedAnswer, *decisionlog.Watch, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, nil, late(ctx)
	}
	if now := s.Now(); f.due(now) { // the log is watched before it is read
		f.began, f.watch, f.ends, f.answers, f.brought = now, s.Watch(want.filter.Account), nil, map[string]*feedAnswer{}, false
	}
	key, err := json.Marshal(want.start.Places)
	if err != nil {
		return nil, nil, err
	}
	a := f.answers[string(key)]
	if a == nil {
		m := s.newest(ctx, want, f.ends)
		if err := m.err(); err != nil {
			return nil, nil, err
		}
		f.ends = m.places
		a = &feedAnswer{m.body(), place{resources.At(f.began), m.places}}
		a.body.After, a.body.LeftOut = s.seal(a.place, want.cursors), m.more
		f.answers[string(key)], f.brought = a, f.brought || len(m.rows) > 0
		s.feeds.keep(&a.body)
	}
	return a, f.watch, nil
}

// due reports whether it is time for the next look.
func (f *feed) due(now time.Time) bool {
	age := now.Sub(f.began)
	return f.watch == nil || age >= feedEvery || age >= feedSoon && !f.brought && !f.watch.Quiet()
}

// newest returns the newest decisions behind the place of a follower and before the ends, which are those of the logs if
// they are nil. It leaves out allows before denials.
func (s *Service) newest(ctx context.Context, want *input, ends decisionlog.Places) *merged {
	q := want.question()
	q.Places, q.Floor = ends, want.start.Places
	all := s.ask(ctx, want, q)
	if all.err() != nil || !all.more || want.filter.Allowed != nil {
		return all
	}
	allowed := false
	q.Filter.Allowed, q.Places = &allowed, all.places
	denied := s.ask(ctx, want, q)
	for _, row := range all.rows {
		if has := slices.ContainsFunc(denied.rows, func(d Row) bool { return d.ID == row.ID }); !has && len(denied.rows) < want.size {
			denied.rows = append(denied.rows, row)
		}
	}
	slices.SortStableFunc(denied.rows, func(a, b Row) int { return cmp.Compare(b.At, a.At) })
	denied.more = true
	return denied
}
