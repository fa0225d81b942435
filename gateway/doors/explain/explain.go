package explain

import (
	"context"
	"encoding/json"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Explainer explains questions (policies/explain, on the store's facts).
type Explainer interface {
	// Explain explains the question about its subject on facts with every change answered before the call. The question
	// comes without facts. The route's action is the right to see all of the explanation. It returns how many questions
	// it judged, beside an error, too.
	Explain(ctx context.Context, q resources.Question) (x resources.Explanation, judged int, err error)
}

// Door answers authorization.explain. All of its fields are needed.
type Door struct {
	Judge     *verdict.Judge
	Explainer Explainer
	Now       func() time.Time
}

// An explanation judges hundreds of questions and keeps none of them for others. It costs a tenth of them in questions,
// and at least ten. The door takes these ten beforehand.
const (
	judgedForOne = 10
	leastPrice   = 10
)

// Answer implements doors.Door: 400 with all problems of the question, 403 if the caller may not have it explained, 503
// without a verdict. It charges the least price before it judges, and afterwards takes what the judged questions cost more.
func (d Door) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	q, problems := doors.ReadQuestion(c)
	if len(problems) > 0 {
		return doors.Answer{}, resources.BadRequest(problems...)
	}
	if err := c.Rates.Charge(leastPrice - 1); err != nil { // one is charged for each call
		return doors.Answer{}, err
	}
	a := doors.About(&q)
	if a.Outcome = d.Judge.Quiet().MayAsk(ctx, c.Caller, c.Row, q.AccountID, q.SubjectID); a.Outcome.Err != nil {
		return a, a.Outcome.Err
	}
	q.Principal, q.Route, q.Now = *c.Caller, &c.Row.Route, resources.At(d.Now())
	x, judged, err := d.Explainer.Explain(ctx, q)
	c.Rates.Owe(max(0, judged/judgedForOne-leastPrice))
	if err == nil && x.AccountRevision < a.Outcome.AccountRevision {
		err = doors.ErrOldSnapshot
	}
	var body []byte
	if err == nil {
		x.AccountRevision = verdict.RevisionFor(c.Caller, q.AccountID, x.AccountRevision)
		body, err = json.Marshal(x)
	}
	if err != nil {
		a.Outcome = verdict.Outcome{}
		return a, doors.OrUnavailable(err, "The decision could not be explained now; try again.")
	}
	a.Status, a.Body = 200, []byte(resources.MaskCredentials(string(body)))
	return a, nil
}
