package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/portcullis-authz/portcullis/gateway"
)

// newLog writes structured lines; a line break in a value stays inside it.
func newLog(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// driverLog takes the Redis driver's own log, which is of single connections: for looking
// closely.
type driverLog struct{ log *slog.Logger }

// Printf implements the driver's interface.
func (d driverLog) Printf(ctx context.Context, format string, v ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis driver", "text", fmt.Sprintf(format, v...))
	}
}

// logs are the log of a process that serves. Nobody waits for its reader.
type logs struct {
	*slog.Logger
	// access is for the lines of requests. They leave an eighth of the queue to all others,
	// since under load it is they that fill it.
	access *slog.Logger
	queue  *lineQueue
}

func newLogs(w io.Writer, format string, level slog.Level) *logs {
	told := newLog(w, format, level)
	q := newLineQueue(w, queueSize, func(lines uint64) {
		told.Warn("lines of the log were dropped: its reader was too slow, stuck or gone", "lines", lines)
	})
	return &logs{Logger: newLog(lane{q, 0}, format, level), access: newLog(lane{q, queueSize / 8}, format, level), queue: q}
}

// accessLine writes the one line of a request.
func accessLine(log *slog.Logger, r gateway.Record) {
	decision := "deny"
	if r.Allowed {
		decision = "allow"
	}
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("request_id", r.RequestID), slog.String("method", r.Method), slog.String("path", r.Path),
		slog.String("route", r.Route), slog.Int("status", r.Status), slog.String("principal", r.Principal),
		slog.String("action", r.Action), slog.String("account", r.Account), slog.String("decision", decision),
		slog.String("reason", r.Reason), slog.String("policy_revision", r.PolicyRevision),
		slog.Float64("duration_ms", float64(r.Duration.Microseconds())/1000),
	}
	if r.Subject != "" {
		attrs = append(attrs, slog.String("subject", r.Subject), slog.String("decision_id", r.DecisionID))
	}
	if r.KeyID != "" {
		attrs = append(attrs, slog.String("key_id", r.KeyID))
	}
	if r.Err != nil {
		attrs = append(attrs, slog.String("error", r.Err.Error()))
		if r.Status >= 500 {
			level = slog.LevelError
		}
	}
	log.LogAttrs(context.Background(), level, "request", attrs...)
}
