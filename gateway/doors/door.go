package doors

import (
	"context"
	"net"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Door answers the calls of one route by verdicts.
type Door interface {
	// Answer reads the question, has it judged and renders the verdict. Errors are
	// *resources.Error; the answer's question and verdict are recorded beside one, too.
	Answer(ctx context.Context, c Call) (Answer, error)
	// Unavailable is the body of a 503 for that error; nil is the body of the route's area.
	Unavailable(err error) []byte
}

// SubRequest is a door that a proxy, or a service, asks before each of its own calls. A body of its
// calls is not read, since it is that of the other call, and its own row keeps nobody out.
type SubRequest interface {
	Door
	// Told returns the other call, as far as it was told. Open says that it may be answered without a
	// credential: the edge then looks at none.
	Told(c Call) (of Original, open bool)
}

// Original is a call of somebody else, about which a door is asked. A part that was not told is empty. Path is
// without the query.
type Original struct{ Host, Method, Path string }

// AnyRequestID is a door whose protocol takes any text as the id of a request, which the answer has
// again.
type AnyRequestID interface {
	Door
	TakesAnyRequestID()
}

// Call is a call of a door. Its headers are valid until the door has answered.
type Call struct {
	Caller resources.Principal
	Route  *verdict.Route
	// RequestID is the call's id, as in the log.
	RequestID string
	Method    string
	// Path is the raw path behind the door's own; it is empty where the route's path takes none.
	Path string
	// HasQuery says that a ? was sent, Query is what follows it.
	HasQuery bool
	Query    string
	Headers  Headers
	Rates    Rates
	Body     []byte
	// Encoded says that the body has a Content-Encoding.
	Encoded bool
	// Problems are those of a 400 that hold at every door; the door adds its own to them.
	Problems []resources.Problem
}

// Headers are the request's headers.
type Headers interface {
	// Identity gives the value of an identity header, "" where it was not sent, or the problem of
	// one that two servers could read differently: sent twice, padded, with underscores.
	Identity(name string) (value, problem string)
	// Values gives the values of any header. Odd says that one was sent under a name with
	// underscores, which some servers read as hyphens.
	Values(name string) (values []string, odd bool)
}

// Rates are those of the caller, who has paid for one question.
type Rates interface {
	// Charge takes so many further questions from them, all or none: 429.
	Charge(further int) error
	// Owe takes so many further questions from them that were judged already. Where there are fewer left, the caller
	// waits the longer for the next one.
	Owe(further int)
}

// Foreign is a call in a protocol that the edge does not speak itself.
type Foreign struct {
	// Route names the door in records.
	Route string
	// RequestID is the original call's. Method and Path are the door's own.
	RequestID, Method, Path string
	Original                Original
	// Peer is the address of the connection.
	Peer net.Addr
	// Authorization and APIKey are the values of the credential's headers; Open says that none is
	// looked at. Problems are those of these headers.
	Authorization, APIKey []string
	Open                  bool
	Problems              []resources.Problem
	// Answer answers a call of this caller under this id.
	Answer func(ctx context.Context, caller resources.Principal, requestID string) (Answer, error)
}

// Answer is a door's answer.
type Answer struct {
	Status  int
	Headers []Header
	// Body is JSON. It is the edge's from then on.
	Body []byte
	// Question is as far as it was read, Verdict as far as it was reached. Of a batch they are what
	// its questions have in common, and how many were allowed.
	Question verdict.Question
	Verdict  verdict.Verdict
}

// Header is a header of the answer.
type Header struct{ Name, Value string }
