package extauthz_test

import (
	"context"
	"testing"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/extauthz"
	"github.com/portcullis-authz/portcullis/resources"
)

// open is an edge without refusals. It allows every call without problems of its own or of the key of repeats.
type open struct{}

func (open) Foreign(_ context.Context, c *doors.Foreign) (doors.Vouched, error) {
	if c.Refused != "" {
		return doors.Vouched{}, resources.Denied(c.Refused)
	}
	problems := c.Problems
	if _, problem := c.Headers.Identity("Idempotency-Key"); problem != "" {
		problems = append(problems, resources.Problem{Field: "Idempotency-Key", Text: problem})
	}
	if len(problems) > 0 {
		return doors.Vouched{}, resources.BadRequest(problems...)
	}
	return doors.Vouched{RequestID: "request"}, nil
}

// TestEmptyIdempotencyKeyIsRefused, as at the edge and at forward-auth: its client expects a repeat to be recognized.
func TestEmptyIdempotencyKeyIsRefused(t *testing.T) {
	t.Parallel()
	door := &extauthz.Door{Edge: open{}}
	for name, c := range map[string]struct {
		headers map[string]string
		refused bool
	}{
		"none":  {nil, false},
		"a key": {map[string]string{"idempotency-key": "k"}, false},
		"empty": {map[string]string{"idempotency-key": ""}, true},
	} {
		out, err := door.Check(t.Context(), &auth.CheckRequest{Attributes: &auth.AttributeContext{
			Request: &auth.AttributeContext_Request{Http: &auth.AttributeContext_HttpRequest{
				Method: "POST", Path: "/widgets", Host: "widgets.example", Headers: c.headers,
			}},
		}})
		if err != nil || (out.GetOkResponse() == nil) != c.refused || c.refused && out.GetDeniedResponse().GetStatus().GetCode() != 400 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}
