package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// evaluationTime bounds one evaluation. It is long, since a replay does not measure a busy machine.
const evaluationTime = 10 * time.Second

// maxExamples bounds the examples of a group of flips.
const maxExamples = 3

// Why a record was not judged. A masked part that the tree reads is a further reason.
const (
	WhyNoVerdict = "masked: the verdict itself"
	WhyUnasked   = "denied by the gateway itself (decided_by: gateway), whatever the rules of the question say"
	WhyLost      = "lost: the log could not take them"
	WhyDropped   = "dropped by the policy tree"
	// WhyUnreadable counts lines and segments, whose number of decisions is unknown.
	WhyUnreadable = "unreadable: a line or a segment of the log"
)

// Report is the result of a replay.
type Report struct {
	// Old counts the judged records by the revision that decided them; New is the tree's revision.
	Old map[string]int `json:"old"`
	New string         `json:"new"`
	// Judged counts the judged records, NotJudged the others by reason.
	Judged    int            `json:"judged"`
	NotJudged map[string]int `json:"not_judged"`
	// Failed counts the records on which the tree fails, by failure. Their callers would get no verdict.
	Failed map[string]int `json:"failed"`
	// Reasons counts equal verdicts with another reason, code or context.
	Reasons int `json:"reasons"`
	// Flips are the verdicts that would change.
	Flips []Flip `json:"flips"`
	// NotWhole lists the problems of the log.
	NotWhole []string      `json:"not_whole,omitempty"`
	Took     time.Duration `json:"-"`
}

// Differs says whether a caller would get another verdict, or none.
func (r *Report) Differs() bool { return len(r.Flips)+len(r.Failed) > 0 }

// Whole says whether every verdict was judged.
func (r *Report) Whole() bool { return len(r.NotJudged)+len(r.NotWhole) == 0 }

// Flip counts verdicts of one kind that would change.
type Flip struct {
	kind
	Count    int       `json:"count"`
	Examples []Example `json:"examples"`
}

// Example is one of them.
type Example struct {
	ID  string `json:"decision_id"`
	Old string `json:"old_reason"`
	New string `json:"new_reason"`
	// input is the new tree's input, rule its entry point.
	input []byte
	rule  string
}

// Masked is a record that may lack masked parts.
type Masked struct {
	engine.Masked
	ID string
	// Policy is the revision of the deciding tree. Unasked says that policy was not asked.
	Policy  string
	Unasked bool
	// Result is the tree's answer, ResultParts what a mask removed or replaced in it.
	Result      []byte
	ResultParts [][]string
}

// answer is the recorded answer, or the new one.
type answer struct {
	allowed bool
	// says is code, reason and context; "" is unknown.
	says, reason string
}

// Replay judges records one by one. It is for one goroutine.
type Replay struct {
	set    *engine.Set
	judge  *engine.Rejudge
	report Report
	groups map[kind]*Flip
	// failures holds the first error of each kind.
	failures map[engine.Failure]string
	// Flipped, if it is set, is called with each record whose verdict would change.
	Flipped func(id string, allowed bool)
	began   time.Time
}

// New begins a replay by a tree.
func New(set *engine.Set) *Replay {
	return &Replay{
		set: set, judge: engine.NewRejudge(set, evaluationTime), groups: map[kind]*Flip{}, failures: map[engine.Failure]string{}, began: time.Now(),
		report: Report{Old: map[string]int{}, New: set.Revision(), NotJudged: map[string]int{}, Failed: map[string]int{}, Flips: []Flip{}},
	}
}

// Add judges a record without masked parts. It passes over records of calls at MCP servers, whose verdicts have records of
// their own.
func (r *Replay) Add(ctx context.Context, j *resources.Judgement) {
	if resources.IsMCPRecord(j.Path) {
		return
	}
	if j.Unasked {
		r.report.NotJudged[WhyUnasked]++
		return
	}
	q, err := r.judge.Whole(j)
	if app := j.Question.App; err == nil && app != nil {
		err = r.unclaimed(j.Path, app.Resource)
	}
	old := answerOf(&resources.AppDecision{Decision: j.Decision, Context: j.Context})
	r.compare(ctx, j.ID, j.Decision.PolicyRevision, old, q, err)
}

// AddMasked judges a record that may lack masked parts, as Add does.
func (r *Replay) AddMasked(ctx context.Context, m *Masked) {
	old, ok := m.answer()
	switch {
	case resources.IsMCPRecord(m.Path):
		return
	case m.Unasked:
		r.report.NotJudged[WhyUnasked]++
		return
	case !ok:
		r.report.NotJudged[WhyNoVerdict]++
		return
	}
	q, err := r.judge.Masked(&m.Masked)
	if err == nil && strings.HasPrefix(m.Path, resources.PathApps) {
		if err = m.noType(); err == nil {
			err = r.unclaimed(m.Path, object(m.Input)["resource"])
		}
	}
	r.compare(ctx, m.ID, m.Policy, old, q, err)
}

// unclaimed returns an error unless the app of the path decides about the resource in the tree: the gateway finds an app by
// the resource's type.
func (r *Replay) unclaimed(path string, resource []byte) error {
	var kind string
	_ = json.Unmarshal(object(resource)["type"], &kind)
	app, exists := r.set.App(kind)
	if path == resources.PathApps+app.Name+"/decision" && exists {
		return nil
	}
	return fmt.Errorf("the tree does not have: %s for resources of type %q", strings.TrimSuffix(path, "/decision"), kind)
}

// noType returns an error if the type of an app's resource is masked.
func (m *Masked) noType() error {
	for _, part := range m.Parts {
		if len(part) == 0 || part[0] == "resource" && (len(part) == 1 || part[1] == "type") {
			return fmt.Errorf("%w: input.resource.type", engine.ErrMasked)
		}
	}
	return nil
}

// Missing counts verdicts that the log does not hold.
func (r *Replay) Missing(lost, dropped, unreadable uint64) {
	for why, n := range map[string]uint64{WhyLost: lost, WhyDropped: dropped, WhyUnreadable: unreadable} {
		if n > 0 {
			r.report.NotJudged[why] += int(n) //nolint:gosec // a count of calls
		}
	}
}

// compare judges a question and compares the answer with the recorded one.
func (r *Replay) compare(ctx context.Context, id, policy string, old answer, q *engine.Recorded, err error) {
	if err != nil {
		r.report.NotJudged[err.Error()]++
		return
	}
	d, err := r.judge.Judge(ctx, q)
	if errors.Is(err, engine.ErrMasked) {
		r.report.NotJudged[err.Error()]++
		return
	}
	if err != nil {
		why := engine.FailureOf(err)
		if r.failures[why] == "" {
			r.failures[why] = err.Error()
		}
		r.report.Failed[r.failures[why]]++
		return
	}
	r.report.Judged++
	r.report.Old[policy]++
	switch next := answerOf(&d); {
	case next.allowed != old.allowed:
		r.flip(id, old, next, q)
	case old.says != "" && next.says != old.says:
		r.report.Reasons++
	}
}

func answerOf(d *resources.AppDecision) answer {
	says := d.Code + "\n" + d.Reason
	for _, m := range d.Context {
		says += "\n" + m.Name + "\n" + string(m.Value)
	}
	return answer{allowed: d.Allowed, says: says, reason: d.Reason}
}

// answer returns the recorded answer; false if a mask hides it.
func (m *Masked) answer() (a answer, ok bool) {
	for _, part := range m.ResultParts {
		if len(part) == 0 || part[0] == "allow" || part[0] == "decision" {
			return a, false
		}
	}
	var result struct {
		Allow, Decision *bool
		Code, Reason    string
	}
	if json.Unmarshal(m.Result, &result) != nil {
		return a, false
	}
	allowed := cmp.Or(result.Allow, result.Decision)
	if allowed == nil {
		return a, false
	}
	a = answer{allowed: *allowed, reason: result.Reason}
	if len(m.ResultParts) == 0 && result.Allow != nil { // the context of an app is not parsed
		a.says = result.Code + "\n" + result.Reason
	}
	return a, true
}

// flip adds a verdict that would change.
func (r *Replay) flip(id string, old, next answer, q *engine.Recorded) {
	input, err := q.JSON()
	if err != nil {
		r.report.NotJudged[err.Error()]++
		return
	}
	if r.Flipped != nil {
		r.Flipped(id, next.allowed)
	}
	key := kindOf(q.Path, input)
	key.Allowed = next.allowed
	group := r.groups[key]
	if group == nil {
		group = &Flip{kind: key}
		r.groups[key] = group
	}
	group.Count++
	if len(group.Examples) < maxExamples {
		group.Examples = append(group.Examples, Example{id, old.reason, next.reason, input, q.Rule()})
	}
}

// Report returns the result, the largest groups first.
func (r *Replay) Report() *Report {
	r.report.Took = time.Since(r.began)
	for _, group := range r.groups {
		r.report.Flips = append(r.report.Flips, *group)
	}
	slices.SortFunc(r.report.Flips, func(a, b Flip) int { return cmp.Or(cmp.Compare(b.Count, a.Count), a.order(&b.kind)) })
	return &r.report
}
