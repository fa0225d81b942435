package observe

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/catalogue"
)

// FuzzAccessLineIsTheHandlers: a line written by hand is the one that the log's handler
// writes, byte for byte, at every level.
func FuzzAccessLineIsTheHandlers(f *testing.F) {
	for c := range 256 {
		f.Add("a", "b", "c"+string([]byte{byte(c)}), 200, int64(1500)*int64(c), true, int64(c)<<50)
	}
	f.Add("", "", "", -1, int64(-1), false, int64(1))
	f.Add("a\nlevel=ERROR", "\u2028", "\x1b[2J", 503, int64(1)<<62, false, int64(0))
	f.Add("<&>", "\u007f", `"\`, 500, int64(999), true, int64(-1))
	f.Fuzz(func(t *testing.T, a, b, c string, status int, took int64, allowed bool, now int64) {
		moment := time.Unix(0, now).In(time.FixedZone("", int(now%50_000)))
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			for i, r := range []gateway.Record{
				{RequestID: a, Method: b, Path: c, Route: a, Principal: b, Action: c, Account: a, Reason: b, PolicyRevision: c, Subject: a, DecisionID: b, KeyID: c},
				{RequestID: a, Method: b, Path: c, Route: a, Principal: b, Action: c, Account: a, Reason: b, PolicyRevision: c, Subject: a, DecisionID: b},
				{RequestID: c},
				{Method: c},
				{Path: c},
				{Route: c},
				{Principal: c},
				{Action: c},
				{Account: c},
				{Reason: c},
				{PolicyRevision: c},
				{Subject: c},
				{Subject: "a", DecisionID: c},
				{KeyID: c},
				{Problems: c},
				{Subject: a, DecisionID: b, KeyID: c, Problems: b},
				{Original: catalogue.Call{Host: a, Method: b, Path: c}, Problems: a},
				{Original: catalogue.Call{Host: c}},
				{Original: catalogue.Call{Method: c}},
				{Err: errors.New(c)},
			} {
				r.Status, r.Allowed, r.Duration, r.At = status, allowed, time.Duration(took), moment
				var byHand, handlers bytes.Buffer
				newAccessLog(&byHand, "json", level).request(&r)
				accessLine(newLogger(&handlers, "json", level).Handler(), &r)
				if byHand.String() != handlers.String() {
					t.Fatalf("record %d, level %v:\n%s%s", i, level, byHand.String(), handlers.String())
				}
			}
		}
	})
}
