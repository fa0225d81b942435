package private_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// errSeen ends a reading of the test.
var errSeen = errors.New("seen enough")

// TestAFollowerGoesOnWhereAnAnswerEnds: it asks again from shortly before the newest decision, and takes each one once.
func TestAFollowerGoesOnWhereAnAnswerEnds(t *testing.T) {
	offset := func(second int) string { return fmt.Sprintf("2026-01-31T12:00:%02d.000Z", second) }
	answers := [][]int{{20, 21}, {20, 21, 19, 22}, {}, {22, 23}}
	var asked []string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("from"))
		w.Header().Set("Trailer", private.TrailerWhole)
		for _, second := range answers[len(asked)-1] {
			fmt.Fprintf(w, `{"decision_id":"d-%d","timestamp":%q}`+"\n", second, offset(second))
		}
		w.Header().Set(private.TrailerWhole, "1")
	}))
	defer gateway.Close()
	var began resources.Time
	must.Do(t, began.UnmarshalJSON([]byte(`"`+offset(15)+`"`)))
	var got []string
	q := private.Query{Follow: true, From: began}
	err := q.Ask(t.Context(), private.Log{URL: gateway.URL, Bearer: func() (string, error) { return "t", nil }}, func(e decisionlog.Event) error {
		if got = append(got, e.DecisionID); e.DecisionID == "d-23" {
			return errSeen
		}
		return nil
	})
	if !errors.Is(err, errSeen) || !slices.Equal(got, []string{"d-20", "d-21", "d-19", "d-22", "d-23"}) {
		t.Errorf("%v, %v", got, err)
	}
	if want := []string{offset(15), offset(15), offset(15), offset(15)}; !slices.Equal(asked, want) {
		t.Errorf("asked from %v, want %v", asked, want)
	}
	o := private.Overlap{}
	for i := range 5000 {
		o.Before(&decisionlog.Event{DecisionID: fmt.Sprint(i), Timestamp: resources.Time(100 * i).String()})
	}
	if start := o.From(0); o.Known() > 1200 || start != resources.Time(100*4999)-private.Unordered {
		t.Errorf("%d are remembered, from %d", o.Known(), start)
	}
}

// TestAnInterruptedReadingIsNotWhole guarantees that a signal makes an export of a running gateway an error. A follower ends
// with one.
func TestAnInterruptedReadingIsNotWhole(t *testing.T) {
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, `{"decision_id":"d-1","timestamp":"2026-01-31T12:00:00.000Z"}`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer gateway.Close()
	for follow, want := range map[bool]error{false: context.Canceled, true: nil} {
		ctx, interrupt := context.WithCancel(t.Context())
		q := private.Query{Follow: follow}
		err := q.Ask(ctx, private.Log{URL: gateway.URL, Bearer: func() (string, error) { return "t", nil }}, func(decisionlog.Event) error {
			interrupt()
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("follow %t: %v, want %v", follow, err, want)
		}
	}
}
