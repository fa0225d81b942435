package gateway_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	rows "github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
)

// heads are the headers of an original call; each was sent once.
type heads map[string]string

func (h heads) Identity(name string) (value, problem string) { return h[name], "" }

func (h heads) Values(name string) (values []string, odd bool) {
	if value, sent := h[name]; sent {
		values = []string{value}
	}
	return values, false
}

// external adds rows whose calls are judged for a proxy alone.
func external(c *gateway.Config) {
	c.Catalogue = append(c.Catalogue,
		resources.Route{Name: "widget.read", Method: "GET", Path: "/widgets/{widgetId}", Action: "project:widget:read", Audience: "widgets", Upstream: "external"},
		resources.Route{Name: "widget.open", Method: "GET", Path: "/widgets", Access: []string{"public"}, Upstream: "external"})
}

// envoy is a call of Envoy about GET of that path.
func envoy(path string, h heads) *doors.Foreign {
	return &doors.Foreign{
		Original: doors.Original{Call: rows.Call{Method: "GET", Path: path}, Headers: h},
		Route:    "ext_authz.check", DoorMethod: "POST", DoorPath: "/check", Peer: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)},
		Authorization: []string{"Bearer " + goodToken},
	}
}

// TestNoErrorLetsACallOfEnvoyPass guarantees a record with the reason, and no headers, after a failure of any part.
func TestNoErrorLetsACallOfEnvoyPass(t *testing.T) {
	broken := errors.New("broken")
	fails := func(context.Context, resources.Question) (resources.Decision, error) {
		return resources.Decision{Allowed: true}, broken
	}
	drop := func(c *doors.Foreign) { c.Authorization = nil }
	for name, c := range map[string]struct {
		policy  policy
		path    string
		headers heads
		change  func(*doors.Foreign)
		want    resources.Kind
	}{
		"access":                                {policy{allow, fails}, "/widgets/w", nil, nil, resources.KindUnavailable},
		"a panic":                               {policy{allow, func(context.Context, resources.Question) (resources.Decision, error) { panic("broken") }}, "/widgets/w", nil, nil, resources.KindInternal},
		"the reason":                            {policy{fails, deny}, "/widgets/w", nil, nil, resources.KindUnavailable},
		"a denial":                              {policy{deny, deny}, "/widgets/w", nil, nil, resources.KindForbidden},
		"a denial that turns":                   {policy{allow, deny}, "/widgets/w", nil, nil, resources.KindForbidden},
		"nobody":                                {policy{allow, allow}, "/widgets/w", nil, drop, resources.KindNoCredential},
		"nobody, no row":                        {policy{allow, allow}, "/none", nil, drop, resources.KindNoCredential},
		"no row":                                {policy{allow, allow}, "/none", nil, nil, resources.KindNotFound},
		"a claim and no row":                    {policy{allow, allow}, "/none", heads{"X-User-ID": "user-bob-v1"}, nil, resources.KindNotFound},
		"another user":                          {policy{allow, allow}, "/widgets/w", heads{"X-User-ID": "user-bob-v1"}, nil, resources.KindBadRequest},
		"another account":                       {policy{allow, allow}, "/widgets/w", heads{"X-Account-ID": "acct-b-v1"}, nil, resources.KindBadRequest},
		"another action":                        {policy{allow, allow}, "/widgets/w", heads{"X-Action": "project:widget:write"}, nil, resources.KindBadRequest},
		"an action of nobody's":                 {policy{allow, allow}, "/widgets", heads{"X-Action": "project:widget:read"}, nil, resources.KindBadRequest},
		"a public call is denied":               {policy{allow, deny}, "/widgets", nil, nil, resources.KindForbidden},
		"a peer that may not":                   {policy{allow, allow}, "/widgets/w", nil, func(c *doors.Foreign) { c.Refused = "not you" }, resources.KindForbidden},
		"a peer that may not, on a public call": {policy{allow, allow}, "/widgets", nil, func(c *doors.Foreign) { c.Refused, c.Authorization = "not you", nil }, resources.KindNoCredential},
		"two credentials": {policy{allow, allow}, "/widgets/w", nil, func(c *doors.Foreign) {
			c.CredentialProblems = []resources.Problem{{Field: "Authorization", Text: "must be sent once"}}
		}, resources.KindBadRequest},
		"a problem of the door": {policy{allow, allow}, "/widgets", nil, func(c *doors.Foreign) { c.Problems = []resources.Problem{{Field: "Host", Text: "is none"}} }, resources.KindBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, external, func(cfg *gateway.Config) { cfg.Judge.Pin = c.policy.pin() })
			call := envoy(c.path, c.headers)
			if c.change != nil {
				c.change(call)
			}
			got, err := e.Foreign(t.Context(), call)
			if !resources.IsKind(err, c.want) || len(got.Headers) > 0 || got.RequestID == "" {
				t.Errorf("%+v, %v", got, err)
			}
			if r := e.last(t); r.Allowed && c.want != resources.KindBadRequest || r.Status < 400 || r.Reason == "" || r.Original.Path != c.path {
				t.Errorf("recorded %+v", r)
			}
		})
	}
}

// TestACallOfEnvoyIsVouchedFor guarantees all identity headers, and an assertion for the row's audience. On a public
// call every caller is nobody, with any credential.
func TestACallOfEnvoyIsVouchedFor(t *testing.T) {
	e := start(t, external)
	for path, want := range map[string]map[string]string{
		"/widgets/w": {"X-User-ID": "user-alice-v1", "X-Account-ID": "acct-a-v1", "X-Action": "project:widget:read", "X-Principal-Kind": "user"},
		"/widgets":   {},
	} {
		call := envoy(path, heads{})
		if path == "/widgets" {
			call.Headers = heads{"X-User-ID": "user-bob-v1", "X-Account-ID": "acct-b-v1"}
		}
		got, err := e.Foreign(t.Context(), call)
		if err != nil || (got.DecisionID != "") != (len(want) > 0) {
			t.Fatalf("%s: %+v, %v", path, got, err)
		}
		sent := map[string]string{}
		for _, h := range got.Headers {
			sent[h.Name] = h.Value
		}
		for _, name := range []string{"X-User-ID", "X-Account-ID", "X-Action", "X-Principal-Kind"} {
			if value, exists := sent[name]; !exists || value != want[name] {
				t.Errorf("%s: %s is %q", path, name, value)
			}
		}
		if sent["X-Request-ID"] != got.RequestID || (sent["X-Portcullis-Assertion"] != "") != (len(want) > 0) {
			t.Errorf("%s: %v", path, sent)
		}
		if r := e.last(t); !r.Allowed || r.Subject != want["X-User-ID"] || r.Action != want["X-Action"] || r.Status != 200 {
			t.Errorf("%s: recorded %+v", path, r)
		}
	}
}
