package doors

import (
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// Inside is a call of the API that a door makes for its caller, without a connection and without a credential. The
// edge answers it as the caller's own.
type Inside struct {
	Caller    resources.Principal
	RequestID string
	Method    string
	// Target is the escaped path with the query.
	Target string
	Header []Header
	// Body is JSON, or empty.
	Body []byte
	// Agent acts for the caller; nil for none.
	Agent *resources.ActingAgent
	// Account is the account in question. Own says that the call is about the caller alone.
	Account string
	Own     bool
}

// InsideAnswer is the edge's answer.
type InsideAnswer struct {
	Status int
	Header http.Header
	Body   []byte
}
