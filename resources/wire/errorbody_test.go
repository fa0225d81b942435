package wire_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// TestErrorBodiesHaveTheirThreeShapes compares the bodies byte for byte. None shows the cause.
func TestErrorBodiesHaveTheirThreeShapes(t *testing.T) {
	bad := resources.BadRequest(resources.Problem{Field: "name", Text: "is <missing>"}, resources.Problem{Text: "is odd"}, resources.Problem{Field: "name", Text: "is short"})
	bad.Cause = errors.New("secret")
	for _, c := range []struct {
		area string
		err  *resources.Error
		want string
	}{
		{"firewall", bad, `{"error":"The request is not valid.","code":"BAD_REQUEST","details":{"name":"is <missing>; is short","request":"is odd"}}`},
		{"access", bad, `{"error":{"code":"BAD_REQUEST","message":"The request is not valid.","details":["name: is <missing>","is odd","name: is short"]}}`},
		{"users", bad, `{"success":false,"error":{"code":"REQ_001","type":"bad_request","message":"The request is not valid.","details":"name: is <missing>; is odd; name: is short"}}`},
		{"firewall", resources.NotFound("security group"), `{"error":"There is no such security group.","code":"NOT_FOUND"}`},
		{"compute", resources.NotFound("cluster"), `{"error":{"code":"NOT_FOUND","message":"There is no such cluster."}}`},
		{"", resources.NotFound("x"), `{"error":{"code":"NOT_FOUND","message":"There is no such x."}}`},
		{"users", resources.NotFound("user"), `{"success":false,"error":{"code":"USER_001","type":"not_found","message":"There is no such user.","details":""}}`},
		{"users", resources.NotFound("api_key"), `{"success":false,"error":{"code":"KEY_001","type":"not_found","message":"There is no such api_key.","details":""}}`},
	} {
		if got := string(wire.ErrorBody(c.area, c.err)); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.area, got, c.want)
		}
	}
}

// TestEveryKindHasItsStatusAndCodes checks the table of the API contract, 1.
func TestEveryKindHasItsStatusAndCodes(t *testing.T) {
	for kind, want := range map[resources.Kind]struct {
		status     int
		code, user string
	}{
		resources.KindInternal: {500, "INTERNAL_ERROR", "SYS_001"}, resources.KindBadRequest: {400, "BAD_REQUEST", "REQ_001"}, resources.KindNoCredential: {401, "UNAUTHORIZED", "AUTH_001"},
		resources.KindBadCredential: {401, "UNAUTHORIZED", "AUTH_002"}, resources.KindForbidden: {403, "FORBIDDEN", "AUTH_003"}, resources.KindNotFound: {404, "NOT_FOUND", "USER_001"},
		resources.KindMethodNotAllowed: {405, "METHOD_NOT_ALLOWED", "REQ_001"}, resources.KindConflict: {409, "CONFLICT", "USER_002"}, resources.KindTooLarge: {413, "PAYLOAD_TOO_LARGE", "REQ_001"},
		resources.KindTooSlow:          {408, "BAD_REQUEST", "REQ_001"},
		resources.KindUnsupportedMedia: {415, "UNSUPPORTED_MEDIA_TYPE", "REQ_001"}, resources.KindRateLimited: {429, "RATE_LIMITED", "RATE_001"}, resources.KindUnavailable: {503, "UNAVAILABLE", "SYS_002"},
		resources.KindUnavailable + 1: {500, "INTERNAL_ERROR", "SYS_001"}, -1: {500, "INTERNAL_ERROR", "SYS_001"}, // a kind outside the table does not succeed
	} {
		e := &resources.Error{Kind: kind, Message: "m"}
		if got := wire.Status(kind); got != want.status {
			t.Errorf("kind %d: %d", kind, got)
		}
		if got := string(wire.ErrorBody("access", e)); got != `{"error":{"code":"`+want.code+`","message":"m"}}` {
			t.Errorf("kind %d: %s", kind, got)
		}
		if got := string(wire.ErrorBody("users", e)); got[:len(`{"success":false,"error":{"code":"`)+len(want.user)] != `{"success":false,"error":{"code":"`+want.user {
			t.Errorf("kind %d: %s", kind, got)
		}
	}
	if _, err := wire.Render(func() {}); err == nil {
		t.Error("what is no JSON is rendered")
	}
}

// TestProblemsOfOneFieldAreJoinedOnce sends 1,000 problems of names that are shortened to the same one.
func TestProblemsOfOneFieldAreJoinedOnce(t *testing.T) {
	problems := make([]resources.Problem, 1000)
	for i := range problems {
		problems[i] = resources.Problem{Field: strings.Repeat("x", 64) + "…", Text: strings.Repeat("y", 150)}
	}
	bad := resources.BadRequest(problems...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := wire.ErrorBody(resources.AreaFirewall, bad)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; len(got) < 150_000 || taken > 4<<20 {
		t.Errorf("%d bytes for an answer of %d", taken, len(got))
	}
}
