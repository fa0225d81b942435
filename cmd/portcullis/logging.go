package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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
	access *accessLog
	queue  *lineQueue
}

func newLogs(w io.Writer, format string, level slog.Level) *logs {
	told := newLog(w, format, level)
	q := newLineQueue(w, queueSize, func(lines uint64) {
		told.Warn("lines of the log were dropped: its reader was too slow, stuck or gone", "lines", lines)
	})
	return &logs{Logger: newLog(lane{q, 0}, format, level), access: newAccessLog(lane{q, queueSize / 8}, format, level), queue: q}
}
