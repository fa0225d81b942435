package message

import "strconv"

// resultInput is the type of a result that asks the client for input and a retry.
const resultInput = "input_required"

// ServerMessage is a parsed message of a server.
type ServerMessage struct {
	Kind   Kind
	Method string
	// ID is the raw id. It is nil for a notification and for an error about an unreadable request.
	ID []byte
	// Failed is true if the response is an error. Code is the error's code.
	Failed bool
	Code   int64
	// IsError is true if a tool's result is an error.
	IsError bool
	// URI is the resource that a notification is about, or "".
	URI string
	// Inputs are the methods of the requests for the client in a result, a task or an error, in order.
	Inputs []string
}

var (
	envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	resultNames   = []string{"resultType", "isError", "inputRequests"}
	inputNames    = []string{"method"}
)

// ReadServer parses a server's message of at most MaxAnswer bytes: a response, a notification, or a legacy request. It
// returns an error for a message that clients could read differently.
func ReadServer(body []byte) (*ServerMessage, error) {
	w, err := newWalk(body)
	if err != nil {
		return nil, err
	}
	r := serverReader{walk: w, m: &ServerMessage{}}
	if _, err := w.object(envelopeNames, r.member); err != nil {
		return nil, err
	}
	if err := w.end(); err != nil {
		return nil, err
	}
	return r.m, r.complete()
}

// serverReader reads one message of a server.
type serverReader struct {
	*walk
	m *ServerMessage
	// The members of the envelope that were found.
	version, result bool
}

// member reads a member of the envelope.
func (r *serverReader) member(name string) (err error) {
	switch name {
	case "jsonrpc":
		var version string
		version, err = r.text()
		r.version = version == "2.0"
	case "id":
		return r.id()
	case "method":
		r.m.Method, err = r.text()
	case "params", "result":
		r.result = r.result || name == "result"
		_, err = r.object(resultNames, r.part)
	case "error":
		r.m.Failed = true
		_, err = r.object([]string{"code"}, r.code)
	default:
		return r.skip()
	}
	return err
}

// id reads the id. A null is as good as none.
func (r *serverReader) id() error {
	kind := r.kind()
	place, err := r.value()
	switch {
	case err != nil:
		return err
	case kind == 'n':
	case kind == '"' || kind == '0':
		r.m.ID = r.body[place.Start:place.End]
	default:
		return errNotMessage
	}
	return nil
}

// code reads a member of an error.
func (r *serverReader) code(name string) error {
	place, err := r.value()
	if err != nil || name != "code" {
		return err
	}
	if r.m.Code, err = strconv.ParseInt(string(r.body[place.Start:place.End]), 10, 64); err != nil {
		return errNotMessage
	}
	return nil
}

// part reads a member of a result, or of the params of a notification about a task.
func (r *serverReader) part(name string) (err error) {
	switch {
	case name == "resultType":
		_, err = r.text()
	case name == "uri" && r.kind() == '"':
		r.m.URI, err = r.text()
	case name == "isError":
		r.m.IsError = r.kind() == 't'
		err = r.skip()
	case name == "inputRequests" && r.kind() == '{':
		_, err = r.object(nil, func(string) error {
			r.m.Inputs = append(r.m.Inputs, "")
			_, err := r.object(inputNames, r.input)
			return err
		})
	case name == "inputRequests":
		return errNotObject
	default:
		return r.skip()
	}
	return err
}

// input reads a member of a request for the client.
func (r *serverReader) input(name string) (err error) {
	if name != "method" {
		return r.skip()
	}
	r.m.Inputs[len(r.m.Inputs)-1], err = r.text()
	return err
}

// complete finds the kind of the message.
func (r *serverReader) complete() error {
	m := r.m
	switch named := m.Method != ""; {
	case !r.version, named && (r.result || m.Failed), r.result && m.Failed, r.result && m.ID == nil:
		return errNotMessage
	case r.result || m.Failed:
		if m.Kind = Response; m.Failed && m.Code == CodeElicitation {
			m.Inputs = append(m.Inputs, methodElicit)
		}
	case named && m.ID == nil:
		m.Kind = Notification
	case named:
		m.Kind = Request
	default:
		return errNotMessage
	}
	return nil
}
