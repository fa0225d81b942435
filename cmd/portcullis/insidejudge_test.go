package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// tried is a store that runs each function so many times; all but the last one are undone.
type tried struct {
	store.Store
	times  int
	inside bool
}

func (s *tried) Transact(_ context.Context, fn func(store.Tx) error) (err error) {
	s.inside = true
	defer func() { s.inside = false }()
	for range s.times {
		err = fn(nil)
	}
	return err
}

func (s *tried) View(ctx context.Context, fn func(store.Tx) error) error { return s.Transact(ctx, fn) }

// logged takes verdicts, and must not be called inside a transaction.
type logged struct {
	t     *testing.T
	store *tried
	got   []string
	fails error
}

func (l *logged) Record(_ context.Context, told ...*resources.Judgement) error {
	if l.store.inside {
		l.t.Error("a verdict is recorded inside a transaction")
	}
	for _, j := range told {
		l.got = append(l.got, fmt.Sprintf("%s %t below %s", j.Path, j.Decision.Allowed, j.ParentID))
	}
	return l.fails
}

// TestVerdictsInsideAChangeAreRecordedAfterIt: once, whatever was tried, before the answer, and those of a change that is undone
// only where they are why.
func TestVerdictsInsideAChangeAreRecordedAfterIt(t *testing.T) {
	errOther := errors.New("not now")
	allow, deny := resources.PathGrantable+" true below the-call", resources.PathDecision+" false below the-call"
	for name, c := range map[string]struct {
		ends  []error // of the transactions of the handler
		fails error
		want  []string
	}{
		"committed":                     {[]error{nil}, nil, []string{allow}},
		"denied":                        {[]error{resources.Denied("no")}, nil, []string{deny}},
		"undone":                        {[]error{errOther}, nil, nil},
		"undone after a committed one":  {[]error{nil, errOther}, nil, []string{allow}},
		"two that are committed":        {[]error{nil, nil}, nil, []string{allow, allow}},
		"committed, and not recordable": {[]error{nil}, resources.Unavailable("no", nil), []string{allow}},
	} {
		for times := 1; times < 3; times++ {
			s := &tried{times: times}
			log := &logged{t: t, store: s, fails: c.fails}
			j := &insideJudge{log: log, ids: resources.IDs{Now: time.Now, Random: rand.Reader}}
			area := judged{s}
			handler := j.recording(wire.Routes{"x": func(ctx context.Context, _ *wire.Request) (wire.Response, error) {
				for _, end := range c.ends {
					err := area.Transact(ctx, func(store.Tx) error {
						told := &resources.Judgement{Path: resources.PathGrantable, Decision: resources.Decision{Allowed: true}}
						if resources.IsKind(end, resources.KindForbidden) {
							told = &resources.Judgement{Path: resources.PathDecision}
						}
						return errors.Join(j.record(ctx, told), end)
					})
					if err != nil {
						return wire.Response{}, err
					}
				}
				return wire.Response{Status: 200}, nil
			}})["x"]
			response, err := handler(resources.WithDecision(t.Context(), "the-call"), nil)
			want := c.ends[len(c.ends)-1]
			if c.fails != nil {
				want = c.fails
			}
			if !errors.Is(err, want) || (err == nil) != (response.Status == 200) || !slices.Equal(log.got, c.want) {
				t.Errorf("%s, tried %d times: %v, %+v, %v", name, times, log.got, response, err)
			}
		}
	}
}
