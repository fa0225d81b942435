package observe

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// accessLog writes one line for each request. It renders JSON itself if the bytes are the same as
// those of the log's handler, and calls the handler otherwise. The handler takes six times as long
// and allocates three times, more than all else of a request answered from a cache
// (BenchmarkObserve).
type accessLog struct {
	handler slog.Handler
	// out takes the lines in JSON; nil if they are text.
	out   io.Writer
	level slog.Leveler
	lines sync.Pool
}

// lineRoom is the size of an ordinary line in bytes.
const lineRoom = 1 << 10

func newAccessLog(w io.Writer, format string, level slog.Leveler) *accessLog {
	l := &accessLog{handler: newLogger(w, format, level).Handler(), level: level}
	l.lines.New = func() any { line := make([]byte, 0, lineRoom); return &line }
	if format != FormatText {
		l.out = w
	}
	return l
}

// request writes the line of a request.
func (l *accessLog) request(r *gateway.Record) {
	if l.out == nil || l.level.Level() > slog.LevelInfo || !plain(r) {
		accessLine(l.handler, r)
		return
	}
	line := l.lines.Get().(*[]byte)
	*line = appendLine((*line)[:0], r)
	_, _ = l.out.Write(*line) // the queue counts what it drops
	l.lines.Put(line)
}

// text is a field of a line, left out if it is optional and empty.
type text struct {
	name, value string
	optional    bool
}

// The status stands behind statusAfter texts, the duration behind durationAfter.
const statusAfter, durationAfter = 4, 10

// textsOf returns the texts of a line in their order.
func textsOf(r *gateway.Record) [18]text {
	direct := r.Original == catalogue.Call{}
	return [...]text{
		{"request_id", r.RequestID, false},
		{"method", r.Method, false},
		{"path", r.Path, false},
		{"route", r.Route, false},
		{"principal", r.Principal, false},
		{"action", r.Action, false},
		{"account", r.Account, false},
		{"decision", resources.DecisionWord(r.Allowed), false},
		{"reason", r.Reason, false},
		{"policy_revision", r.PolicyRevision, false},
		{"subject", r.Subject, true},
		{"decision_id", r.DecisionID, true},
		{"key_id", r.KeyID, true},
		{"original_host", r.Original.Host, direct},
		{"original_method", r.Original.Method, direct},
		{"original_path", r.Original.Path, direct},
		{"problems", r.Problems, true},
		{"trace_id", r.TraceID, true},
	}
}

// plain reports whether a line can be written by hand: JSON writes every string of it as it
// is, none holds a credential, and the request has no error.
func plain(r *gateway.Record) bool {
	for _, t := range textsOf(r) {
		if !plainText(t.value) {
			return false
		}
	}
	return r.Err == nil
}

func plainText(text string) bool { return wire.Plain(text) && !resources.HoldsCredential(text) }

// appendLine appends what accessLine writes of a plain record.
func appendLine(dst []byte, r *gateway.Record) []byte {
	dst = r.At.AppendFormat(append(dst, `{"time":"`...), time.RFC3339Nano)
	dst = append(dst, `","level":"INFO","msg":"request"`...)
	for i, t := range textsOf(r) {
		switch i {
		case statusAfter:
			dst = strconv.AppendInt(append(dst, `,"status":`...), int64(r.Status), 10)
		case durationAfter:
			dst = appendDuration(dst, r)
		}
		if !t.optional || t.value != "" {
			dst = append(append(append(append(append(dst, `,"`...), t.name...), `":"`...), t.value...), '"')
		}
	}
	return append(dst, '}', '\n')
}

// appendDuration appends the milliseconds of a request as a member of its line.
func appendDuration(dst []byte, r *gateway.Record) []byte {
	dst = append(dst, `,"duration_ms":`...)
	micros := r.Duration.Microseconds()
	if micros < 0 || micros >= 1_000_000 {
		return strconv.AppendFloat(dst, milliseconds(r.Duration), 'f', -1, 64)
	}
	dst = strconv.AppendInt(dst, micros/1000, 10) // the same digits, without floating point
	for rest, unit := micros%1000, int64(100); rest > 0; rest, unit = rest%unit, unit/10 {
		if unit == 100 {
			dst = append(dst, '.')
		}
		dst = append(dst, byte('0'+rest/unit)) //nolint:gosec // one digit
	}
	return dst
}

// accessLine writes the line through a handler.
func accessLine(handler slog.Handler, r *gateway.Record) {
	level := slog.LevelInfo
	if r.Err != nil && r.Status >= 500 {
		level = slog.LevelError
	}
	if !handler.Enabled(context.Background(), level) {
		return
	}
	line := slog.NewRecord(r.At, level, "request", 0)
	for i, t := range textsOf(r) {
		switch i {
		case statusAfter:
			line.AddAttrs(slog.Int("status", r.Status))
		case durationAfter:
			line.AddAttrs(slog.Float64("duration_ms", milliseconds(r.Duration)))
		}
		if !t.optional || t.value != "" {
			line.AddAttrs(slog.String(t.name, t.value))
		}
	}
	if r.Err != nil {
		line.AddAttrs(slog.String("error", r.Err.Error()))
	}
	_ = handler.Handle(context.Background(), line) // the queue counts what it drops
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
