package decisions

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

type listBody struct {
	Decisions     []json.RawMessage `json:"decisions"`
	NextPageToken string            `json:"next_page_token"`
	// After is the cursor behind the newest decision, "" in an answer to a page token.
	After string `json:"after"`
	// LeftOut says that a follower of the newest decisions does not get all behind its cursor.
	LeftOut bool `json:"left_out"`
	// Complete is false where some gateway did not answer, or some line can't be read.
	Complete bool     `json:"complete"`
	Missing  []string `json:"missing"`
}

// merged is the answers of all gateways as one.
type merged struct {
	rows         []Row
	places, ends decisionlog.Places
	more         bool
	unreadable   bool
	missing      []string
	failed       error
}

// err is the error of the own log, or of a reading out of time.
func (m *merged) err() error { return m.failed }

func (m *merged) body() listBody {
	events := make([]json.RawMessage, len(m.rows))
	for i := range m.rows {
		events[i] = m.rows[i].Event
	}
	return listBody{Decisions: events, Complete: !m.unreadable && len(m.missing) == 0, Missing: m.missing}
}

// ask asks all gateways and merges their answers.
func (s *Service) ask(ctx context.Context, want *input, q *Question) *merged {
	m := &merged{missing: []string{}}
	var mu sync.Mutex
	var answers []*Answer
	var asked sync.WaitGroup
	for name, other := range s.Others(ctx) {
		asked.Go(func() {
			a, err := other.Ask(ctx, q)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				m.missing = append(m.missing, name)
				return
			}
			answers = append(answers, a)
		})
	}
	local, err := s.Own.Ask(ctx, q)
	asked.Wait()
	if ctx.Err() != nil { // the silence of the others says nothing about them
		err = late(ctx)
	}
	if err != nil {
		m.failed = err
		return m
	}
	slices.Sort(m.missing)
	m.merge(append(answers, local), want)
	return m
}

// late returns the error of a reading that did not end in the caller's time.
func late(ctx context.Context) error {
	return resources.Unavailable("The decisions could not be read in time; try again.", ctx.Err())
}

// merge takes the next rows of all answers, at most a page. Two gateways on one data folder answer with the same rows,
// and each is taken once.
func (m *merged) merge(answers []*Answer, want *input) {
	places, next := make([]decisionlog.Places, len(answers)), make([]int, len(answers))
	for i, a := range answers {
		places[i] = maps.Clone(want.start.Places)
		if places[i] == nil {
			places[i] = decisionlog.Places{}
		}
		m.more, m.unreadable = m.more || a.More, m.unreadable || a.Unreadable
	}
	taken := map[string]bool{}
	for {
		first := -1
		for i, a := range answers {
			if next[i] < len(a.Rows) && (first < 0 || want.before(&a.Rows[next[i]], &answers[first].Rows[next[first]])) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		row := &answers[first].Rows[next[first]]
		if !taken[row.ID] && len(m.rows) == want.size {
			m.more = true
			break
		}
		next[first]++
		maps.Copy(places[first], row.Passed)
		if !taken[row.ID] {
			taken[row.ID] = true
			m.rows = append(m.rows, *row)
		}
	}
	var ends []decisionlog.Places
	for i, a := range answers {
		if next[i] == len(a.Rows) {
			places[i] = a.Places
		}
		ends = append(ends, a.Ends)
	}
	m.ends = decisionlog.Least(false, ends...)
	if !want.newest {
		m.places = combine(want, answers, places)
		return
	}
	m.places = want.start.Places.Clone()
	for _, a := range answers {
		m.places.Advance(a.Places)
	}
}

// combine returns the places of all answers. Each gateway moves the logs of its own folder; the places of the others are
// where they were.
func combine(want *input, answers []*Answer, places []decisionlog.Places) decisionlog.Places {
	var moved []decisionlog.Places
	for i, a := range answers {
		moved = append(moved, places[i].In(a.Ends, want.start.Places))
	}
	out := decisionlog.Places{}
	maps.Copy(out, want.start.Places)
	maps.Copy(out, decisionlog.Least(!want.follow, moved...))
	return out
}

// before says whether a row comes before another one in the answer.
func (want *input) before(a, b *Row) bool {
	if want.forward() {
		return a.At < b.At
	}
	return a.At > b.At
}
