package message

import (
	"fmt"
	"slices"
)

// Keys of `_meta` of the revisions.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaInfo         = metaPrefix + "clientInfo"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaLogLevel     = metaPrefix + "logLevel"
	metaRelatedTask  = metaPrefix + "related-task"
)

// Names of members that are read: none of them is acceptable in another case.
var (
	paramNames = []string{
		"name", "uri", "cursor", "level", "taskId", "requestState", "protocolVersion", "arguments", "inputResponses",
		"capabilities", "clientInfo", "task", "ref", "notifications", "_meta",
	}
	metaNames   = []string{metaVersion, metaInfo, metaCapabilities, metaLogLevel, metaRelatedTask}
	listenNames = []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds"}
	refNames    = []string{"type", "name", "uri"}
)

// Levels are the levels of messages, the least first (RFC 5424).
var Levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// param reads a member of params.
func (r *reader) param(name string) {
	m := r.m
	switch name {
	case "name":
		r.text(&m.Name, CodeInvalidParams, "params.name")
	case "uri":
		r.text(&m.URI, CodeInvalidParams, "params.uri")
	case "cursor":
		r.text(&m.Cursor, CodeInvalidParams, "params.cursor")
	case "level":
		r.text(&m.Level, CodeInvalidParams, "params.level")
	case "taskId":
		r.text(&m.TaskID, CodeInvalidParams, "params.taskId")
	case "requestState":
		m.Retry = true
		r.text(&m.RequestState, CodeInvalidParams, "params.requestState")
	case "protocolVersion":
		r.text(&m.Opening.Version, CodeInvalidParams, "params.protocolVersion")
	case "arguments":
		r.raw(&m.Arguments, "params.arguments")
	case "inputResponses":
		m.Retry = true
		r.raw(&m.InputResponses, "params.inputResponses")
	case "capabilities":
		r.raw(&m.Opening.Capabilities, "params.capabilities")
	case "clientInfo":
		r.raw(&m.Opening.Info, "params.clientInfo")
	case "task":
		m.AsTask = true
		var task []byte
		r.raw(&task, "params.task")
	case "ref", "notifications", "_meta":
		r.nested(name)
	default:
		r.exact(name, paramNames...)
		r.Skip()
	}
}

// nested reads a member of params that is an object of known members.
func (r *reader) nested(name string) {
	if !r.isObject("params."+name, CodeInvalidParams) {
		return
	}
	read := r.meta
	switch name {
	case "ref":
		read = r.ref
	case "notifications":
		r.m.Listen.Given, read = true, r.listen
	}
	for name := range r.Members() {
		read(name)
	}
}

// raw reads an object as it is.
func (r *reader) raw(dst *[]byte, field string) {
	if r.isObject(field, CodeInvalidParams) {
		*dst = r.Raw(r.Skip)
	}
}

// meta reads a member of `_meta`.
func (r *reader) meta(name string) {
	meta := &r.m.Meta
	field := "params._meta." + name
	switch name {
	case metaVersion:
		r.text(&meta.Client.Version, CodeInvalidParams, field)
	case metaInfo:
		r.raw(&meta.Client.Info, field)
	case metaCapabilities:
		r.raw(&meta.Client.Capabilities, field)
	case metaLogLevel:
		r.text(&meta.LogLevel, CodeInvalidParams, field)
	case metaRelatedTask:
		if r.isObject(field, CodeInvalidParams) {
			for name := range r.Members() {
				if name == "taskId" {
					r.text(&meta.RelatedTask, CodeInvalidParams, field+".taskId")
					continue
				}
				r.exact(name, "taskId")
				r.Skip()
			}
		}
	default:
		r.exact(name, metaNames...)
		r.Skip()
	}
}

// ref reads a member of the reference of completion/complete.
func (r *reader) ref(name string) {
	ref := &r.m.Ref
	switch name {
	case "type":
		r.text(&ref.Type, CodeInvalidParams, "params.ref.type")
	case "name":
		r.text(&ref.Name, CodeInvalidParams, "params.ref.name")
	case "uri":
		r.text(&ref.URI, CodeInvalidParams, "params.ref.uri")
	default:
		r.exact(name, refNames...)
		r.Skip()
	}
}

// listen reads a member of the filter of subscriptions/listen.
func (r *reader) listen(name string) {
	l := &r.m.Listen
	switch name {
	case "toolsListChanged":
		r.flag(&l.Tools, name)
	case "promptsListChanged":
		r.flag(&l.Prompts, name)
	case "resourcesListChanged":
		r.flag(&l.Resources, name)
	case "resourceSubscriptions":
		r.texts(&l.URIs, name)
	case "taskIds":
		r.texts(&l.TaskIDs, name)
	default:
		r.exact(name, listenNames...)
		r.Skip()
	}
}

// flag reads true or false.
func (r *reader) flag(dst *bool, name string) {
	kind := r.Kind()
	if r.Skip(); kind != 't' && kind != 'f' {
		r.refuse(CodeInvalidParams, "params.notifications."+name+" must be true or false.")
	}
	*dst = kind == 't'
}

// maxListened limits each list of a filter. The door judges its items again while the stream is open.
const maxListened = 256

// texts reads an array of at most maxListened strings.
func (r *reader) texts(dst *[]string, name string) {
	field := "params.notifications." + name
	if r.Kind() != '[' {
		r.refuse(CodeInvalidParams, field+" must be an array.")
		r.Skip()
		return
	}
	for range r.Items() {
		var s string
		r.text(&s, CodeInvalidParams, "Each item of "+field)
		if len(*dst) == maxListened {
			r.refuse(CodeInvalidParams, fmt.Sprintf("%s must have at most %d items.", field, maxListened))
			continue
		}
		*dst = append(*dst, s)
	}
}

// needs refuses a request without the members by which its method is judged.
func (r *reader) needs() {
	m := r.m
	need := func(ok bool, text string) {
		if !ok {
			r.refuse(CodeInvalidParams, text)
		}
	}
	if value, field := m.HeaderName(); field != "" {
		need(value != "", field+" is missing or empty.")
	}
	switch m.Method {
	case MethodComplete:
		need(m.Ref.Type == RefPrompt && m.Ref.Name != "" || m.Ref.Type == RefResource && m.Ref.URI != "",
			"params.ref must be a ref/prompt with a name or a ref/resource with a uri.")
	case MethodListen:
		need(m.Listen.Given, "params.notifications is missing.")
	case MethodLevel:
		need(slices.Contains(Levels, m.Level), "params.level must be one of the levels of RFC 5424.")
	}
}
