package message

import "strings"

// Methods of clients.
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

const (
	notifications = "notifications/"
	methodElicit  = "elicitation/create"
)

// Class is the door's way to handle a message. The zero value denies.
type Class int

const (
	// Unknown messages are denied.
	Unknown Class = iota
	// Passes is for initialize, server/discover, ping and notifications: any authenticated caller may send them.
	Passes
	// Named messages are judged by their name, URI or reference.
	Named
	// Listed messages get a list. The door removes items from it.
	Listed
	// Streamed is for subscriptions/listen. The door judges each URI in its filter, and again while the stream is open.
	Streamed
	// OfTask messages name a task by its sealed id, or list tasks.
	OfTask
	// Levelled is for logging/setLevel, which affects a whole session.
	Levelled
	// Answers are responses to requests of the server.
	Answers
)

// methods holds the class of each request, by era. An absent method is Unknown.
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

// Class returns the class of the message. A notification passes only if its method begins with notifications/, since a
// server might run a tool that a notification names. In the modern era clients send no responses.
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

// serverRequests holds the kind of each request of a server, by method.
var serverRequests = map[string]string{
	methodElicit:             "elicitation",
	"sampling/createMessage": "sampling",
	"roots/list":             "roots",
}

// ServerRequest returns the kind under which server_requests lists a server's request. It returns false for an unknown
// method and for ping, which the door forwards in the legacy era.
func ServerRequest(method string) (kind string, ok bool) {
	kind, ok = serverRequests[method]
	return kind, ok
}
