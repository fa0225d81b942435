package verdict_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// inside is policy inside a transaction.
type inside struct {
	d   resources.Decision
	err error
}

func (i *inside) Decide(context.Context, resources.Question) (resources.Decision, error) {
	return i.d, i.err
}

func (i *inside) Grantable(context.Context, resources.Question) (resources.Decision, error) {
	return i.d, i.err
}

// logged takes verdicts, and must not be called inside a transaction.
type logged struct {
	t     *testing.T
	held  bool
	got   []string
	fails error
}

func (l *logged) Record(_ context.Context, judgements ...*resources.Judgement) error {
	if l.held {
		l.t.Error("a verdict is recorded inside a transaction")
	}
	for _, j := range judgements {
		l.got = append(l.got, fmt.Sprintf("%s %t below %s", j.Path, j.Decision.Allowed, j.ParentID))
	}
	return l.fails
}

// TestVerdictsInsideAChangeAreRecordedAfterIt guarantees that a change's verdicts are recorded once, for any number of
// tries, and before the answer. A failed change records only the denials.
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
		"committed, and not recordable": {[]error{nil}, errOther, []string{allow}},
	} {
		for times := 1; times < 3; times++ {
			log, policy := &logged{t: t, fails: c.fails}, &inside{}
			j := judge(&parts{})
			j.Inside, j.Log = policy, log
			transact := func(_ context.Context, fn func(int) error) (err error) {
				log.held = true
				defer func() { log.held = false }()
				for try := range times { // all but the last are undone
					err = fn(try)
				}
				return err
			}
			err := j.Handle(resources.WithDecision(t.Context(), "the-call"), func(ctx context.Context) error {
				for _, end := range c.ends {
					err := verdict.Tried(ctx, transact, func(int) (err error) {
						if policy.d.Allowed = !resources.IsKind(end, resources.KindForbidden); policy.d.Allowed {
							_, err = j.Decide(ctx, resources.Question{}) // nobody sees this verdict
							_, failed := j.Grantable(ctx, resources.Question{})
							return errors.Join(err, failed, end)
						}
						_, err = j.Decide(ctx, resources.Question{})
						return cmp.Or(err, end)
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
			want := c.ends[len(c.ends)-1]
			if c.fails != nil {
				want = c.fails
			}
			if !errors.Is(err, want) || c.fails != nil && !resources.IsKind(err, resources.KindUnavailable) || !slices.Equal(log.got, c.want) {
				t.Errorf("%s, tried %d times: %v, %v", name, times, log.got, err)
			}
		}
	}
}

// TestAnUnrecordedChangeIsToldAsMade guarantees that a client without an answer does not take its change for undone. After
// a refusal nothing was made.
func TestAnUnrecordedChangeIsToldAsMade(t *testing.T) {
	j := judge(&parts{})
	j.Inside, j.Log = &inside{}, &logged{t: t, fails: resources.Unavailable("The decision could not be recorded; try again.", nil)}
	for message, end := range map[string]error{
		"The request was carried out, but a decision in it could not be recorded; read what is there, or try again.": nil,
		"The decision could not be recorded; try again.":                                                             resources.Denied("no"),
	} {
		err := j.Handle(t.Context(), func(ctx context.Context) error {
			_, err := j.Decide(ctx, resources.Question{})
			return cmp.Or(err, end)
		})
		if got := resources.AsError(err); got.Kind != resources.KindUnavailable || got.Message != message {
			t.Errorf("after %v: %+v", end, got)
		}
	}
}

// onTime is a log that records nothing for a call after its time.
type onTime struct{}

func (onTime) Record(ctx context.Context, _ ...*resources.Judgement) error { return ctx.Err() }

// TestAChangeAtTheEndOfItsTimeIsAnswered guarantees the answer to a change that was committed within the time of its call
// and then waited for leases. Its verdicts are recorded all the same.
func TestAChangeAtTheEndOfItsTimeIsAnswered(t *testing.T) {
	j := judge(&parts{})
	j.Inside, j.Log = &inside{}, onTime{}
	ctx, end := context.WithCancel(t.Context())
	err := j.Handle(ctx, func(ctx context.Context) error {
		defer end()
		_, err := j.Decide(ctx, resources.Question{})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNoErrorInsideACallAllows, even beside a decision that allows; outside of a handler a verdict is recorded at once.
func TestNoErrorInsideACallAllows(t *testing.T) {
	policy, log := &inside{d: yes, err: errors.New("broken")}, &logged{t: t}
	j := judge(&parts{})
	j.Inside, j.Log = policy, log
	ask := map[string]func(context.Context, resources.Question) (resources.Decision, error){"decide": j.Decide, "grantable": j.Grantable}
	for name, ask := range ask {
		if d, err := ask(t.Context(), resources.Question{}); d != (resources.Decision{}) || err == nil || len(log.got) > 0 {
			t.Errorf("%s: %+v, %v, recorded %q", name, d, err, log.got)
		}
	}
	policy.err, policy.d, log.fails = nil, resources.Decision{Reason: "no"}, errors.New("full")
	for name, ask := range ask {
		if d, err := ask(t.Context(), resources.Question{}); d != (resources.Decision{}) || !resources.IsKind(err, resources.KindUnavailable) || len(log.got) == 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if err := (*verdict.Judge)(nil).Handle(t.Context(), func(context.Context) error { return log.fails }); !errors.Is(err, log.fails) {
		t.Error(err)
	}
}
