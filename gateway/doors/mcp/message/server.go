package message

import "strconv"

// Types of results that are not complete.
const (
	// ResultInput asks the client for input and a retry.
	ResultInput = "input_required"
	// ResultTask names the task that will have the result.
	ResultTask = "task"
)

// ServerMessage is what a server's message says.
type ServerMessage struct {
	Kind   Kind
	Method string
	// ID is the raw id, nil of a notification and of an error whose request the server could not read.
	ID []byte
	// Failed says that a response is an error. Code is the error's.
	Failed bool
	Code   int64
	// ResultType is "" of a legacy result.
	ResultType string
	// IsError says that a tool's result is an error.
	IsError bool
	// Inputs are the methods of the requests that a result or a task has for the client, in their order.
	Inputs []string
}

var (
	envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	resultNames   = []string{"resultType", "isError", "inputRequests"}
	inputNames    = []string{"method"}
)

// ReadServer reads a server's message of at most MaxAnswer bytes: a response, a notification, or a request of the legacy
// era. An error says why a client could read it differently, or that it is not a message.
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
	// What the envelope has.
	version, result bool
}

// member reads a member of the envelope.
func (r *serverReader) member(name string) (err error) {
	switch name {
	case "jsonrpc":
		var version string
		version, _, err = r.text()
		r.version = version == "2.0"
	case "id":
		return r.id()
	case "method":
		r.m.Method, _, err = r.text()
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
		r.m.ResultType, _, err = r.text()
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
	r.m.Inputs[len(r.m.Inputs)-1], _, err = r.text()
	return err
}

// complete finds the kind of the message.
func (r *serverReader) complete() error {
	m := r.m
	switch named := m.Method != ""; {
	case !r.version, named && (r.result || m.Failed), r.result && m.Failed, r.result && m.ID == nil:
		return errNotMessage
	case r.result || m.Failed:
		m.Kind = Response
	case named && m.ID == nil:
		m.Kind = Notification
	case named:
		m.Kind = Request
	default:
		return errNotMessage
	}
	return nil
}
