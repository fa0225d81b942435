package gateway_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/e3"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// turnsOf are an edge and a note of the turns in which its facts and handlers are asked.
func turnsOf(t *testing.T) (e *edge, noted func() string) {
	var mu sync.Mutex
	var all []string
	note := func(ctx context.Context) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, gate.Account(ctx, "none"))
	}
	e = start(t, func(c *gateway.Config) {
		c.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			note(ctx)
			return anybody(ctx, token)
		}}
		c.Judge.Facts = facts{func(ctx context.Context, account, user, _ string) (resources.Facts, error) {
			note(ctx)
			return resources.Facts{Subject: &resources.Subject{AccountID: account, UserID: user}}, nil
		}}
		c.Doors = map[string]doors.Door{"authorization.check": e3.Door{Judge: c.Judge, DenyStatus: 200}}
		asked := 0
		c.Handlers["access"]["list"] = func(ctx context.Context, _ *wire.Request) (wire.Response, error) {
			note(ctx)
			answer, err := wire.OK("done")
			if asked++; asked%2 == 1 {
				answer.Wait = time.Minute
			}
			return answer, err
		}
	})
	return e, func() string {
		mu.Lock()
		defer mu.Unlock()
		out := strings.Join(all, " ")
		all = nil
		return out
	}
}

// TestInWhoseTurnsARequestIs guarantees that a user's requests take turns as the user's account, for every account they
// name. This holds from authentication on, also while the client waits. A service's requests take turns as the account
// in the path.
func TestInWhoseTurnsARequestIs(t *testing.T) {
	e, noted := turnsOf(t)
	list := func(token string) string {
		return strings.Replace(listRequest, bearer, "Authorization: Bearer "+token, 1)
	}
	check := func(token, account string) string {
		return strings.NewReplacer(bearer, "Authorization: Bearer "+token, "acct-a-v1", account).Replace(question("x"))
	}
	for name, c := range map[string]struct{ raw, want string }{
		"a user's check about another account": {check("user-1.acct-b-v1", "acct-c-v1"), "none acct-b-v1"},
		"a user's list that waits":             {list("user-1.acct-a-v1"), "none acct-a-v1 acct-a-v1 acct-a-v1 acct-a-v1 acct-a-v1"},
		"a service's check":                    {check("service-s", "acct-c-v1"), "none none"},
		"a service's list that waits":          {list("service-s"), "none acct-a-v1 acct-a-v1 acct-a-v1 acct-a-v1 acct-a-v1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := e.overTCP(t).send(t, c.raw)
			got := noted()
			if r.Status == 401 || !strings.HasPrefix(got, c.want) {
				t.Errorf("%d %s: in the turns of %q, want %q", r.Status, r.Body, got, c.want)
			}
		})
	}
}
