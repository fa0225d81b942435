package message

import "strings"

// Methods of clients, by the names of the revisions.
const (
	MethodInitialize  = "initialize"
	MethodDiscover    = "server/discover"
	MethodPing        = "ping"
	MethodCall        = "tools/call"
	MethodPrompt      = "prompts/get"
	MethodRead        = "resources/read"
	MethodSubscribe   = "resources/subscribe"
	MethodUnsubscribe = "resources/unsubscribe"
	MethodComplete    = "completion/complete"
	MethodTools       = "tools/list"
	MethodPrompts     = "prompts/list"
	MethodResources   = "resources/list"
	MethodTemplates   = "resources/templates/list"
	MethodListen      = "subscriptions/listen"
	MethodLevel       = "logging/setLevel"
	MethodTask        = "tasks/get"
	MethodTaskResult  = "tasks/result"
	MethodTaskUpdate  = "tasks/update"
	MethodTaskCancel  = "tasks/cancel"
	MethodTasks       = "tasks/list"
)

const notifications = "notifications/"

// Class is what the door does with a message. Its zero value denies.
type Class int

const (
	// Unknown messages are denied and not forwarded.
	Unknown Class = iota
	// Passes for each caller who is known: initialize, server/discover, ping, notifications.
	Passes
	// Named messages are judged by the name, the URI or the reference that they have.
	Named
	// Listed messages are answered by a list, from which the door leaves items out.
	Listed
	// Streamed is subscriptions/listen: each URI in its filter is judged, and its stream as long as it is open.
	Streamed
	// OfTask messages name a task by its sealed id, and tasks/list asks for all of them.
	OfTask
	// Levelled is logging/setLevel, for a whole session.
	Levelled
	// Answers are responses to requests of the server.
	Answers
)

// methods has the class of each request, by era. What is absent is unknown.
var methods = map[Era]map[string]Class{
	Legacy: {
		MethodInitialize: Passes, MethodPing: Passes,
		MethodCall: Named, MethodPrompt: Named, MethodRead: Named, MethodSubscribe: Named, MethodUnsubscribe: Named, MethodComplete: Named,
		MethodTools: Listed, MethodPrompts: Listed, MethodResources: Listed, MethodTemplates: Listed,
		MethodTask: OfTask, MethodTaskResult: OfTask, MethodTaskCancel: OfTask, MethodTasks: OfTask,
		MethodLevel: Levelled,
	},
	Modern: {
		MethodDiscover: Passes,
		MethodCall:     Named, MethodPrompt: Named, MethodRead: Named, MethodComplete: Named,
		MethodTools: Listed, MethodPrompts: Listed, MethodResources: Listed, MethodTemplates: Listed,
		MethodListen: Streamed,
		MethodTask:   OfTask, MethodTaskUpdate: OfTask, MethodTaskCancel: OfTask,
	},
}

// Class returns what the door does with the message. A notification passes by its prefix alone: a server might run a
// tool that a notification names. A modern client sends no responses.
func (m *Message) Class(era Era) Class {
	switch {
	case m.Kind == Request:
		return methods[era][m.Method]
	case m.Kind == Notification && (era == Legacy || era == Modern) && strings.HasPrefix(m.Method, notifications):
		return Passes
	case m.Kind == Response && era == Legacy:
		return Answers
	}
	return Unknown
}

// serverRequests has the kind of each request of a server.
var serverRequests = map[string]string{
	"elicitation/create":     "elicitation",
	"sampling/createMessage": "sampling",
	"roots/list":             "roots",
}

// ServerRequest returns the kind of a server's request, as server_requests of the policy tree names it. It returns false
// for a method that is not known. A ping is of no kind: the door lets it pass in the legacy era.
func ServerRequest(method string) (kind string, ok bool) {
	kind, ok = serverRequests[method]
	return kind, ok
}
