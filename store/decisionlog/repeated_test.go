package decisionlog_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// TestNeighboursKeepTheirOwnCallerAndRoute, whichever part of them differs from the record before, and each of those
// that have all in common has all of it.
func TestNeighboursKeepTheirOwnCallerAndRoute(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	var told []*resources.Judgement
	for n, change := range []func(p *resources.Principal, r *resources.Route){
		func(*resources.Principal, *resources.Route) {},
		func(p *resources.Principal, _ *resources.Route) { p.Kind = resources.PrincipalUser },
		func(p *resources.Principal, _ *resources.Route) { p.ID = "service-b" },
		func(p *resources.Principal, _ *resources.Route) { p.UUID = "uuid" },
		func(p *resources.Principal, _ *resources.Route) { p.AccountID = "acct-b-v1" },
		func(p *resources.Principal, _ *resources.Route) { p.Scopes = []string{"platform:admin"} },
		func(p *resources.Principal, _ *resources.Route) { p.Credential = resources.CredentialKey },
		func(p *resources.Principal, _ *resources.Route) { p.KeyScopes = []string{"read"} },
		func(p *resources.Principal, _ *resources.Route) { p.KeyID = "id" },
		func(_ *resources.Principal, r *resources.Route) { r.Name = "authzen.evaluations" },
		func(_ *resources.Principal, r *resources.Route) { r.Effect = "write" },
		func(_ *resources.Principal, r *resources.Route) { r.Access = []string{"public"} },
		func(p *resources.Principal, r *resources.Route) { *p, *r = resources.Principal{}, resources.Route{} },
	} {
		for twice := range 2 {
			j := judgement(t, 3*n+twice)
			change(&j.Question.Principal, &j.Question.Route)
			told = append(told, j)
		}
		told = append(told, judgement(t, 3*n+2))
	}
	must(t, l.Record(t.Context(), told...))
	must(t, l.Close())
	var got []*resources.Judgement
	must(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
		got = append(got, r.Judgement())
		return nil
	}))
	for i, want := range told {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("%d:\n%+v\nwant\n%+v", i, got[i], want)
		}
	}
}

// TestNeighboursOfAChangedCallerAreChanged guarantees that each record says so whose caller lacks what was masked.
func TestNeighboursOfAChangedCallerAreChanged(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	for n := range 4 {
		j := judgement(t, n)
		if n > 0 {
			j.Question.Principal.ID = "Bearer " + strings.Repeat("x", 50)
		}
		must(t, l.Record(t.Context(), j))
	}
	must(t, l.Close())
	n := 0
	must(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
		if whole := r.Judgement() != nil; whole != (n == 0) {
			t.Errorf("record %d is whole: %t", n, whole)
		}
		n++
		return nil
	}))
}
