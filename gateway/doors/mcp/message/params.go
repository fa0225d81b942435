package message

import (
	"fmt"
	"slices"
	"strings"
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

// param is a known member of params or of an object in it. Its name is not acceptable in another case.
type param struct {
	name string
	read func(r *reader, field string)
	// field is the path of the member.
	field string
}

var (
	paramTable = table("params",
		text("name", func(m *Message) *string { return &m.Name }),
		text("uri", func(m *Message) *string { return &m.URI }),
		text("cursor", unused),
		text("level", func(m *Message) *string { return &m.Level }),
		text("taskId", func(m *Message) *string { return &m.TaskID }),
		text("requestState", func(m *Message) *string { m.Retry = true; return new(string) }),
		text("protocolVersion", unused),
		raw("arguments", func(m *Message) *[]byte { return &m.Arguments }),
		raw("inputResponses", func(m *Message) *[]byte { m.Retry = true; return &m.InputResponses }),
		raw("capabilities", unused),
		raw("clientInfo", unused),
		raw("task", func(m *Message) *[]byte { m.AsTask = true; return new([]byte) }),
		nested("ref", refTable),
		param{name: "notifications", read: (*reader).listen},
		nested("_meta", metaTable),
	)
	metaTable = table("params._meta",
		text(metaVersion, func(m *Message) *string { return &m.Client.Version }),
		raw(metaInfo, unused),
		raw(metaCapabilities, func(m *Message) *[]byte { return &m.Client.Capabilities }),
		text(metaLogLevel, unused),
		nested(metaRelatedTask, relatedTable),
	)
	relatedTable = table("params._meta."+metaRelatedTask, text("taskId", unused))
	// refTable are the members of the reference of completion/complete.
	refTable = table("params.ref",
		text("type", func(m *Message) *string { return &m.Ref.Type }),
		text("name", func(m *Message) *string { return &m.Ref.Name }),
		text("uri", func(m *Message) *string { return &m.Ref.URI }),
	)
	// listenTable are the members of the filter of subscriptions/listen.
	listenTable = table("params.notifications",
		flag("toolsListChanged"),
		flag("promptsListChanged"),
		flag("resourcesListChanged"),
		texts("resourceSubscriptions", func(l *Listen) *[]string { return &l.URIs }),
		texts("taskIds", func(l *Listen) *[]string { return &l.TaskIDs }),
	)
)

// Levels are the levels of messages, the least first (RFC 5424).
var Levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// table returns the known members of the object at a path.
func table(path string, params ...param) []param {
	for i := range params {
		params[i].field = path + "." + params[i].name
	}
	return params
}

// unused is for a member that is held to its type. Nobody needs its value.
func unused[T any](*Message) *T { return new(T) }

// text is a member with a string.
func text(name string, dst func(*Message) *string) param {
	return param{name: name, read: func(r *reader, field string) { r.text(dst(r.m), CodeInvalidParams, field) }}
}

// raw is a member with an object, which stays as it is.
func raw(name string, dst func(*Message) *[]byte) param {
	return param{name: name, read: func(r *reader, field string) {
		if r.isObject(field, CodeInvalidParams) {
			*dst(r.m) = r.Raw(r.Skip)
		}
	}}
}

// nested is a member with an object of known members.
func nested(name string, params []param) param {
	return param{name: name, read: func(r *reader, field string) { r.object(field, CodeInvalidParams, params) }}
}

// flag is a member with true or false.
func flag(name string) param {
	return param{name: name, read: func(r *reader, field string) {
		kind := r.Kind()
		if r.Skip(); kind != 't' && kind != 'f' {
			r.refuse(CodeInvalidParams, field+" must be true or false.")
		}
	}}
}

// texts is a member with an array of at most maxListened strings.
func texts(name string, dst func(*Listen) *[]string) param {
	return param{name: name, read: func(r *reader, field string) { r.texts(dst(&r.m.Listen), field) }}
}

// listen reads the filter of subscriptions/listen.
func (r *reader) listen(field string) {
	r.m.Listen.Given = true
	r.object(field, CodeInvalidParams, listenTable)
}

// object reads an object of known members. It skips the others.
func (r *reader) object(field string, code int, params []param) {
	if !r.isObject(field, code) {
		return
	}
	for name := range r.Members() {
		i := slices.IndexFunc(params, func(p param) bool { return strings.EqualFold(p.name, name) })
		if i >= 0 && params[i].name == name {
			params[i].read(r, params[i].field)
			continue
		}
		if i >= 0 {
			r.misspelt()
		}
		r.Skip()
	}
}

// maxListened limits each list of a filter. The door judges its items again while the stream is open.
const maxListened = 256

// texts reads an array of at most maxListened strings.
func (r *reader) texts(dst *[]string, field string) {
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
