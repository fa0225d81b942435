package message

import (
	"slices"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// MaxBody limits a client's message, in bytes.
const MaxBody = 1 << 20

// reader parses one message of a client and keeps the first problem.
type reader struct {
	*wire.Stream
	m     *Message
	fault *Fault
	// The members of the envelope that were found.
	version, method, params, result bool
}

// Read parses a body with one message. The message points into the body. The fault has the status 400 and the code -32700
// for malformed JSON, -32600 for JSON that is not a message, or -32602 for missing or mistyped members of params.
func Read(body []byte) (*Message, *Fault) {
	if len(body) > MaxBody {
		return nil, badRequest(nil, CodeInvalidRequest, "The message must have at most 1 MiB.")
	}
	r := &reader{Stream: wire.NewStream(body), m: &Message{}}
	switch r.Kind() {
	case '{':
		for name := range r.Members() {
			r.member(name)
		}
	case '[':
		r.refuse(CodeInvalidRequest, "The body must be one message; batches are not supported.")
		r.Skip()
	default:
		r.refuse(CodeInvalidRequest, "The body must be a JSON object.")
		r.Skip()
	}
	if err := r.Err(); err != nil {
		return nil, badRequest(nil, CodeParse, "The body must be JSON without duplicate members, in UTF-8 and at most 32 levels deep: "+err.Error()+".")
	}
	r.complete()
	if r.fault != nil {
		r.fault.ID = r.m.ID
		return nil, r.fault
	}
	return r.m, nil
}

// refuse keeps the first problem.
func (r *reader) refuse(code int, text string) {
	if r.fault == nil {
		r.fault = badRequest(nil, code, text)
	}
}

// member reads a member of the envelope.
func (r *reader) member(name string) {
	switch name {
	case "jsonrpc":
		var version string
		if r.version = true; r.text(&version, CodeInvalidRequest, "jsonrpc") && version != "2.0" {
			r.refuse(CodeInvalidRequest, `jsonrpc must be "2.0".`)
		}
	case "id":
		r.id()
	case "method":
		if r.method = true; r.text(&r.m.Method, CodeInvalidRequest, "method") && r.m.Method == "" {
			r.refuse(CodeInvalidRequest, "method must not be empty.")
		}
	case "params":
		r.params = true
		r.object("params", CodeInvalidRequest, paramTable)
	case "result":
		if r.result = true; r.isObject("result", CodeInvalidRequest) {
			r.Skip()
		}
	case "error":
		if r.m.Failed = true; r.isObject("error", CodeInvalidRequest) {
			r.failure()
		}
	default:
		r.refuse(CodeInvalidRequest, "The message may only have the members jsonrpc, id, method, params, result and error.")
		r.Skip()
	}
}

// id reads the id: a string, or a whole number of 64 bits without fraction and exponent.
func (r *reader) id() {
	kind := r.Kind()
	raw := r.Raw(r.Skip)
	if kind == '0' {
		if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil {
			kind = 0
		}
	}
	if kind != '0' && kind != '"' {
		r.refuse(CodeInvalidRequest, "id must be a string or a whole number.")
		return
	}
	r.m.ID = raw
}

// failure reads the error of a response.
func (r *reader) failure() {
	var code, text bool
	for name := range r.Members() {
		switch kind := r.Kind(); name {
		case "code":
			_, err := strconv.ParseInt(string(r.Raw(r.Skip)), 10, 64)
			code = kind == '0' && err == nil
		case "message":
			text = kind == '"'
			r.Skip()
		default:
			if foldsTo(name, []string{"code", "message"}) {
				r.misspelt()
			}
			r.Skip()
		}
	}
	if !code || !text {
		r.refuse(CodeInvalidRequest, "error must have a code and a message.")
	}
}

// complete determines the kind of the message and rejects missing members.
func (r *reader) complete() {
	m, answers := r.m, r.result || r.m.Failed
	switch {
	case !r.version:
		r.refuse(CodeInvalidRequest, `jsonrpc is missing; it must be "2.0".`)
	case r.method && answers, r.result && m.Failed, !r.method && !answers:
		r.refuse(CodeInvalidRequest, "The message must have exactly one of method, result and error.")
	case answers && r.params:
		r.refuse(CodeInvalidRequest, "A response must not have params.")
	case answers && m.ID == nil:
		r.refuse(CodeInvalidRequest, "id is missing: a response must have the id of its request.")
	case answers:
		m.Kind = Response
	case m.ID == nil:
		m.Kind = Notification
	default:
		m.Kind = Request
		if m.Client.Version == "" || m.Class(Modern) != Unknown { // Era or the door rejects the others
			r.needs()
		}
	}
}

// isObject reports whether the next value is an object. It rejects and skips any other value.
func (r *reader) isObject(field string, code int) bool {
	if r.Kind() == '{' {
		return true
	}
	r.refuse(code, field+" must be an object.")
	r.Skip()
	return false
}

// text reads a string. It rejects and skips any other value.
func (r *reader) text(dst *string, code int, field string) bool {
	if r.Kind() != '"' {
		r.refuse(code, field+" must be a string.")
		r.Skip()
		return false
	}
	*dst = r.Text()
	return true
}

// misspelt rejects a name that equals a known one only if case is ignored, since some decoders ignore case.
func (r *reader) misspelt() {
	r.refuse(CodeInvalidRequest, "A member must have the revision's spelling, with its case.")
}

// foldsTo reports whether two different names are equal if case is ignored.
func foldsTo(name string, names []string) bool {
	return slices.ContainsFunc(names, func(k string) bool { return name != k && strings.EqualFold(name, k) })
}
