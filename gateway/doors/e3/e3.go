package e3

import (
	"context"
	"errors"
	"strconv"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Door answers E3.
type Door struct {
	Judge *verdict.Judge
	// DenyStatus is the status of a denied question: 200 or 403.
	DenyStatus int
}

// Answer implements doors.Door: 400 with all problems of the question, 403 if the caller may not
// ask it, 503 without a verdict.
func (d Door) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	q, problems := doors.ReadQuestion(c)
	if len(problems) > 0 {
		return doors.Answer{}, resources.BadRequest(problems...)
	}
	a := doors.About(&q)
	if a.Outcome = d.Judge.One(ctx, c.Caller, c.Row, q); a.Outcome.Err != nil {
		return a, a.Outcome.Err
	}
	a.Status, a.Revisions, a.Body = 200, true, render(a.Outcome.Allowed, a.Outcome.Reason)
	if !a.Outcome.Allowed {
		a.Status = d.DenyStatus
	}
	return a, nil
}

// render renders the answer's JSON. A credential in the reason is masked.
func render(allowed bool, reason string) []byte {
	const frame = len(`{"allowed":false,"reason":""}`)
	reason = resources.MaskCredentials(reason)
	body := strconv.AppendBool(append(make([]byte, 0, frame+len(reason)), `{"allowed":`...), allowed)
	return append(wire.AppendString(append(body, `,"reason":`...), reason), '}')
}

// Unavailable implements doors.OwnUnavailable: it denies, and names the bound of policy met by the question,
// or says that a dependency does not answer.
func (Door) Unavailable(err error) []byte {
	reason := "authorization state unavailable"
	for _, bound := range []error{resources.ErrPolicyTime, resources.ErrPolicyMemory} {
		if errors.Is(err, bound) {
			reason = bound.Error()
		}
	}
	return render(false, reason)
}
