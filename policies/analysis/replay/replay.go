package replay

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// within bounds one evaluation.
const within = engine.DefaultDeadline

// maxExamples bounds the examples of a group of flips.
const maxExamples = 3

// Why a record was not judged.
const (
	WhyMasked  = "masked: a part of the record was left out"
	WhyUnasked = "denied before policy was asked: it names nothing that there is"
)

// Report is what a replay has found.
type Report struct {
	// Old are the revisions that made the records, with how many each; New is the tree's.
	Old map[string]int `json:"old"`
	New string         `json:"new"`
	// Judged counts the records that were judged, NotJudged the others by why.
	Judged    int            `json:"judged"`
	NotJudged map[string]int `json:"not_judged"`
	// Reasons counts the verdicts that are the same with another reason or code.
	Reasons int `json:"reasons"`
	// Flips are the verdicts that would be another one.
	Flips []Flip        `json:"flips"`
	Took  time.Duration `json:"-"`
}

// Flip are verdicts that would be another one, of the same kind.
type Flip struct {
	kind
	Count    int       `json:"count"`
	Examples []Example `json:"examples"`
}

// kind is what flips are grouped by.
type kind struct {
	// Allowed is the new verdict.
	Allowed bool   `json:"allow"`
	Path    string `json:"path"`
	Action  string `json:"action,omitempty"`
	// Place is the kind of the place: account, project or the collection of a resource.
	Place string `json:"place"`
	// Role names the roles that the subject held there.
	Role string `json:"role,omitempty"`
}

// Example is one of them.
type Example struct {
	ID  string `json:"decision_id"`
	Old string `json:"old_reason"`
	New string `json:"new_reason"`
	// Judgement is what was recorded.
	Judgement *resources.Judgement `json:"-"`
}

// Replay is a replay under way. It is for one goroutine.
type Replay struct {
	judge  *engine.Rejudge
	report Report
	groups map[kind]*Flip
	began  time.Time
}

// New begins a replay by a tree.
func New(set *engine.Set) *Replay {
	return &Replay{
		judge: engine.NewRejudge(set, within), groups: map[kind]*Flip{}, began: time.Now(),
		report: Report{Old: map[string]int{}, New: set.Revision(), NotJudged: map[string]int{}, Flips: []Flip{}},
	}
}

// Add judges a record; nil is one of which a part was masked.
func (r *Replay) Add(ctx context.Context, j *resources.Judgement) {
	switch {
	case j == nil:
		r.report.NotJudged[WhyMasked]++
		return
	case j.Unasked:
		r.report.NotJudged[WhyUnasked]++
		return
	}
	d, err := r.judge.Judge(ctx, j)
	if err != nil {
		r.report.NotJudged["the new tree gives no decision: "+err.Error()]++
		return
	}
	r.report.Judged++
	r.report.Old[j.Decision.PolicyRevision]++
	switch old := &j.Decision; {
	case d.Allowed != old.Allowed:
		r.flip(j, d)
	case d.Code != old.Code || d.Reason != old.Reason:
		r.report.Reasons++
	}
}

// flip adds a verdict that would be another one.
func (r *Replay) flip(j *resources.Judgement, d resources.Decision) {
	key := kind{Allowed: d.Allowed, Path: j.Path, Action: j.Question.Action.ID, Place: placeOf(&j.Question.Target), Role: rolesOf(&j.Question)}
	group := r.groups[key]
	if group == nil {
		group = &Flip{kind: key}
		r.groups[key] = group
	}
	group.Count++
	if len(group.Examples) < maxExamples {
		group.Examples = append(group.Examples, Example{j.ID, j.Decision.Reason, d.Reason, j})
	}
}

// Report returns what was found, the largest groups first.
func (r *Replay) Report() *Report {
	r.report.Took = time.Since(r.began)
	for _, group := range r.groups {
		r.report.Flips = append(r.report.Flips, *group)
	}
	slices.SortFunc(r.report.Flips, func(a, b Flip) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Path, b.Path))
	})
	return &r.report
}

// placeOf returns the kind of a place.
func placeOf(t *resources.Target) string {
	collection, _, _ := strings.Cut(t.Resource, "/")
	switch {
	case collection != "":
		return collection
	case t.ProjectID != "":
		return "project"
	}
	return "account"
}

// rolesOf returns the roles that the subject holds at a place of the question or above it.
func rolesOf(q *resources.Question) string {
	if q.Facts.Subject == nil {
		return ""
	}
	var names []string
	for _, held := range q.Facts.Subject.Assignments {
		if (held.ProjectID == "" || held.ProjectID == q.Target.ProjectID) && (held.ResourceID == "" || held.ResourceID == q.Target.Resource) {
			names = append(names, held.RoleID)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}
