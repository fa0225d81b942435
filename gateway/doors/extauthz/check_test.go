package extauthz_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/extauthz"
	"github.com/portcullis-authz/portcullis/gateway/doors/original"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// open is an edge without bounds, whose every caller is one user; it is a policy that allows, and the facts of nobody, too.
type open struct{}

func (open) Foreign(ctx context.Context, c doors.Foreign) (doors.Answer, string, error) {
	a, err := c.Answer(ctx, resources.Principal{Kind: resources.PrincipalUser, ID: "user-a-v1", AccountID: "acct-a-v1"}, "request")
	return a, "request", err
}

func (open) Decide(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true}, nil
}

func (open) Access(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true}, nil
}

func (open) Facts(context.Context, string, string, string) (resources.Facts, error) {
	return resources.Facts{}, nil
}

// newDoor makes a door with a row for widgets, and one that is open to anybody.
func newDoor(t *testing.T) *extauthz.Door {
	t.Helper()
	calls := &original.Calls{}
	if err := calls.Set([]resources.Route{
		{Name: "widget.create", Method: "POST", Path: "/widgets", Action: "project:widget:create"}, {Name: "open", Method: "GET", Path: "/open", Access: []string{"public"}},
	}); err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(raw)))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := assertion.NewKeys(master, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return &extauthz.Door{Edge: open{}, Judge: &original.Judge{
		Verdicts: &verdict.Judge{Policy: open{}, Facts: open{}, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now},
		Calls:    calls, Assertions: keys,
	}}
}

// TestEmptyIdempotencyKeyIsRefused, as at the edge and at forward-auth: its client expects a repeat to be recognized.
func TestEmptyIdempotencyKeyIsRefused(t *testing.T) {
	t.Parallel()
	door := newDoor(t)
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
