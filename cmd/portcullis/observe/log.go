package observe

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

const (
	// FormatJSON writes each line of the log as a JSON object.
	FormatJSON = "json"
	// FormatText writes each line of the log as key=value pairs.
	FormatText = "text"

	// flushTime is how long the end of the process waits for the log.
	flushTime = 2 * time.Second
)

// Log is the log of a process that serves. No writer of it waits for its reader.
type Log struct {
	*slog.Logger
	// access takes the lines of requests. Under load they fill the queue, so they leave an
	// eighth of it to all others.
	access *accessLog
	queue  *lineQueue
	level  *slog.LevelVar
}

// NewLog writes the lines of at least the level to w. Close ends it.
func NewLog(w io.Writer, format string, lowest slog.Level) *Log {
	level := new(slog.LevelVar)
	level.Set(lowest)
	var q *lineQueue
	q = newLineQueue(w, queueSize, func(lines uint64) { // not before the first line
		newLogger(whole{q}, format, level).Warn("lines of the log were dropped: its reader was too slow, stuck or gone", "lines", lines)
	})
	return &Log{
		Logger: newLogger(lane{q, 0}, format, level),
		access: newAccessLog(lane{q, queueSize / 8}, format, level),
		queue:  q,
		level:  level,
	}
}

// SetLevel changes the lowest level that is logged.
func (l *Log) SetLevel(lowest slog.Level) { l.level.Set(lowest) }

// Always writes a line at every level.
func (l *Log) Always(message string, args ...any) {
	line := slog.NewRecord(time.Now(), slog.LevelInfo, message, 0)
	line.Add(args...)
	_ = l.Handler().Handle(context.Background(), line) // the queue counts what it drops
}

// Request writes the line of an answered request.
func (l *Log) Request(r *gateway.Record) { l.access.request(r) }

// Close writes the lines that wait, for two seconds at most.
func (l *Log) Close() { l.queue.close(flushTime) }

// newLogger writes structured lines; a line break in a value stays inside it.
func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == FormatText {
		return slog.New(slog.NewTextHandler(Printable(w), options))
	}
	return slog.New(slog.NewJSONHandler(Printable(w), options))
}

// RedisLog writes the Redis driver's own log, which is about single connections, at the
// level debug.
type RedisLog struct{ Log *slog.Logger }

// Printf implements the driver's interface.
func (r RedisLog) Printf(ctx context.Context, format string, v ...any) {
	if r.Log.Enabled(ctx, slog.LevelDebug) {
		r.Log.DebugContext(ctx, "redis driver", "text", fmt.Sprintf(format, v...))
	}
}
