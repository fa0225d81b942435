package preview

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Changes reads changes to an account (resources/access).
type Changes interface {
	// Suppose returns the facts before and after the changes in the body. They are at least as new as the last change
	// answered before the call. The error of a wrong body is of KindBadRequest.
	Suppose(ctx context.Context, account string, body []byte) (resources.Supposed, error)
}

// Turns lets callers take turns (resources/gate). Each Enter without an error needs one Leave.
type Turns interface {
	Enter(ctx context.Context, caller string) error
	Leave()
}

// Door answers account.preview. All of its fields are needed.
type Door struct {
	Judge   *verdict.Judge
	Changes Changes
	// Turns bounds how many previews and batches are judged at once.
	Turns Turns
	Now   func() time.Time
}

// judgedForOne is how many questions a preview judges for one of its caller's rate.
const judgedForOne = 100

// errOldSnapshot means a store that broke its contract: the facts have a lower revision than the caller's right to ask
// was judged by.
var errOldSnapshot = errors.New("preview: the facts are older than those that were known before")

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
		err = errOldSnapshot
	}
	if err != nil {
		a.Outcome = verdict.Outcome{}
		return a, failed(err)
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
		return a, failed(err)
	}
	return a, nil
}

// check refuses a body that is not declared as plain JSON (415). It refuses a call with problems found while it was read,
// and one with an identity header that could be read in two ways (400). It parses neither the query nor the body.
func check(c doors.Call) error {
	if kinds, odd := c.Headers.Values("Content-Type"); c.Encoded || len(c.Body) > 0 && (odd || len(kinds) != 1 || !isJSON(kinds[0])) {
		return &resources.Error{
			Kind: resources.KindUnsupportedMedia, Message: "A body must be application/json in UTF-8 without a Content-Encoding.",
		}
	}
	problems := c.Problems
	for _, name := range []string{"X-User-ID", "X-Account-ID", "X-Action"} { // this door ignores them, a server on the way here may not
		if _, problem := c.Headers.Identity(name); problem != "" {
			problems = append(problems, resources.Problem{Field: name, Text: problem})
		}
	}
	if len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	return nil
}

func isJSON(contentType string) bool {
	json, utf8 := wire.MediaType(contentType)
	return json && utf8
}

// failed turns an error from outside the domain into one of KindUnavailable.
func failed(err error) error {
	if _, ok := errors.AsType[*resources.Error](err); ok {
		return err
	}
	return resources.Unavailable("The preview could not be made now; try again.", err)
}

// Unavailable implements doors.Door: the body is the one of the row's area.
func (Door) Unavailable(error) []byte { return nil }
