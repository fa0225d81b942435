package access_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
)

// approval adds an open request of a user, and returns its id.
func (w *accessWorld) approval(account, user string, n int) string {
	w.T.Helper()
	a := resources.Approval{
		ID: fmt.Sprintf("approval-%02d-v1", n), AccountID: account, UserID: user, Server: "desk", Place: "desk", Tool: "close", Effect: resources.EffectWrite,
		Arguments: `{"n": 1}`, ArgumentsHash: fmt.Sprint(n), Status: resources.ApprovalPending,
		CreatedAt: areatest.Start, ExpiresAt: resources.At(w.Clock.Now().Add(resources.ApprovalLife)),
	}
	w.Write(func(ctx context.Context, tx store.Tx) error { return w.Collections.Approvals.Insert(ctx, tx, a) })
	return a.ID
}

// agentOf is the user with a token of a client.
func agentOf(account, user string) resources.Principal {
	p := areatest.As(account, user)
	p.Client = &resources.Client{Issuer: "i", ID: "c"}
	return p
}

// TestTheUserAloneDecides guarantees that neither an admin, another user, an agent of the user nor an API key reads or
// decides an approval. Nothing has changed afterwards.
func TestTheUserAloneDecides(t *testing.T) {
	w := newWorld(t)
	id := w.approval(acctA, bob, 1)
	w.key(acctA, bob)
	acting := agentOf(acctA, bob)
	acting.Client.ID, acting.Client.Actors = "", []string{"agent"}
	console := areatest.As(acctA, bob)
	console.Client = &resources.Client{Issuer: "i", ID: "console", Own: true}
	bobs := pathOf(acctA, "userId", bob, "approvalId", id)
	for name, c := range map[string]struct {
		caller resources.Principal
		path   string
		status int
	}{
		"an admin":                       {areatest.As(acctA, alice), bobs, 403},
		"another user":                   {areatest.As(acctA, carol), bobs, 403},
		"another user's own path":        {areatest.As(acctA, carol), pathOf(acctA, "userId", carol, "approvalId", id), 404},
		"another account":                {areatest.As(acctB, bea), pathOf(acctB, "userId", bea, "approvalId", id), 404},
		"the user's id, another account": {areatest.As(acctB, bea), pathOf(acctB, "userId", bob, "approvalId", id), 403},
		"an agent":                       {agentOf(acctA, bob), bobs, 403},
		"an actor":                       {acting, bobs, 403},
		"a key":                          {areatest.By(acctA, bob, "apikey-"+bob, "read", "write"), bobs, 403},
		"a service":                      {areatest.Service(resources.ServiceScopeAdmin), bobs, 403},
		"an unknown id":                  {areatest.As(acctA, bob), pathOf(acctA, "userId", bob, "approvalId", absent), 404},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.sub(t)
			w.Expect(w.call("approval.update", c.caller, c.path, "", `{"status":"APPROVED"}`), c.status)
			w.Expect(w.call("approval.get", c.caller, c.path, "", nil), c.status)
			if c.status == 403 {
				w.Expect(w.call("approval.list", c.caller, c.path, "", nil), 403)
			} else {
				w.Expect(w.call("approval.list", c.caller, c.path, "", nil), 200)
			}
		})
	}
	w.Expect(w.call("approval.get", areatest.As(acctA, bob), bobs, "", nil), 200, `"status":"PENDING"`, `"arguments":"{\"n\": 1}"`)
	for _, body := range []string{`{}`, `{"status":"USED"}`, `{"status":"PENDING"}`, `{"status":"approved"}`, `{"status":"APPROVED","more":1}`, `{"status":null}`, ``} {
		w.Expect(w.call("approval.update", areatest.As(acctA, bob), bobs, "", body), 400)
	}
	w.Expect(w.call("approval.update", console, pathOf(acctA, "userId", "uuid-"+bob, "approvalId", id), "", `{"status":"APPROVED"}`), 200, `"decided_by":"`+bob+`"`)
}

// TestThereIsOneDecision guarantees that a decision stands. A declined request has lost its arguments. An expired one does
// not exist.
func TestThereIsOneDecision(t *testing.T) {
	w := newWorld(t)
	first, second, third := w.approval(acctA, bob, 1), w.approval(acctA, bob, 2), w.approval(acctA, bob, 3)
	place := func(id string) string { return pathOf(acctA, "userId", bob, "approvalId", id) }
	decide := func(id, status string, want int, texts ...string) {
		t.Helper()
		w.Expect(w.call("approval.update", areatest.As(acctA, bob), place(id), "", `{"status":"`+status+`"}`), want, texts...)
	}
	decide(first, "APPROVED", 200, `"status":"APPROVED"`, `"arguments"`)
	decide(first, "APPROVED", 409, "APPROVED")
	decide(first, "DENIED", 409)
	decide(second, "DENIED", 200, `"status":"DENIED"`)
	decide(second, "APPROVED", 409)
	if got := w.call("approval.get", areatest.As(acctA, bob), place(second), "", nil); got.At("approval.arguments") != nil {
		t.Errorf("%s", got.Text)
	}
	w.Clock.Add(resources.ApprovalLife.Milliseconds())
	decide(third, "APPROVED", 404)
	w.Expect(w.call("approval.get", areatest.As(acctA, bob), place(third), "", nil), 404)
}

// TestApprovalsAreListedUntilTheyExpire guarantees the pages, the filter and the count.
func TestApprovalsAreListedUntilTheyExpire(t *testing.T) {
	w := newWorld(t)
	old := w.approval(acctA, bob, 1)
	w.Clock.Add(1000)
	for n := 2; n < 5; n++ {
		w.approval(acctA, bob, n)
	}
	w.approval(acctA, carol, 9)
	w.Expect(w.call("approval.update", areatest.As(acctA, bob), pathOf(acctA, "userId", bob, "approvalId", old), "", `{"status":"DENIED"}`), 200)
	list := func(query string, total int, ids ...string) areatest.Answer {
		t.Helper()
		got := w.Expect(w.call("approval.list", areatest.As(acctA, bob), pathOf(acctA, "userId", bob), query, nil), 200)
		all, _ := got.At("approvals").([]any)
		var listed []string
		for _, one := range all {
			listed = append(listed, fmt.Sprint(one.(map[string]any)["id"]))
		}
		if got.Int("total_count") != total || fmt.Sprint(listed) != fmt.Sprint(ids) {
			t.Errorf("%q: %s", query, got.Text)
		}
		return got
	}
	list("", 4, old, "approval-02-v1", "approval-03-v1", "approval-04-v1")
	list("status=PENDING", 3, "approval-02-v1", "approval-03-v1", "approval-04-v1")
	list("status=DENIED", 1, old)
	list("status=USED", 0)
	w.Expect(w.call("approval.list", areatest.As(acctA, bob), pathOf(acctA, "userId", bob), "status=OPEN", nil), 400)
	page := list("page_size=1", 4, old)
	list("page_size=3&page_token="+page.Str("next_page_token"), 4, "approval-02-v1", "approval-03-v1", "approval-04-v1")
	w.Clock.Add(resources.ApprovalLife.Milliseconds() - 1000)
	list("", 3, "approval-02-v1", "approval-03-v1", "approval-04-v1")
	w.Clock.Add(1000)
	list("", 0)
	list("page_size=3&page_token="+page.Str("next_page_token"), 0)
}
