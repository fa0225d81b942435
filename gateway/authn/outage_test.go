package authn_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
)

// TestTheLogFollowsAnOutageOfTheProvider guarantees one line when the fetches begin to fail, one when no keys are left, and
// one when they succeed again: whether tokens are accepted meanwhile is what an operator has to know.
func TestTheLogFollowsAnOutageOfTheProvider(t *testing.T) {
	c := newClock()
	var out strings.Builder
	var mu sync.Mutex
	p := newProvider(t, jwks(t, standardKeys()...))
	ended := make(chan struct{})
	s := p.source(t, c, func(o *authn.URLOptions) {
		o.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &out}, nil))
		o.Fetched = func(error) { ended <- struct{}{} }
	})
	fetch := func() {
		c.Advance(10 * time.Minute)
		go func() { _ = s.Refresh(context.Background()) }()
		<-ended
	}
	var want []string
	for _, step := range []struct {
		answer  http.HandlerFunc
		fetches int
		line    string
	}{
		{down, 3, "there are no keys, and the issuer's tokens are refused"},
		{nil, 3, "can be fetched again"},
		{down, 24 * 6, "the last good keys stay in use until"},
		{down, 3, "there are no keys, and the issuer's tokens are refused"},
		{nil, 1, "can be fetched again"},
	} {
		if p.publish(jwks(t, standardKeys()...)); step.answer != nil {
			p.fail(step.answer)
		}
		for range step.fetches {
			fetch()
		}
		want = append(want, step.line)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != len(want) || !strings.Contains(lines[len(lines)-1], step.line) {
			t.Fatalf("%d lines, want %d, the last one with %q:\n%s", len(lines), len(want), step.line, out.String())
		}
	}
}
