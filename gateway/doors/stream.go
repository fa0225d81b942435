package doors

import (
	"context"
	"errors"
)

// ErrClientGone is the cause of the end of a context of Streams if the client went away.
var ErrClientGone = errors.New("the client has gone")

// Streams lets a call last longer than a request may: it waits for an upstream, or its answer is a stream.
type Streams interface {
	// Open gives the call's place among the requests under way back, and takes one among the streams: 503 if there is
	// none. The context ends when the client goes away, when the server stops, and with the answer. endless says that
	// the call ends by itself at no time: a stop ends it at once, other ones near the end of the time for it. A second
	// Open returns the first one's context.
	Open(endless bool) (context.Context, error)
}
