package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/policies/reuse"
	"github.com/portcullis-authz/portcullis/resources"
)

// Rejudge judges recorded verdicts anew by one tree, without a cache of verdicts. It is for one goroutine.
type Rejudge struct {
	set   *Set
	known *subjects
	// Within bounds one evaluation.
	Within time.Duration
}

// NewRejudge returns a judge by the tree.
func NewRejudge(set *Set, within time.Duration) *Rejudge { return &Rejudge{set, newSubjects(), within} }

// Judge returns the tree's decision on what was judged. The error tells why there is none.
func (r *Rejudge) Judge(ctx context.Context, j *resources.Judgement) (resources.Decision, error) {
	entry, known := map[string]string{
		resources.PathDecision: EntryDecision, resources.PathAccess: EntryAccess, resources.PathGrantable: EntryGrantable,
	}[j.Path]
	var in reuse.Inputs
	switch {
	case j.App != nil:
		name, _ := strings.CutSuffix(strings.TrimPrefix(j.Path, resources.PathApps), "/decision")
		d, err := r.set.JudgeApp(ctx, name, *j.App, r.Within)
		return d.Decision, err
	case !known:
		return resources.Decision{}, fmt.Errorf("nothing is asked at %s", j.Path)
	case j.Grant != nil:
		in = reuse.OfGrant(j.Grant)
	default:
		in = reuse.OfQuestion(&j.Question)
		if d, unlisted := r.set.unlisted(entry, &in); unlisted {
			return d, nil
		}
	}
	return r.set.evaluate(ctx, entry, &in, r.known.form(in.Subject, in.Now), r.Within)
}
