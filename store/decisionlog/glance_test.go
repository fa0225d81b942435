package decisionlog_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// fromPool returns a random judgement. Its texts, and names and values in its context, are of a pool.
func fromPool(rnd *rand.Rand, pool []string) *resources.Judgement {
	text := func() string { return pool[rnd.IntN(len(pool))] }
	oneOf := func(usual ...string) string {
		if n := rnd.IntN(len(usual) + 1); n < len(usual) {
			return usual[n]
		}
		return text()
	}
	j := &resources.Judgement{
		ID: "01m8d2vvdmwahhh34yr377kh56", ParentID: text(), Path: oneOf(resources.PathAccess, resources.PathDecision),
		Decision: resources.Decision{Allowed: rnd.IntN(2) == 0, Reason: text(), Code: text()},
		Question: resources.Question{AccountID: text(), Now: 1, Target: resources.Target{Rest: text()}, Principal: resources.Principal{
			Kind: oneOf(resources.PrincipalUser, resources.PrincipalService), ID: text(), AccountID: text(), Scopes: []string{text()},
			Credential: oneOf(resources.CredentialToken, resources.CredentialKey), KeyScopes: []string{text()},
		}},
	}
	if rnd.IntN(4) > 0 {
		j.Question.Route = &resources.Route{Name: oneOf("authzen.evaluations"), Access: []string{text()}, Effect: oneOf(resources.EffectRead, resources.EffectWrite)}
	}
	if rnd.IntN(4) == 0 {
		j.Context = []resources.Member{{Name: text(), Value: fmt.Appendf(nil, `{"told":{"allow":true,"effect":"read",%q:{"kind":"user","credential":"token"}}}`, text())}}
	}
	return j
}

// TestNoWantedLineIsSkipped guarantees that a search parses each line with a wanted record, also if texts in it look like
// members of another one. Of plain texts it parses no other line.
func TestNoWantedLineIsSkipped(t *testing.T) {
	plain := []string{"a", "user", "users/b", "acct-c-v1", "route", "token"}
	hostile := append([]string{
		`","allow":true,"x":"`, `"`, `\`, `\"`, `{`, `}`, "", `,"told":{"allow":true,"path":"authz/access"`, `"effect":"read"`, `"credential":"token"`,
		`x","caller":{"kind":"user","credential":"token"}`, `,"route":{"name":"authzen.evaluations","effect":"read"}`, "path", "caller", "allow",
	}, plain...)
	wanted := 0
	for seed := range uint64(4_000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		pool := plain
		if seed%2 == 0 {
			pool = hostile
		}
		j := fromPool(rnd, pool)
		text := must.Get(decisionlog.Lines(decisionlog.Options{}, j))(t)
		records := must.Get(decisionlog.Records(text))(t)
		raw := text[bytes.LastIndexByte(text[:len(text)-1], '\n')+1 : len(text)-1]
		old := bytes.Replace(raw, []byte(`"told":{`), []byte(`"told":{"code":"",`), 1) // in another order, as of former versions
		yes, no := true, false
		for _, allowed := range []*bool{nil, &yes, &no} {
			for _, skip := range []bool{false, true} {
				f := decisionlog.Filter{Allowed: allowed, WithoutLookups: skip}
				is, may := f.Matches(records[0]), decisionlog.MayWant(&f, raw)
				hidden, inVain := is && (!may || !decisionlog.MayWant(&f, old)), may && !is
				if hidden || inVain && seed%2 == 1 && j.Context == nil {
					t.Errorf("seed %d: allowed %v, lookups skipped %v: parsed %v, wanted %v: %s", seed, allowed, skip, may, is, raw)
				}
				if is {
					wanted++
				}
			}
		}
	}
	if wanted < 8_000 || wanted > 16_000 {
		t.Errorf("%d are wanted", wanted)
	}
}
