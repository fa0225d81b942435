package decisionlog_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestNeighboursKeepTheirOwnCallerAndRoute, whichever part of them differs from the record before, and each of those
// that have all in common has all of it.
func TestNeighboursKeepTheirOwnCallerAndRoute(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	var verdicts []*resources.Judgement
	for n, change := range []func(q *resources.Question){
		func(*resources.Question) {},
		func(q *resources.Question) { q.Principal.Kind = resources.PrincipalUser },
		func(q *resources.Question) { q.Principal.ID = "service-b" },
		func(q *resources.Question) { q.Principal.UUID = "uuid" },
		func(q *resources.Question) { q.Principal.AccountID = "acct-b-v1" },
		func(q *resources.Question) { q.Principal.Scopes = []string{"platform:admin"} },
		func(q *resources.Question) { q.Principal.Credential = resources.CredentialKey },
		func(q *resources.Question) { q.Principal.KeyScopes = []string{"read"} },
		func(q *resources.Question) { q.Principal.KeyID = "id" },
		func(q *resources.Question) { q.Route.Name = "authzen.evaluations" },
		func(q *resources.Question) { q.Route.Effect = "write" },
		func(q *resources.Question) { q.Route.Access = []string{"public"} },
		func(q *resources.Question) { q.Principal, q.Route = resources.Principal{}, nil },
	} {
		for twice := range 2 {
			j := judgement(t, 3*n+twice)
			change(&j.Question)
			if twice == 1 { // as at the same door
				j.Question.Route = verdicts[len(verdicts)-1].Question.Route
			}
			verdicts = append(verdicts, j)
		}
		verdicts = append(verdicts, judgement(t, 3*n+2))
	}
	must.Do(t, l.Record(t.Context(), verdicts...))
	must.Do(t, l.Close())
	var got []*resources.Judgement
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
		got = append(got, r.Judgement())
		return nil
	}))
	for i, want := range verdicts {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("%d:\n%+v\nwant\n%+v", i, got[i], want)
		}
	}
}

// TestNeighboursOfAChangedCallerAreChanged guarantees that each record is marked as changed if a credential was masked in its
// caller.
func TestNeighboursOfAChangedCallerAreChanged(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	for n := range 4 {
		j := judgement(t, n)
		if n > 0 {
			j.Question.Principal.ID = "Bearer " + strings.Repeat("x", 50)
		}
		must.Do(t, l.Record(t.Context(), j))
	}
	must.Do(t, l.Close())
	n := 0
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
		if whole := r.Judgement() != nil; whole != (n == 0) {
			t.Errorf("record %d is whole: %t", n, whole)
		}
		n++
		return nil
	}))
}
