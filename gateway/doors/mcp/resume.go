package mcp

import (
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/resources"
)

// handle returns the handle of a server's id that belongs to rows.
func (v *visit) handle(id string, rows []row) message.Handle {
	h := message.Handle{ID: id, Place: v.place.path}
	for _, r := range rows {
		h.Rows = append(h.Rows, r.kind+"/"+r.name)
	}
	return h
}

// open returns the handle that was sealed for this caller at this place.
func (v *visit) open(purpose message.Purpose, sealed string) (message.Handle, bool) {
	h, ok := v.Sealed.OpenHandle(purpose, sealed, v.purpose())
	return h, ok && h.Place == v.place.path
}

// rowsOf returns the rows of a handle, as those of an earlier call.
func (v *visit) rowsOf(h message.Handle) (rows []row) {
	for _, one := range h.Rows {
		kind, name, _ := strings.Cut(one, "/")
		rows = append(rows, v.again(begun(row{kind: kind, name: name})))
	}
	return rows
}

// begun returns the row for what a call has begun: its task, or a stream that goes on.
func begun(r row) row {
	r.approval, r.begun = "", true
	return r
}

// sealEvent returns the client's id of an event, or "" for one that is too long. The client resumes the stream with it.
func (s *stream) sealEvent(id string) string {
	h := s.v.handle(id, s.v.rows)
	h.Tasks = s.v.tasks.sealed
	sealed, ok := s.v.Sealed.SealHandle(message.EventID, h, s.v.purpose())
	if !ok {
		return ""
	}
	return sealed
}

// resumed judges the rows of the stream that a client resumes, and puts the server's id of the event into the call. The
// stream knows its tasks again. Without such an event there are no rows. The error is KindNotFound for an event of another
// caller, and KindForbidden for a call that is no longer allowed.
func (v *visit) resumed(ctx context.Context, o *Outgoing) ([]row, error) {
	sealed := v.header(message.HeaderLastEvent)
	if sealed == "" {
		return nil, nil
	}
	h, ok := v.open(message.EventID, sealed)
	if !ok {
		return nil, resources.NotFound("event")
	}
	o.Header.Set(message.HeaderLastEvent, h.ID)
	v.tasks.sealed = h.Tasks
	rows := v.rowsOf(h)
	return rows, v.mayStill(ctx, rows, "The call that began this stream is not allowed any more.")
}
