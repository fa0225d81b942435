package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// fault is one thing wrong with a request. Those of one list are in the contract's
// order of refusals: of a request with several, the first answers.
type fault struct {
	name   string
	status int
	apply  func(*draft)
}

// draft is a request before it is written.
type draft struct {
	method, target, body string
	headers              []string
	denied               bool
}

func (d *draft) drop(name string) {
	var kept []string
	for _, h := range d.headers {
		if !strings.HasPrefix(h, name+":") {
			kept = append(kept, h)
		}
	}
	d.headers = kept
}

func (d *draft) add(header string) { d.headers = append(d.headers, header) }

// checkOrder sends each fault alone and each pair of faults.
func checkOrder(t *testing.T, newDraft func() draft, faults []fault) {
	t.Helper()
	checkOrderOf(t, newDraft, faults, func(*gateway.Config) {})
}

// checkOrderOf is checkOrder of an edge that change has changed.
func checkOrderOf(t *testing.T, newDraft func() draft, faults []fault, change func(*gateway.Config)) {
	t.Helper()
	refuse := false
	e := start(t, change, func(c *gateway.Config) {
		c.Rates.Principal = limiter(t, "1/h,24")
		c.Rates.Service = c.Rates.Principal
		for range 24 {
			take(c.Rates.Principal, "user-busy-v1")
		}
		c.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			p, err := alice(ctx, strings.TrimPrefix(token, "busy-"))
			if p.Kind, p.ID = resources.PrincipalService, "user-busy-v1"; err == nil && !strings.HasPrefix(token, "busy-") {
				p, err = alice(ctx, token)
				p.ID = fmt.Sprint("user-", time.Now().UnixNano(), "-v1") // has asked for nothing yet
			}
			return p, err
		}}
		c.Judge.Pin = policy{allow, func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			if refuse {
				return deny(ctx, q)
			}
			return allow(ctx, q)
		}}.pin()
	})
	try := func(name string, want int, faults ...fault) {
		d := newDraft()
		for _, f := range faults {
			f.apply(&d)
		}
		refuse = d.denied
		if r := e.send(t, request(d.method, d.target, d.body, d.headers...)); r.Status != want {
			t.Errorf("%s: %d %s, want %d", name, r.Status, r.Body, want)
		}
	}
	try("no fault", 200)
	for i, first := range faults {
		try(first.name, first.status, first)
		for _, second := range faults[i+1:] {
			try(fmt.Sprintf("%s and %s", first.name, second.name), first.status, first, second)
		}
	}
}

var (
	framingFault = fault{"framing", 400, func(d *draft) { d.add("Host: second") }}
	absentFault  = fault{"404", 404, func(d *draft) { d.target = "/nothing" + d.target }}
	methodFault  = fault{"405", 405, func(d *draft) { d.method = "TRACE" }}
	largeFault   = fault{"413", 413, func(d *draft) { d.body = strings.Repeat("x", 64<<10+1) }}
	tokenFault   = fault{"401", 401, func(d *draft) { d.drop("Authorization") }}
	busyFault    = fault{"429", 429, func(d *draft) {
		for i, h := range d.headers {
			d.headers[i] = strings.Replace(h, "Bearer ", "Bearer busy-", 1)
		}
	}}
	typeFault   = fault{"415", 415, func(d *draft) { d.add("Content-Encoding: gzip") }}
	twiceFault  = fault{"400 header", 400, func(d *draft) { d.add("X-User-ID: a"); d.add("X-User-ID: a") }}
	deniedFault = fault{"403", 403, func(d *draft) { d.denied = true }}
)

// TestOrderOfRefusals is the contract's list: framing, 404, 405, 413, 401, 429, 415, 400, 403.
func TestOrderOfRefusals(t *testing.T) {
	checkOrder(t, func() draft {
		return draft{method: "POST", target: "/api/v1/accounts/acct-a-v1/roles", body: "{}", headers: []string{bearer, jsonType}}
	}, []fault{
		framingFault, absentFault, methodFault, largeFault, tokenFault, busyFault, typeFault, twiceFault, deniedFault,
	})
}

// TestOrderOfRefusalsOfE3 guarantees 401, 429, 400, 403 in this order. A body of any type is a 400
// there.
func TestOrderOfRefusalsOfE3(t *testing.T) {
	checkOrder(t, func() draft {
		return draft{method: "POST", target: "/api/v1/authorize/x", headers: []string{bearer, "X-User-ID: user-a-v1", "X-Account-ID: acct-a-v1", "X-Action: project:x:read"}}
	}, []fault{
		framingFault, absentFault, methodFault, largeFault, tokenFault, busyFault,
		{"400 path", 400, func(d *draft) { d.target += "//" }},
		deniedFault,
	})
}

// TestBodyThatIsNotJSONIsRefused with 415, wherever a body is not E3's.
func TestBodyThatIsNotJSONIsRefused(t *testing.T) {
	e := start(t)
	const target = "/api/v1/accounts/acct-a-v1/roles"
	for name, c := range map[string]struct {
		want    int
		headers []string
	}{
		"json":              {200, []string{jsonType}},
		"json with charset": {200, []string{"Content-Type: application/json; charset=utf-8"}},
		"json in capitals":  {200, []string{"Content-Type: Application/JSON"}},
		"in UTF-16":         {415, []string{"Content-Type: application/json; charset=utf-16"}},
		"in two charsets":   {415, []string{"Content-Type: application/json; charset=utf-8; charset=utf-16"}},
		"no type":           {415, nil},
		"form":              {415, []string{"Content-Type: application/x-www-form-urlencoded"}},
		"multipart":         {415, []string{"Content-Type: multipart/form-data; boundary=x"}},
		"text":              {415, []string{"Content-Type: text/plain"}},
		"text, then json":   {415, []string{"Content-Type: text/plain", jsonType}},
		"json, then text":   {415, []string{jsonType, "Content-Type: text/plain"}},
		"json, with a twin": {415, []string{jsonType, "Content_Type: text/plain"}},
		"kin of json":       {415, []string{"Content-Type: application/jsonp"}},
		"gzip":              {415, []string{jsonType, "Content-Encoding: gzip"}},
		"identity":          {415, []string{jsonType, "Content-Encoding: identity"}},
		"empty encoding":    {415, []string{jsonType, "Content-Encoding: "}},
		"underscore":        {415, []string{jsonType, "Content_Encoding: br"}},
	} {
		t.Run(fmt.Sprint(c.want, " ", name), func(t *testing.T) {
			r := e.send(t, request("POST", target, "{}", append(c.headers, bearer)...))
			if r.Status != c.want {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
	}
	if r := e.send(t, request("GET", target, "", bearer, "Content-Encoding: gzip")); r.Status != 415 {
		t.Errorf("an encoding without a body: %d", r.Status)
	}
}
