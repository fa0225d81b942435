package doors

import (
	"context"
	"io"
	"net"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Door answers the calls of one route by verdicts.
type Door interface {
	// Answer reads the question, has it judged and renders the verdict. Errors are
	// *resources.Error; the answer's question and outcome are recorded beside one, too.
	Answer(ctx context.Context, c Call) (Answer, error)
}

// OwnUnavailable is a door with its own body of a 503, in place of that of the route's area.
type OwnUnavailable interface {
	Door
	Unavailable(err error) []byte
}

// AnyRequestID is a door whose protocol takes any text as the id of a request. The answer repeats it.
type AnyRequestID interface {
	Door
	TakesAnyRequestID()
}

// Call is a call of a door. Its headers are valid until the door has answered.
type Call struct {
	Caller *resources.Principal
	// Row is the door's own. Rows are those of the catalogue that was in force at the head of the call, Revision is its tree's.
	Row      *route.Row
	Rows     *catalogue.Index
	Revision string
	Method   string
	// Path is the raw path behind the door's own; it is empty for a route without one.
	Path string
	// Place is what Path names at a Protected door, whose row ends in {proxy+}.
	Place resources.Target
	// HasQuery says that a ? was sent, Query is what follows it.
	HasQuery bool
	Query    string
	Headers  Headers
	Rates    Rates
	Streams  Streams
	// Body is as it was sent, byte for byte.
	Body []byte
	// Encoded says whether the body has a Content-Encoding.
	Encoded bool
	// Problems are those of a 400 at every door; the door adds its own to them.
	Problems []resources.Problem
}

// Headers are the request's headers.
type Headers interface {
	// Identity gives the value of an identity header, "" for none. The problem says why two servers could read it
	// differently: sent twice, padded, with underscores.
	Identity(name string) (value, problem string)
	// Values gives the values of any header. Odd reports a name with underscores, since some servers read them as
	// hyphens.
	Values(name string) (values []string, odd bool)
}

// Rates are the caller's, charged with one question already.
type Rates interface {
	// Charge takes so many further questions from them, all or none: 429.
	Charge(further int) error
	// Owe takes so many further questions from them after they were judged. If fewer are available, the caller waits
	// longer for the next one.
	Owe(further int)
}

// Answer is a door's answer.
type Answer struct {
	Status int
	// Header has further headers. The edge drops those of a connection, and those that are its own.
	Header []Header
	// Body is JSON. It is the edge's from then on.
	Body []byte
	// Stream replaces Body; Header has its Content-Type. Length is how many bytes it has, negative if that is unknown.
	// Each read reaches the client at once. The edge closes the stream once, also beside an error and while it is read:
	// when the context of Call.Streams ends.
	Stream io.ReadCloser
	Length int64
	// Scopes are those that the call needs, beside a resources.KindForbidden for lack of them. The client of a
	// Protected door gets them as a challenge.
	Scopes []string
	// Revisions adds the headers with the revisions of policy and account of the outcome.
	Revisions bool
	// Subject, Account and Action are the question's, as far as it was read. Of a batch they are what its questions have in
	// common.
	Subject, Account, Action string
	// Outcome is as far as it was reached; of a batch it says how many questions were allowed.
	Outcome verdict.Outcome
}

// About returns the answer to a question without its verdict.
func About(q *resources.Question) Answer {
	return Answer{Subject: q.SubjectID, Account: q.AccountID, Action: q.Action.ID}
}

// SubRequest reads somebody else's call from a call of a door. The edge judges this call as its own, and does not read
// the body: the body belongs to the call. The door's own row keeps nobody out.
type SubRequest func(Call) Original

// Original is a call to another server, and this server asks about it first.
type Original struct {
	catalogue.Call
	// HasQuery says whether the call has a ?, Query is what follows it. Neither is part of the question.
	HasQuery bool
	Query    string
	// Headers are the call's. Those with a user, an account or an action are claims.
	Headers Headers
	// Action and Audience come from the proxy's configuration, out of any client's reach. Action replaces the row's, so
	// that the call needs no row; Audience is the service of its assertion. Each is empty for the row's.
	Action   resources.Action
	Audience string
	// Problems are those of the request, found before its row; Further are those of the rest of the call.
	Problems, Further []resources.Problem
}

// Public reports whether the call is for anybody, without a credential.
func (o *Original) Public(rows *catalogue.Index) bool {
	return len(o.Problems) == 0 && o.Action.ID == "" && rows.Public(o.call())
}

// Find returns the row of the call. A named action stands in for the row, a named audience for the row's audience. The
// errors are those of catalogue.Index.Find.
func (o *Original) Find(rows *catalogue.Index) (route.Match, error) {
	find := rows.Find
	if o.Action.ID != "" {
		find = func(c catalogue.Call) (route.Match, error) { return c.Unlisted(o.Action) }
	}
	m, err := find(o.call())
	if err == nil && o.Audience != "" {
		row := *m.Row
		row.Route.Audience = o.Audience
		m.Row = &row
	}
	return m, err
}

// Foreign is a call about an original one in a protocol foreign to the edge.
type Foreign struct {
	Original
	// Route names the door in records.
	Route string
	// RequestID is the original call's. DoorMethod and DoorPath are the door's own.
	RequestID, DoorMethod, DoorPath string
	// Peer is the address of the connection.
	Peer net.Addr
	// Authorization and APIKey are the values of the credential's headers. CredentialProblems are those of these headers.
	Authorization, APIKey []string
	CredentialProblems    []resources.Problem
	// Strict has the facts read anew.
	Strict bool
	// Refused is why the peer may not ask this, "" if it may.
	Refused string
}

// Vouched is what the service behind a proxy may take for the gateway's word.
type Vouched struct {
	// Headers has every identity header, "" without a value, and so replaces what a client sent under these names. It
	// is empty for a refused call.
	Headers []Header
	// RequestID is there beside an error, too.
	RequestID                          string
	DecisionID, Reason, PolicyRevision string
	AccountRevision                    int64
}

// Header is a header of an answer.
type Header struct{ Name, Value string }
