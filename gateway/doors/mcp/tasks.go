package mcp

import (
	"context"
	"errors"
	"net/http"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

var errTask = errors.New("mcp: the server names a task that the client does not know")

// tasks are the tasks in a message of the client and in the responses to it. Clients get sealed ids. Such an id also holds
// the tool of the task. Only the goroutine that reads the responses uses tasks.
type tasks struct {
	// named holds the tasks in the client's message by the client's id.
	named map[string]message.Handle
	// sealed holds the client's id of each task by the server's id.
	sealed map[string]string
}

// openTasks puts the server's ids in place of the sealed ones of a client's message. It returns false if an id was not
// sealed for this caller at this place. Read has rejected requests with other spellings of the members with ids.
func (v *visit) openTasks(m *message.Message) bool {
	v.tasks = tasks{map[string]message.Handle{}, map[string]string{}}
	if m.Kind != message.Response && !message.HasTaskID(v.call.Body) {
		return true
	}
	body, err := message.ReplaceTaskIDs(v.call.Body, func(sealed string) (string, error) {
		task, ok := v.open(message.TaskID, sealed)
		if !ok {
			return "", errTask
		}
		v.tasks.named[sealed], v.tasks.sealed[task.ID] = task, sealed
		return task.ID, nil
	})
	if err != nil {
		return false
	}
	v.call.Body = body
	return true
}

// sealTasks puts sealed ids in place of the server's. The response to a call of a tool may name one new task of that tool.
// Any other message may only name the tasks of the client's message.
func (v *visit) sealTasks(p *posted, raw []byte, response bool) ([]byte, error) {
	if !message.HasTaskID(raw) {
		return raw, nil
	}
	return message.ReplaceTaskIDs(raw, func(id string) (string, error) {
		sealed, ok := v.tasks.sealed[id]
		switch {
		case ok:
			return sealed, nil
		case !response || p.Method != message.MethodCall || len(v.tasks.sealed) > len(v.tasks.named):
			return "", errTask
		}
		sealed, ok = v.Sealed.SealHandle(message.TaskID, v.handle(id, []row{toolRow(v.server, p.Name)}), v.purpose())
		if !ok {
			return "", errTask
		}
		v.tasks.sealed[id] = sealed
		return sealed, nil
	})
}

// ofTask judges a message about a task as a call of its tool.
func (v *visit) ofTask(ctx context.Context, p *posted) (doors.Answer, error) {
	if p.Method == message.MethodTasks { // servers list what they did for the gateway, for all callers
		return unknown(p, "This gateway does not list tasks."), nil
	}
	return v.judged(ctx, p, v.taskRow(p.TaskID))
}

// taskRow returns the row of the tool of a task by the client's id.
func (v *visit) taskRow(id string) row {
	if rows := v.rowsOf(v.tasks.named[id]); len(rows) == 1 {
		return rows[0]
	}
	return toolRow(v.server, "") // which no catalogue has
}

// noTask answers a message about a task that the caller has not. An ended task has the same answer.
func noTask(p *posted) doors.Answer {
	status := http.StatusOK
	if p.era == message.Modern || p.Kind != message.Request {
		status = http.StatusNotFound
	}
	return doors.Answer{Status: status, Body: message.Error(p.ID, message.CodeInvalidParams, "The task is not known, or has ended.")}
}
