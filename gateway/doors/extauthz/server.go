package extauthz

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
)

const (
	// streams is how many checks one connection may have under way.
	streams = 256
	// workers is how many goroutines answer one check after the other: a new one for each spends
	// its time on a stack that grows.
	workers = 128
	// pingGap is the least time between two pings of a client.
	pingGap = 10 * time.Second
	// messageRoom is what a check has beside the headers, which it may have twice, in bytes.
	messageRoom = 16 << 10
	// metadata bounds the headers of a check itself in bytes.
	metadata = 16 << 10
)

// Limits bound what a connection may take; they are the edge's.
type Limits struct {
	// Header is the largest head of an original call in bytes.
	Header int
	// Read bounds the beginning of a connection, Write how long the peer may leave data without a word
	// that it has come, Idle a connection without checks.
	Read, Write, Idle time.Duration
	// Handle bounds the answer to a check.
	Handle time.Duration
	// Requests are the edge's at once; 0 sets no bound.
	Requests int
}

// Server serves a Door.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	// close ends the streams of other services.
	close context.CancelFunc
}

// NewServer makes a server. log gets what would otherwise end the process.
func NewServer(door *Door, l Limits, trust Trust, log *slog.Logger) *Server {
	closing, end := context.WithCancel(context.Background())
	streamed := &opened{most: 2 * int64(l.Requests), timeout: l.Read + l.Handle, closing: closing}
	s := &Server{close: end, health: health.NewServer(), grpc: grpc.NewServer(
		grpc.Creds(peers{trust}), grpc.InTapHandle(streamed.open),
		grpc.MaxRecvMsgSize(2*l.Header+messageRoom), grpc.MaxHeaderListSize(metadata), grpc.MaxConcurrentStreams(streams),
		grpc.ConnectionTimeout(l.Read), grpc.NumStreamWorkers(workers),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: l.Idle, Time: l.Idle, Timeout: l.Write}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingGap, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(survivor(log)),
	)}
	auth.RegisterAuthorizationServer(s.grpc, door)
	s.health.SetServingStatus(auth.Authorization_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	return s
}

// survivor answers a panic, which would end the process.
func survivor(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, v any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (out any, err error) {
		defer func() {
			if p := recover(); p != nil {
				log.Error("panic while answering a check", "error", fmt.Sprintf("%v\n%s", p, debug.Stack()))
				out, err = nil, status.Error(codes.Internal, "internal error")
			}
		}()
		return next(ctx, v)
	}
}

// Serve answers on the listener until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := s.grpc.Serve(l); err != nil {
		return fmt.Errorf("ext_authz: %w", err)
	}
	return nil
}

// Leave begins a stop: health says so, and checks are still answered.
func (s *Server) Leave() { s.health.Shutdown() }

// Shutdown stops accepting, tells health, ends what asks for it or for the services, lets checks under
// way finish within the context's time, and closes.
func (s *Server) Shutdown(ctx context.Context) {
	s.Leave()
	s.close()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
	}
}
