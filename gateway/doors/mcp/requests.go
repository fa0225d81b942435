package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/resources"
)

// maxAsked limits the requests of a stream's server that it can still cancel.
const maxAsked = 64

var errRequest = errors.New("mcp: the id of the server's request is too long")

// sealRequest puts a sealed id in place of that of a server's request. It holds the rows of the stream: the client's answer
// is judged as their use.
func (v *visit) sealRequest(m *message.ServerMessage, raw []byte) ([]byte, error) {
	sealed, ok := v.Sealed.SealHandle(message.RequestID, v.handle(string(m.ID), v.rows), v.purpose())
	if !ok {
		return nil, errRequest
	}
	if len(v.asked) == maxAsked {
		clear(v.asked)
	}
	v.asked[string(m.ID)] = sealed
	return message.ReplaceRequestID(raw, false, func([]byte) string { return `"` + sealed + `"` })
}

// sealCancelled puts the client's id into a server's notification that it has cancelled a request. It returns nil for an
// unknown one.
func (v *visit) sealCancelled(raw []byte) ([]byte, error) {
	pending := true
	out, err := message.ReplaceRequestID(raw, true, func(id []byte) string {
		var sealed string
		sealed, pending = v.asked[string(id)]
		return `"` + sealed + `"`
	})
	if !pending {
		return nil, err
	}
	return out, err
}

// answers judges a client's answer to a server's request as the use of the rows on whose stream it came, and forwards it. The
// error is KindNotFound for a request that the server has not made to this caller.
func (v *visit) answers(ctx context.Context, p *posted) (doors.Answer, error) {
	h, ok := v.open(message.RequestID, strings.Trim(string(p.ID), `"`))
	if !ok {
		return doors.Answer{}, resources.NotFound("request")
	}
	rows := v.rowsOf(h)
	if err := v.mayAnswer(ctx, rows); err != nil {
		return doors.Answer{}, err
	}
	if scopes := lacking(v.call.Caller, rows...); len(scopes) > 0 {
		return doors.Answer{Scopes: scopes}, errScopes(scopes)
	}
	body, err := message.ReplaceRequestID(v.call.Body, false, func([]byte) string { return h.ID })
	if err != nil {
		return doors.Answer{}, silent(err)
	}
	v.call.Body, p.ID = body, []byte(h.ID)
	return v.forward(p, nil, nil)
}

// mayAnswer returns an error unless the caller may still use the rows, all of them. A request on the stream of a session is
// about no row: then the caller may still use one of the server's.
func (v *visit) mayAnswer(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return v.mayUse(ctx)
	}
	return v.mayStill(ctx, rows, "The call that this answers is not allowed any more.")
}

// mayStill returns an error with that text unless the caller may use the rows, all of them.
func (v *visit) mayStill(ctx context.Context, rows []row, text string) error {
	allowed, err := v.allowed(ctx, v.judge, rows, true)
	switch {
	case err != nil:
		return silent(err)
	case slices.Contains(allowed, false):
		return resources.Forbidden("%s", text)
	}
	return nil
}

// mayUse returns an error unless policy allows the caller one of the server's rows. It records no verdict.
func (v *visit) mayUse(ctx context.Context) error {
	rows := used(v.server)
	v.call.Rates.Owe(max(0, len(rows)-1))
	allowed, err := v.allowed(ctx, v.judge.Quiet(), rows, false)
	switch {
	case err != nil:
		return silent(err)
	case !slices.Contains(allowed, true):
		return resources.Forbidden("You may not use this server here.")
	}
	return nil
}

// passed forwards a message about no row. The gateway then vouches for the account in the path, so a caller of another
// account must be allowed something there.
func (v *visit) passed(ctx context.Context, p *posted) (doors.Answer, error) {
	if v.account() != v.call.Caller.AccountID {
		if err := v.mayUse(ctx); err != nil {
			return doors.Answer{}, err
		}
	}
	return v.forward(p, nil, nil)
}
