package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
)

// newLog writes structured lines; a line break in a value stays inside it.
func newLog(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return slog.New(slog.NewTextHandler(shown{w}, options))
	}
	return slog.New(slog.NewJSONHandler(shown{w}, options))
}

// shown takes one line a Write, and writes it as it may be shown to anybody. Every line that
// the program says of itself goes through it, but for those that can't hold anything else
// (accessLog).
type shown struct{ to io.Writer }

// Write implements io.Writer.
func (s shown) Write(line []byte) (int, error) {
	if _, err := io.WriteString(s.to, showable(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// showable masks the credentials in a line and escapes what a reader would not see, as JSON
// and Go do.
func showable(line string) string {
	line, ended := strings.CutSuffix(line, "\n")
	line = resources.MaskCredentials(line)
	var out strings.Builder
	done := 0
	for i, r := range line {
		if ' ' <= r && r < 0x7f || r != utf8.RuneError && !resources.Unseen(r) {
			continue
		}
		out.WriteString(line[done:i])
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		done = i + size
	}
	out.WriteString(line[done:])
	if ended {
		out.WriteByte('\n')
	}
	return out.String()
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
