package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// within bounds one evaluation: a difference is no measurement of a busy machine.
const within = 10 * time.Second

// maxExamples bounds the examples of a group of flips.
const maxExamples = 3

// Why a record was not judged, beside what a tree reads of a masked one.
const (
	WhyNoVerdict = "masked: the verdict itself"
	WhyUnasked   = "denied before policy was asked: it names nothing that there is"
	WhyLost      = "lost: the log could not take them"
	WhyDropped   = "dropped by the policy tree"
	// WhyUnreadable counts lines and segments: how many decisions they had is not known.
	WhyUnreadable = "unreadable: a line or a segment of the log"
)

// Report is what a replay has found.
type Report struct {
	// Old are the revisions that made the records, with how many each; New is the tree's.
	Old map[string]int `json:"old"`
	New string         `json:"new"`
	// Judged counts the records that were judged, NotJudged the others by why.
	Judged    int            `json:"judged"`
	NotJudged map[string]int `json:"not_judged"`
	// Failed counts the records on which the tree gives no decision, by how it fails: callers would get
	// none.
	Failed map[string]int `json:"failed"`
	// Reasons counts the verdicts that are the same with another reason, code or context.
	Reasons int `json:"reasons"`
	// Flips are the verdicts that would be another one.
	Flips []Flip `json:"flips"`
	// NotWhole is what is wrong with the log.
	NotWhole []string      `json:"not_whole,omitempty"`
	Took     time.Duration `json:"-"`
}

// Differs says whether callers would be told another verdict, or none.
func (r *Report) Differs() bool { return len(r.Flips)+len(r.Failed) > 0 }

// Whole says whether every verdict was judged that there was.
func (r *Report) Whole() bool { return len(r.NotJudged)+len(r.NotWhole) == 0 }

// Flip are verdicts that would be another one, of the same kind.
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
	// input is what the new tree was told, rule the one that it was asked.
	input []byte
	rule  string
}

// Masked is a record of which a mask may have left parts out.
type Masked struct {
	engine.Masked
	ID string
	// Policy is the revision of the tree that has decided, Unasked says that it was not asked.
	Policy  string
	Unasked bool
	// Result is what it has answered, ResultParts what a mask has taken away or replaced of it.
	Result      []byte
	ResultParts [][]string
}

// answer is what was told of a record, or would be.
type answer struct {
	allowed bool
	// says is all that is told beside it; "" is not known.
	says, reason string
}

// Replay is a replay under way. It is for one goroutine.
type Replay struct {
	judge  *engine.Rejudge
	report Report
	groups map[kind]*Flip
	// failures has the first error of each kind, which stands for all of them.
	failures map[engine.Failure]string
	// Flipped, where it is not nil, is called with each record whose verdict would be another one.
	Flipped func(id string, allowed bool)
	began   time.Time
}

// New begins a replay by a tree.
func New(set *engine.Set) *Replay {
	return &Replay{
		judge: engine.NewRejudge(set, within), groups: map[kind]*Flip{}, failures: map[engine.Failure]string{}, began: time.Now(),
		report: Report{Old: map[string]int{}, New: set.Revision(), NotJudged: map[string]int{}, Failed: map[string]int{}, Flips: []Flip{}},
	}
}

// Add judges a record of which nothing was left out.
func (r *Replay) Add(ctx context.Context, j *resources.Judgement) {
	if j.Unasked {
		r.report.NotJudged[WhyUnasked]++
		return
	}
	q, err := r.judge.Whole(j)
	old := answerOf(&resources.AppDecision{Decision: j.Decision, Context: j.Context})
	r.compare(ctx, j.ID, j.Decision.PolicyRevision, old, q, err)
}

// AddMasked judges a record of which a mask may have left parts out.
func (r *Replay) AddMasked(ctx context.Context, m *Masked) {
	old, known := m.answer()
	switch {
	case m.Unasked:
		r.report.NotJudged[WhyUnasked]++
		return
	case !known:
		r.report.NotJudged[WhyNoVerdict]++
		return
	}
	q, err := r.judge.Masked(&m.Masked)
	r.compare(ctx, m.ID, m.Policy, old, q, err)
}

// Missing counts verdicts that were told and that the log does not give.
func (r *Replay) Missing(lost, dropped, unreadable uint64) {
	for why, n := range map[string]uint64{WhyLost: lost, WhyDropped: dropped, WhyUnreadable: unreadable} {
		if n > 0 {
			r.report.NotJudged[why] += int(n) //nolint:gosec // a count of calls
		}
	}
}

// compare judges a question and compares it with what was told.
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
	switch fresh := answerOf(&d); {
	case fresh.allowed != old.allowed:
		r.flip(id, old, fresh, q)
	case old.says != "" && fresh.says != old.says:
		r.report.Reasons++
	}
}

// answerOf returns what a decision tells.
func answerOf(d *resources.AppDecision) answer {
	says := d.Code + "\n" + d.Reason
	for _, m := range d.Context {
		says += "\n" + m.Name + "\n" + string(m.Value)
	}
	return answer{allowed: d.Allowed, says: says, reason: d.Reason}
}

// answer returns what was told, false where the mask has hidden it.
func (m *Masked) answer() (a answer, known bool) {
	for _, part := range m.ResultParts {
		if len(part) == 0 || part[0] == "allow" || part[0] == "decision" {
			return a, false
		}
	}
	var told struct {
		Allow, Decision *bool
		Code, Reason    string
	}
	if json.Unmarshal(m.Result, &told) != nil {
		return a, false
	}
	allowed := cmp.Or(told.Allow, told.Decision)
	if allowed == nil {
		return a, false
	}
	a = answer{allowed: *allowed, reason: told.Reason}
	if len(m.ResultParts) == 0 && told.Allow != nil { // an app tells more, which is not read back
		a.says = told.Code + "\n" + told.Reason
	}
	return a, true
}

// flip adds a verdict that would be another one.
func (r *Replay) flip(id string, old, fresh answer, q *engine.Recorded) {
	input, err := q.JSON()
	if err != nil {
		r.report.NotJudged[err.Error()]++
		return
	}
	if r.Flipped != nil {
		r.Flipped(id, fresh.allowed)
	}
	key := kindOf(q.Path, input)
	key.Allowed = fresh.allowed
	group := r.groups[key]
	if group == nil {
		group = &Flip{kind: key}
		r.groups[key] = group
	}
	group.Count++
	if len(group.Examples) < maxExamples {
		group.Examples = append(group.Examples, Example{id, old.reason, fresh.reason, input, q.Rule()})
	}
}

// Report returns what was found, the largest groups first.
func (r *Replay) Report() *Report {
	r.report.Took = time.Since(r.began)
	for _, group := range r.groups {
		r.report.Flips = append(r.report.Flips, *group)
	}
	slices.SortFunc(r.report.Flips, func(a, b Flip) int { return cmp.Or(cmp.Compare(b.Count, a.Count), a.order(&b.kind)) })
	return &r.report
}
