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

// plain reports whether a line can be written by hand: JSON writes every string of it as it
// is, none holds a credential, and the request has no error.
func plain(r *gateway.Record) bool {
	return r.Err == nil &&
		plainText(r.RequestID) && plainText(r.Method) && plainText(r.Path) && plainText(r.Route) && plainText(r.Principal) &&
		plainText(r.Action) && plainText(r.Account) && plainText(r.Reason) && plainText(r.PolicyRevision) &&
		plainText(r.Subject) && plainText(r.DecisionID) && plainText(r.KeyID) && plainText(r.Problems) && plainText(r.TraceID) &&
		plainText(r.Original.Host) && plainText(r.Original.Method) && plainText(r.Original.Path)
}

func plainText(text string) bool { return wire.Plain(text) && !resources.HoldsCredential(text) }

// appendLine appends what accessLine writes of a plain record.
func appendLine(dst []byte, r *gateway.Record) []byte {
	dst = appendDuration(appendAbout(appendStart(dst, r), r), r)
	if r.Subject != "" {
		dst = appendText(dst, `,"subject":"`, r.Subject)
	}
	if r.DecisionID != "" {
		dst = appendText(dst, `,"decision_id":"`, r.DecisionID)
	}
	if r.KeyID != "" {
		dst = appendText(dst, `,"key_id":"`, r.KeyID)
	}
	if call := &r.Original; *call != (catalogue.Call{}) {
		dst = appendText(dst, `,"original_host":"`, call.Host)
		dst = appendText(dst, `,"original_method":"`, call.Method)
		dst = appendText(dst, `,"original_path":"`, call.Path)
	}
	if r.Problems != "" {
		dst = appendText(dst, `,"problems":"`, r.Problems)
	}
	if r.TraceID != "" {
		dst = appendText(dst, `,"trace_id":"`, r.TraceID)
	}
	return append(dst, '}', '\n')
}

func appendText(dst []byte, name, value string) []byte {
	return append(append(append(dst, name...), value...), '"')
}

// appendStart appends the fields that differ for every request.
func appendStart(dst []byte, r *gateway.Record) []byte {
	dst = r.At.AppendFormat(append(dst, `{"time":"`...), time.RFC3339Nano)
	return appendText(dst, `","level":"INFO","msg":"request","request_id":"`, r.RequestID)
}

func appendAbout(dst []byte, r *gateway.Record) []byte {
	dst = appendText(dst, `,"method":"`, r.Method)
	dst = appendText(dst, `,"path":"`, r.Path)
	dst = appendText(dst, `,"route":"`, r.Route)
	dst = strconv.AppendInt(append(dst, `,"status":`...), int64(r.Status), 10)
	dst = appendText(dst, `,"principal":"`, r.Principal)
	dst = appendText(dst, `,"action":"`, r.Action)
	dst = appendText(dst, `,"account":"`, r.Account)
	dst = appendText(dst, `,"decision":"`, decisionWord(r.Allowed))
	dst = appendText(dst, `,"reason":"`, r.Reason)
	return appendText(dst, `,"policy_revision":"`, r.PolicyRevision)
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
	line.AddAttrs(
		slog.String("request_id", r.RequestID), slog.String("method", r.Method), slog.String("path", r.Path),
		slog.String("route", r.Route), slog.Int("status", r.Status), slog.String("principal", r.Principal),
		slog.String("action", r.Action), slog.String("account", r.Account), slog.String("decision", decisionWord(r.Allowed)),
		slog.String("reason", r.Reason), slog.String("policy_revision", r.PolicyRevision),
		slog.Float64("duration_ms", milliseconds(r.Duration)),
	)
	if r.Subject != "" {
		line.AddAttrs(slog.String("subject", r.Subject))
	}
	if r.DecisionID != "" {
		line.AddAttrs(slog.String("decision_id", r.DecisionID))
	}
	if r.KeyID != "" {
		line.AddAttrs(slog.String("key_id", r.KeyID))
	}
	if call := &r.Original; *call != (catalogue.Call{}) {
		line.AddAttrs(slog.String("original_host", call.Host), slog.String("original_method", call.Method), slog.String("original_path", call.Path))
	}
	if r.Problems != "" {
		line.AddAttrs(slog.String("problems", r.Problems))
	}
	if r.TraceID != "" {
		line.AddAttrs(slog.String("trace_id", r.TraceID))
	}
	if r.Err != nil {
		line.AddAttrs(slog.String("error", r.Err.Error()))
	}
	_ = handler.Handle(context.Background(), line) // the queue counts what it drops
}

// decisionWord names the decision in the log and in the metrics.
func decisionWord(allowed bool) string {
	if allowed {
		return "allow"
	}
	return "deny"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
