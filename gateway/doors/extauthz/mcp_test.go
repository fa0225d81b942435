package extauthz_test

import (
	"context"
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/extauthz"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// finding is an edge that allows every call with a row.
type finding struct{ rows *catalogue.Index }

func (f finding) Foreign(_ context.Context, c *doors.Foreign) (doors.Vouched, error) {
	if _, err := c.Find(f.rows); err != nil {
		return doors.Vouched{}, err
	}
	return doors.Vouched{RequestID: "request"}, nil
}

// TestEnvoysHeadersNameTheTool guarantees that a check finds the row of its message in both forms of Envoy's headers, and
// none for headers with two readings.
func TestEnvoysHeadersNameTheTool(t *testing.T) {
	t.Parallel()
	rows := must.Get(catalogue.New([]resources.Route{{
		Name: "close", Method: "POST", Path: "/mcp", Action: "project:ticket:close", Upstream: "external", MCP: resources.RouteMCP{Method: "tools/call", Name: "close_ticket"},
	}}))(t)
	door := &extauthz.Door{Edge: finding{rows}}
	good := []string{"mcp-protocol-version", "2026-07-28", "mcp-method", "tools/call", "mcp-name", "close_ticket"}
	for name, c := range map[string]struct {
		plain, raw []string
		status     int // 0 is allowed
	}{
		"plain":               {good, nil, 0},
		"raw":                 {nil, good, 0},
		"none":                {nil, nil, 404},
		"no name":             {good[:4], nil, 404},
		"joined by Envoy":     {append(good[:4:4], "mcp-name", "close_ticket,search_tickets"), nil, 404},
		"twice":               {nil, append(good[:6:6], "mcp-name", "search_tickets"), 400},
		"in both forms":       {good, []string{"mcp-name", "search_tickets"}, 400},
		"with an underscore":  {append(good[:4:4], "mcp_name", "close_ticket"), nil, 400},
		"an older revision":   {append([]string{"mcp-protocol-version", "2025-11-25"}, good[2:]...), nil, 400},
		"a tool without rows": {append(good[:4:4], "mcp-name", "search_tickets"), nil, 404},
	} {
		plain, raw := map[string]string{}, &core.HeaderMap{}
		for i := 0; i+1 < len(c.plain); i += 2 {
			plain[c.plain[i]] = c.plain[i+1]
		}
		for i := 0; i+1 < len(c.raw); i += 2 {
			raw.Headers = append(raw.Headers, &core.HeaderValue{Key: c.raw[i], RawValue: []byte(c.raw[i+1])})
		}
		out, err := door.Check(t.Context(), &auth.CheckRequest{Attributes: &auth.AttributeContext{
			Request: &auth.AttributeContext_Request{Http: &auth.AttributeContext_HttpRequest{Method: "POST", Path: "/mcp", Headers: plain, HeaderMap: raw}},
		}})
		if err != nil || (out.GetOkResponse() != nil) != (c.status == 0) || int(out.GetDeniedResponse().GetStatus().GetCode()) != c.status {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}
