package message

// Kind is a kind of JSON-RPC message. The zero value is invalid.
type Kind int

const (
	// Request has a method and an id.
	Request Kind = iota + 1
	// Notification has a method and no id.
	Notification
	// Response has an id and a result or an error.
	Response
)

// Message is a parsed message of a client. Its byte slices point into the body and its strings into one copy of it. Clone
// a value to keep it longer than the request. An absent member is "" or nil.
type Message struct {
	Kind   Kind
	Method string
	// ID is the raw id, a string or a whole number. It is nil for a notification.
	ID []byte
	// Failed is true if a response is an error.
	Failed bool

	// Name is the name of a tool or a prompt, URI that of a resource.
	Name, URI string
	// Arguments is a raw object.
	Arguments []byte
	// Level is the level of logging/setLevel.
	Level string
	// Ref is the reference of completion/complete.
	Ref Ref
	// Listen is the filter of subscriptions/listen.
	Listen Listen
	// TaskID is the task id of a tasks/ method.
	TaskID string
	// AsTask is true if a legacy request asks to run as a task.
	AsTask bool

	// Retry is true if the request answers an input_required result with responses, a state, or both.
	Retry bool
	// InputResponses is a raw object.
	InputResponses []byte

	// Client is the client's description in `_meta`, of the modern era only.
	Client Client
}

// Client is a client's description of itself. Capabilities is a raw object.
type Client struct {
	Version      string
	Capabilities []byte
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
	// Given is true if the request has a filter.
	Given bool
	// URIs are URIs of resources, TaskIDs ids of tasks.
	URIs, TaskIDs []string
}

// HeaderName returns the value that Mcp-Name repeats, and its field in the body. It returns "" and "" for a method without
// such a field.
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
