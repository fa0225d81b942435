package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/console"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/policies/replay"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// Limits of the console's comparisons: names for each change, and recorded decisions to replay.
const (
	comparedNames = 20
	replayedSince = "24h"
	replayedMost  = 10_000
)

// comparer compares policies for the console, with the code of the policy commands. It reads tree, users and decisions
// from the private listener at url, with the operator's own token.
type comparer struct{ url string }

// Compare implements console.Comparer.
func (c comparer) Compare(ctx context.Context, token string, bundle []byte, note func(console.CompareStep)) {
	step := func(title string, do func() (good bool, text string, err error)) bool {
		good, text, err := do()
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			good, text = false, strings.TrimSpace(text+"\n"+err.Error())
		}
		note(console.CompareStep{Title: title, Good: good, Text: strings.TrimSpace(text)})
		return err == nil
	}
	var inForce *policies.Source
	var sets [2]*engine.Set
	read := func() (bool, string, error) {
		var err error
		if inForce, err = private.ReadTree(ctx, c.url); err != nil {
			return false, "", err
		}
		if bundle == nil {
			return true, "policy " + inForce.Revision + " is in force", nil
		}
		next, err := bundles.Open(bundle, nil)
		if err != nil {
			return false, "", err
		}
		for i, src := range []*policies.Source{inForce, next} {
			if sets[i], _, err = proof.Compile(ctx, src); err != nil {
				return false, "", err
			}
		}
		inForce = next
		return true, fmt.Sprintf("policy %s beside %s, which is in force", sets[1].Revision(), sets[0].Revision()), nil
	}
	// OPA's runner measures coverage but does not limit memory. The proof does, so it runs first.
	tests := func() (bool, string, error) {
		if _, err := prove(ctx, inForce); err != nil {
			return false, "", err
		}
		var out bytes.Buffer
		passed, err := proof.TestRun{Coverage: true}.Tests(ctx, inForce, &out)
		return passed, out.String(), err
	}
	if !step("Policy", read) {
		return
	}
	step("Proof, tests and coverage", tests)
	if bundle == nil {
		return
	}
	var made comparison
	step("Who gains and who loses", func() (bool, string, error) { return c.difference(ctx, token, sets, &made) })
	step("Guards of the policy in force", func() (bool, string, error) { return made.guarded(ctx, sets) })
	step("Recorded decisions, judged again", func() (bool, string, error) { return c.replayed(ctx, token, sets[1]) })
}

// comparison is the comparison of the two policies, nil if there is none, and how long it took.
type comparison struct {
	*diff.Report
	took time.Duration
}

// guarded evaluates the guards of the first policy on the comparison.
func (made comparison) guarded(ctx context.Context, sets [2]*engine.Set) (good bool, text string, err error) {
	switch {
	case !guards.Guarded(sets[0]):
		return true, "The policy in force has no guards.", nil
	case made.Report == nil:
		return false, "The guards can't judge policies that could not be compared.", nil
	}
	err = guards.Judge(ctx, sets[0], sets[1], made.Report, made.took)
	return err == nil, "The guards accept the policy.", err
}

// difference compares the two policies into made, and names users that the token may see.
func (c comparer) difference(ctx context.Context, token string, sets [2]*engine.Set, made *comparison) (good bool, text string, err error) {
	began := time.Now()
	report, err := diff.Compare(ctx, sets[0], sets[1], 1)
	if err != nil {
		return false, "", err
	}
	made.Report, made.took = report, time.Since(began)
	source := peopleSource{url: c.url, token: token, names: comparedNames}
	report.People, err = source.report(ctx, sets, report)
	return !report.Differs(), report.Text(), err
}

// replayed replays the day's newest decisions that the token may see.
func (c comparer) replayed(ctx context.Context, token string, next *engine.Set) (good bool, text string, err error) {
	anew := replay.New(next)
	query := private.Query{Search: decisions.Search{Since: replayedSince}, Limit: replayedMost}
	seen := 0
	err = query.Ask(ctx, private.Log{URL: c.url, Bearer: func() (string, error) { return token, nil }}, func(e decisionlog.Event) error {
		if resources.IsMCPRecord(e.Path) {
			return nil
		}
		seen++
		made, err := time.Parse(time.RFC3339, e.Timestamp)
		if err != nil {
			return err
		}
		anew.AddMasked(ctx, recordedEvent(&e, resources.At(made)))
		return ctx.Err()
	})
	if err != nil {
		return false, "", err
	}
	report := anew.Report()
	head := fmt.Sprintf("%d decisions of the last %s that you may see, at most the newest %d\n", seen, replayedSince, replayedMost)
	return !report.Differs() && report.Whole(), head + report.Text(), nil
}
