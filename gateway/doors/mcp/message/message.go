package message

// Kind is a kind of JSON-RPC message. Its zero value is none of them.
type Kind int

const (
	// Request has a method and an id.
	Request Kind = iota + 1
	// Notification has a method alone.
	Notification
	// Response has an id and a result or an error.
	Response
)

// Message is what a client's message says. Its byte slices are parts of the body, and its strings are parts of one copy
// of it: a caller that keeps one beyond the request copies it. A string is "" and a slice nil if the member is absent.
type Message struct {
	Kind   Kind
	Method string
	// ID is the raw id, a string or a whole number. It is nil of a notification.
	ID []byte
	// Failed says that a response is an error.
	Failed bool

	// Name is of a tool or a prompt, URI of a resource.
	Name, URI string
	// Arguments is a raw object.
	Arguments []byte
	Cursor    string
	// Level is of logging/setLevel.
	Level string
	// Ref is what completion/complete completes for.
	Ref Ref
	// Listen is what subscriptions/listen asks for.
	Listen Listen
	// TaskID names the task of a tasks/ method.
	TaskID string
	// AsTask says that a legacy request asks to be run as a task.
	AsTask bool

	// Retry says that the request answers an input_required result: it has responses, or a state, or both.
	Retry bool
	// InputResponses is a raw object.
	InputResponses []byte
	RequestState   string

	// Opening is what initialize says of the client.
	Opening Client
	// Meta is the request's `_meta`.
	Meta Meta
}

// Client is what a client says of itself. Capabilities and Info are raw objects.
type Client struct {
	Version      string
	Capabilities []byte
	Info         []byte
}

// Meta is what the gateway reads of `_meta`.
type Meta struct {
	// Client is of the modern era.
	Client Client
	// LogLevel is the least level of the messages that a modern request asks for.
	LogLevel string
	// RelatedTask is the legacy task to which the message belongs.
	RelatedTask string
}

// Ref is a reference of completion/complete: a prompt's name, or a resource's URI or URI template.
type Ref struct{ Type, Name, URI string }

// The types of a Ref.
const (
	RefPrompt   = "ref/prompt"
	RefResource = "ref/resource"
)

// Listen is the filter of subscriptions/listen.
type Listen struct {
	// Given says that the request has a filter.
	Given                     bool
	Tools, Prompts, Resources bool
	// URIs are of resources, TaskIDs of tasks.
	URIs, TaskIDs []string
}

// HeaderName returns what Mcp-Name repeats of the message, and the field it comes from; "" and "" if the method has no
// such field.
func (m *Message) HeaderName() (value, field string) {
	switch m.Method {
	case MethodCall, MethodPrompt:
		return m.Name, "params.name"
	case MethodRead, MethodSubscribe, MethodUnsubscribe:
		return m.URI, "params.uri"
	case MethodTask, MethodTaskResult, MethodTaskUpdate, MethodTaskCancel:
		return m.TaskID, "params.taskId"
	}
	return "", ""
}
