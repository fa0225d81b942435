package outbox_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/outbox"
)

func failing(err error) outbox.Deliverer {
	return deliverFunc(func(context.Context, resources.Message) error { return err })
}

// delays returns the delay after each failure of one message.
func (s *scene) delays(random io.Reader, failures int) (out []time.Duration) {
	s.Helper()
	m := s.invite("Acme", "bob@example.org")
	w := s.worker(failing(errors.New("no")), func(c *outbox.Config) { c.Random = random })
	for range failures {
		s.once(w, 1)
		kept := s.read(m.ID)
		wait := time.Duration(kept.NextAt-resources.At(s.clock.now())) * time.Millisecond
		out = append(out, wait)
		s.clock.pass(wait)
	}
	s.once(s.worker(failing(nil), nil), 1)
	return out
}

func TestBackOffGrowsToAQuarterOfAnHour(t *testing.T) {
	s := newScene(t)
	bound := time.Second
	for i, wait := range s.delays(always(0xff), 14) {
		if wait < bound-2*time.Millisecond || wait > bound {
			t.Errorf("failure %d: waits %v, want up to %v", i+1, wait, bound)
		}
		bound = min(2*bound, 15*time.Minute)
	}
	for i, wait := range s.delays(always(0), 3) {
		if wait != 0 {
			t.Errorf("failure %d: waits %v", i+1, wait)
		}
	}
	for i, wait := range s.delays(always(0x80), 3) { // just above a half
		if half := time.Second << i / 2; wait < half || wait > half+half/100 {
			t.Errorf("failure %d: waits %v, want %v", i+1, wait, half)
		}
	}
}

func TestBackOffHasJitter(t *testing.T) {
	s := newScene(t)
	first, second := s.delays(rand.Reader, 14), s.delays(rand.Reader, 14)
	same := 0
	for i := range first {
		if first[i] == second[i] {
			same++
		}
	}
	if same > 3 {
		t.Errorf("%v and %v", first, second)
	}
}

func TestWithoutRandomnessItWaitsTheLongest(t *testing.T) {
	if got := newScene(t).delays(strings.NewReader(""), 2); got[0] != time.Second || got[1] != 2*time.Second {
		t.Errorf("waits %v", got)
	}
}

func TestPermanentRefusalIsDeadAtOnce(t *testing.T) {
	s := newScene(t)
	server := (&mailServer{t: t, script: func(line string) string {
		if strings.HasPrefix(line, "RCPT") {
			return "550-5.1.1 nobody\r\n550 5.1.1 of that name"
		}
		return ""
	}}).start("")
	m := s.invite("Acme", "bob@example.org")
	var seen []string
	w := s.worker(s.smtp(server), func(c *outbox.Config) { c.Observe = func(result string) { seen = append(seen, result) } })
	s.clock.pass(time.Minute)
	s.once(w, 1)
	kept := s.read(m.ID)
	if kept == nil || kept.State != resources.MessageDead || kept.Attempts != 1 || kept.LeaseUntil != 0 ||
		!strings.Contains(kept.LastError, `550 "5.1.1 nobody`) || strings.ContainsAny(kept.LastError, "\r\n") {
		t.Errorf("kept %+v", kept)
	}
	if len(seen) != 1 || seen[0] != outbox.ResultDead {
		t.Errorf("seen %+v", seen)
	}
	s.clock.pass(24 * time.Hour)
	s.once(w, 0)
}

func TestTheLastAttemptIsDead(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	w := s.worker(failing(errors.New("no")), func(c *outbox.Config) { c.Attempts = 3 })
	for i, want := range []string{resources.MessagePending, resources.MessagePending, resources.MessageDead} {
		s.once(w, 1)
		if kept := s.read(m.ID); kept == nil || kept.State != want || kept.Attempts != i+1 {
			t.Errorf("after %d: %+v", i+1, kept)
		}
		s.clock.pass(15 * time.Minute)
	}
	s.once(w, 0)
}

// An outage of a weekend costs no mail: not before about two days it is given up.
func TestAWeekendIsNoReasonToGiveUp(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	began := s.clock.now()
	w := s.worker(failing(errors.New("no")), func(c *outbox.Config) { c.Random = always(0x80) }) // the average
	for s.read(m.ID).State == resources.MessagePending {
		s.once(w, 1)
		if kept := s.read(m.ID); kept.State == resources.MessagePending {
			s.clock.pass(time.Duration(kept.NextAt-resources.At(s.clock.now())) * time.Millisecond)
		}
	}
	if took := s.clock.now().Sub(began); took < 46*time.Hour || took > 50*time.Hour {
		t.Errorf("given up after %v", took)
	}
}

func TestReasonIsShortAndOneLine(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	s.once(s.worker(failing(errors.New("a\r\nb\x1b[2J\u2028c \xff"+strings.Repeat("ö", 2000))), nil), 1)
	got := s.read(m.ID).LastError
	if n := utf8.RuneCountInString(got); n != 500 || !strings.HasPrefix(got, "a b[2J c \uFFFDö") {
		t.Errorf("%d characters: %q", n, got)
	}
	if strings.Count(s.logs.String(), "\n") != 1 {
		t.Errorf("log: %s", s.logs)
	}
}

func TestPanicInADeliveryIsAFailure(t *testing.T) {
	s := newScene(t)
	m := s.invite("Acme", "bob@example.org")
	s.once(s.worker(deliverFunc(func(context.Context, resources.Message) error { panic("oh") }), nil), 1)
	if kept := s.read(m.ID); kept == nil || kept.Attempts != 1 || kept.LeaseUntil != 0 {
		t.Errorf("kept %+v", kept)
	}
}
