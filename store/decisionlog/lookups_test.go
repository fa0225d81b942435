package decisionlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// lookedInput is input with the caller and the route.
func lookedInput(j *resources.Judgement) ([]byte, error) {
	q, route := j.Question, resources.Route{}
	if q.Route != nil {
		route = *q.Route
	}
	return json.Marshal(map[string]any{
		"principal": map[string]any{"id": q.Principal.ID, "kind": q.Principal.Kind, "credential": q.Principal.Credential},
		"route":     map[string]any{"name": route.Name, "effect": route.Effect}, "account": map[string]any{"id": q.AccountID},
	})
}

// TestLookupsAreLeftOut guarantees it for what users look at with a token, also in masked records, and for nothing else.
func TestLookupsAreLeftOut(t *testing.T) {
	person := resources.Principal{Kind: resources.PrincipalUser, ID: "user-a-v1", Credential: resources.CredentialToken}
	key := person
	key.Credential = resources.CredentialKey
	service := resources.Principal{Kind: resources.PrincipalService, ID: "service-a", Credential: resources.CredentialToken}
	reading, writing := resources.Route{Name: "user.list", Effect: resources.EffectRead}, resources.Route{Name: "role.put", Effect: resources.EffectWrite}
	batch, one := resources.Route{Name: "authzen.evaluations", Effect: resources.EffectRead}, resources.Route{Name: "authzen.evaluation", Effect: resources.EffectRead}
	type verdict struct {
		caller  resources.Principal
		path    string
		route   *resources.Route
		allowed bool
	}
	lookups := map[string]verdict{
		"reads": {person, resources.PathAccess, &reading, true}, "asks": {person, resources.PathDecision, &batch, true}, "asks, denied": {person, resources.PathDecision, &batch, false},
	}
	kept := map[string]verdict{
		"may not read": {person, resources.PathAccess, &reading, false}, "writes": {person, resources.PathAccess, &writing, true}, "reads with a key": {key, resources.PathAccess, &reading, true},
		"a service reads": {service, resources.PathAccess, &reading, true}, "a service asks": {service, resources.PathDecision, &batch, true}, "a key asks": {key, resources.PathDecision, &batch, false},
		"asks once": {person, resources.PathDecision, &one, false}, "no route": {person, resources.PathDecision, nil, true}, "a grant": {person, resources.PathGrantable, &batch, false},
	}
	masks := func(o *decisionlog.Options) { o.Mask, o.Input = &mask{rules: `["/input/principal/id"]`}, lookedInput }
	for name, change := range map[string]func(*decisionlog.Options){"plain": nil, "masked": masks} {
		w := newWorld(t)
		w.change = change
		l := w.open(t)
		for _, set := range []map[string]verdict{lookups, kept} {
			for id, v := range set {
				q := resources.Question{Principal: v.caller, Route: v.route, AccountID: "acct-a-v1", Now: 1}
				must.Do(t, l.Record(t.Context(), &resources.Judgement{
					ID: id, Path: v.path, Question: q, Decision: resources.Decision{Allowed: v.allowed, Reason: `","path":"authz/access","allow":true,"x":"`},
					Context: []resources.Member{{Name: "told", Value: []byte(`{"path":"authz/access","allow":true,"caller":{"kind":"user","credential":"token"},"route":{"effect":"read"}}`)}},
				}))
			}
		}
		must.Do(t, l.Close())
		var got []string
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{WithoutLookups: true}, func(r *decisionlog.Record) error {
			got = append(got, r.Event(lookedInput).DecisionID)
			return nil
		}))
		want := slices.Sorted(maps.Keys(kept))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		page := must.Get(decisionlog.Reader{Dir: w.dir}.Before(t.Context(), decisionlog.Search{
			Filter: decisionlog.Filter{WithoutLookups: true, Account: "acct-a-v1"}, Size: 100, Deadline: time.Now().Add(time.Minute),
		}, nil))(t)
		got = nil
		for _, r := range page.Records {
			got = append(got, r.Event(lookedInput).DecisionID)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("a page, %s: %q, want %q", name, got, want)
		}
	}
}

// TestPagesOfOneVerdict guarantees that a page of denials, or of allows, has all of them and nothing else, also if texts
// and contexts in a record look like the other verdict.
func TestPagesOfOneVerdict(t *testing.T) {
	odd := []string{"", `x","allow":true,"y":"`, `{"told":{"allow":true}}`, `\","allow":true`}
	masks := func(o *decisionlog.Options) { o.Mask, o.Input = &mask{rules: `["/input/principal/id"]`}, lookedInput }
	for name, change := range map[string]func(*decisionlog.Options){"plain": nil, "masked": masks} {
		w := newWorld(t)
		w.change = change
		l := w.open(t)
		want := map[bool][]string{}
		for i, text := range odd {
			for _, allowed := range []bool{false, true} {
				id := fmt.Sprintf("%d%v", i, allowed)
				j := &resources.Judgement{ID: id, ParentID: text, Path: "authz/decision" + text, Decision: resources.Decision{Allowed: allowed, Code: text, Reason: text}}
				j.Question = resources.Question{Principal: resources.Principal{Kind: resources.PrincipalUser, ID: "user-a-v1"}, AccountID: "acct-a-v1", Now: 1}
				j.Context = []resources.Member{{Name: "allow", Value: []byte(fmt.Sprint(!allowed))}, {Name: "told", Value: []byte(`{"allow":true}`)}}
				must.Do(t, l.Record(t.Context(), j))
				want[allowed] = append(want[allowed], id)
			}
		}
		must.Do(t, l.Close())
		for allowed, ids := range want {
			search := decisionlog.Search{Filter: decisionlog.Filter{Allowed: &allowed, Account: "acct-a-v1"}, Size: 100, Deadline: time.Now().Add(time.Minute)}
			for order, read := range map[string]func(context.Context, decisionlog.Search, decisionlog.Places) (decisionlog.Page, error){
				"newest": decisionlog.Reader{Dir: w.dir}.Before, "oldest": decisionlog.Reader{Dir: w.dir}.After,
			} {
				page := must.Get(read(t.Context(), search, nil))(t)
				var got []string
				for _, r := range page.Records {
					got = append(got, r.Event(lookedInput).DecisionID)
				}
				if slices.Sort(got); !slices.Equal(got, ids) {
					t.Errorf("%s, %s, allowed %v: %q, want %q", name, order, allowed, got, ids)
				}
			}
		}
	}
}
