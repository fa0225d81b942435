package extauthz

import (
	"context"
	"sync/atomic"
	"time"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// opened bounds the streams of all connections. Each holds memory from its head on, and a peer may leave
// its message out.
type opened struct {
	// most is how many may be open; 0 sets no bound. It is above the bound of the edge's requests, since the edge
	// refuses with an answer.
	most int64
	// timeout is how long a check may take, to arrive and to be answered.
	timeout time.Duration
	// closing ends with the server; the streams of other services end with it.
	closing context.Context //nolint:containedctx // of the server, not of a call
	now     atomic.Int64
}

// open takes a stream in. It implements tap.ServerInHandle.
func (o *opened) open(ctx context.Context, info *tap.Info) (context.Context, error) {
	if now := o.now.Add(1); o.most > 0 && now > o.most {
		o.now.Add(-1)
		return nil, status.Error(codes.Unavailable, "too many calls are under way")
	}
	if info.FullMethodName == auth.Authorization_Check_FullMethodName {
		ctx, cancel := context.WithTimeout(ctx, o.timeout)
		context.AfterFunc(ctx, func() {
			cancel()
			o.now.Add(-1)
		})
		return ctx, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(o.closing, cancel)
	context.AfterFunc(ctx, func() {
		stop()
		o.now.Add(-1)
	})
	return ctx, nil
}
