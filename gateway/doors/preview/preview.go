package preview

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Changes reads changes to an account (resources/access).
type Changes interface {
	// Suppose returns the facts before and after the changes in the body. They are at least as new as the last change
	// answered before the call. The error of a wrong body is of KindBadRequest.
	Suppose(ctx context.Context, account string, body []byte) (resources.Supposed, error)
}

// Door answers account.preview. All of its fields are needed.
type Door struct {
	Judge   *verdict.Judge
	Changes Changes
	// Turns bounds how many previews and batches are judged at once.
	Turns doors.Turns
	Now   func() time.Time
}

// notMade is the message of an error from outside the domain.
const notMade = "The preview could not be made now; try again."

// judgedForOne is how many questions a preview judges for one of its caller's rate.
const judgedForOne = 100

// Answer implements doors.Door: 400 with all problems of the changes, 403 if the caller may not preview, 503 without a
// verdict.
func (d Door) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	account, started := c.Path, d.Now()
	a := doors.Answer{Account: account, Action: c.Row.Action.ID}
	if err := check(c); err != nil {
		return a, err
	}
	judge := d.Judge.Pinned().Quiet()
	if a.Outcome = judge.MayAsk(ctx, c.Caller, c.Row, account, ""); a.Outcome.Err != nil {
		return a, a.Outcome.Err
	}
	if c.HasQuery {
		return a, resources.BadRequest(resources.Problem{Field: "query", Text: "must not be sent; the changes are in the body"})
	}
	supposed, err := d.Changes.Suppose(ctx, account, c.Body)
	if err == nil && supposed.Revision < a.Outcome.AccountRevision {
		err = doors.ErrOldSnapshot
	}
	if err != nil {
		a.Outcome = verdict.Outcome{}
		return a, doors.OrUnavailable(err, notMade)
	}
	j := judging{Door: d, call: &c, tree: judge.Pin(), now: resources.At(judge.Now()), end: d.end(ctx, started)}
	j.out = preview{
		Gains: []row{}, Loses: []row{}, People: len(supposed.People), Complete: supposed.Complete,
		AccountRevision: verdict.RevisionFor(c.Caller, account, supposed.Revision),
	}
	err = j.judge(ctx, account, &supposed)
	c.Rates.Owe(j.judged / judgedForOne)
	if err == nil {
		a.Status = 200
		a.Body, err = json.Marshal(j.out)
	}
	if err != nil {
		a.Outcome = verdict.Outcome{}
		return a, doors.OrUnavailable(err, notMade)
	}
	return a, nil
}

// check refuses a body that is not declared as plain JSON (415). It refuses a call with problems found while it was read,
// one with a malformed account, and one with an identity header that could be read in two ways (400). It parses neither
// the query nor the body.
func check(c doors.Call) error {
	if err := doors.CheckMediaType(c.Headers, c.Body, c.Encoded); err != nil {
		return err
	}
	_, malformed := c.Row.Read(c.Path, []string{c.Path}) // the rest of the path is the row's own
	problems := slices.Concat(c.Problems, malformed, doors.OddHeaders(c.Headers, "X-User-ID", "X-Account-ID", "X-Action"))
	if len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	return nil
}
