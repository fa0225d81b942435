package private

import (
	"context"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// TrailerWhole marks an answer with all requested decisions.
const TrailerWhole = "X-Decisions-Whole"

const (
	// MaxReaders bounds the queries of services that are answered at once, and those of users.
	MaxReaders = 4
	// FollowWithin bounds an answer to a follower: it asks again from the end. decisionsWithin bounds the others.
	FollowWithin    = time.Hour
	decisionsWithin = 10 * time.Minute
)

// Decisions is the decision log of the process.
type Decisions struct {
	// Dir is the log's folder; "" is that the process keeps no log.
	Dir string
	// Input renders what policy read of a recorded question.
	Input decisionlog.Input
	// Own is what other gateways ask; nil without a log.
	Own decisions.Source
}

// decisionsHandler answers GET /decisions of the private listener with the decisions about the accounts in which the
// caller may explain decisions.
func (l *Listener) decisions() http.HandlerFunc {
	places := newPlaces(MaxReaders)
	return func(w http.ResponseWriter, r *http.Request) {
		if l.Decisions.Dir == "" {
			http.Error(w, "there is no decision log in this process", http.StatusNotFound)
			return
		}
		v := l.Visitors.admit(w, r, "authorization.explain")
		if v == nil {
			return
		}
		q, err := readQuery(r.URL.RawQuery)
		if err == nil {
			_, err = q.Filter(time.Now())
		}
		if err != nil {
			http.Error(w, resources.OneLine(err.Error()), http.StatusBadRequest)
			return
		}
		leave, entered := places.enter(w, v)
		if !entered {
			return
		}
		defer leave()
		timeout := decisionsWithin
		if q.Follow {
			timeout = FollowWithin
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		w.Header().Set("Trailer", TrailerWhole)
		if err := l.sendDecisions(ctx, newAnswer(w), v, &q); err != nil {
			l.Log.Warn("decisions could not be read", "principal", v.caller.ID, "error", err.Error())
			return
		}
		w.Header().Set(TrailerWhole, "1")
	}
}

// sendDecisions writes a line for each decision that the visitor sees.
func (l *Listener) sendDecisions(ctx context.Context, a answer, v *visitor, q *Query) error {
	defer a.wait() // for the trailer
	if q.From == 0 {
		q.From = resources.At(time.Now()) // before the follower gets a line: it may ask for a decision at once
	}
	_ = a.flush() // a follower knows that it follows
	q.Seen = func(rec *decisionlog.Record) (bool, error) { return v.sees(ctx, rec.Account(), rec.At) }
	return q.Read(ctx, decisionlog.Reader{Dir: l.Decisions.Dir}, l.Decisions.Input, func(e decisionlog.Event) error {
		if v.caller.Kind != resources.PrincipalService {
			decisions.ForUser(&e)
		}
		line, err := e.JSON()
		if err != nil {
			return err
		}
		if _, err := a.Write(append(line, '\n')); err != nil || !q.Follow {
			return err
		}
		return a.flush()
	})
}
