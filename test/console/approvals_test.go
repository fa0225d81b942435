package console_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// deskRow needs an approval of each call of a tool.
const deskRow = `{"upstream": "desk", "title": "Tickets", "pin": "names", "agents": "any", "consent": "not_required",
"tools": {"close_ticket": {"action": "project:ticket:close", "effect": "write", "approval": "each_call"}}}`

const (
	deskURL  = "https://gateway.example"
	deskPath = "/mcp/projects/proj-demo-v1/desk"
)

// desk is the demo before an MCP server, which counts its calls.
func desk(t *testing.T) (g *harness.Gateway, calls *atomic.Int32) {
	t.Helper()
	calls = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if raw, _ := io.ReadAll(r.Body); strings.Contains(string(raw), "tools/call") {
			calls.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"closed"}]}}`)
	}))
	t.Cleanup(server.Close)
	policies := harness.CopyPolicies(t)
	if err := os.MkdirAll(filepath.Join(policies, "mcp", "desk"), 0o750); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, filepath.Join(policies, "mcp", "desk", "data.json"), deskRow)
	return demo(t, "--public-url", deskURL, "--policy-dir", policies, "--upstream", "desk="+server.URL), calls
}

// closeTicket calls the tool as Alice.
func closeTicket(t *testing.T, g *harness.Gateway, arguments string) string {
	t.Helper()
	r := harness.Call(t, "POST", g.URL+deskPath, g.Token(t, "--user", alice, "--audience", deskURL+deskPath, "--scope", "mcp:write"),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"close_ticket","arguments":`+arguments+
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "close_ticket", "Accept", "application/json, text/event-stream")
	if r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	return string(r.Raw)
}

// requested returns the path of the page that a denial links.
func requested(t *testing.T, g *harness.Gateway, denial string) string {
	t.Helper()
	_, rest, ok := strings.Cut(denial, `"url":"`+g.ConsoleURL)
	path, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed || !strings.HasPrefix(path, "/approvals/approval-") {
		t.Fatalf("no page: %s", denial)
	}
	return path
}

// TestACallIsApprovedOnItsPage guarantees the way from the denied call over its link and the two buttons to the server, and
// that nobody else finds the page. A decision counts once.
func TestACallIsApprovedOnItsPage(t *testing.T) {
	t.Parallel()
	g, calls := desk(t)
	b, other := signIn(t, g, alice), signIn(t, g, bob)
	b.get("/approvals").want(t, 200, "Nothing waits for you")
	page := requested(t, g, closeTicket(t, g, `{"number":7,"why":"<b>done</b>"}`))
	b.get("/").want(t, 200, "Calls that wait for your approval", page)
	b.get("/approvals").want(t, 200, "Waiting for you", page, "Tickets")
	b.get(page).want(t, 200, "Let this call through?", "you, without an agent", "close_ticket", "changes something", "&lt;b&gt;done&lt;/b&gt;", "for 10 minutes more", "Approve</button>", "Deny</button>")
	other.get(page).want(t, 404, "Nothing to decide here")
	other.post(page, "do", "approve").want(t, 404, "Nothing to decide here")
	b.post(page).want(t, 400, "Choose Approve or Deny")
	b.post(page, "do", "maybe").want(t, 400)
	if calls.Load() != 0 || strings.Contains(closeTicket(t, g, `{"number":7,"why":"<b>done</b>"}`), "closed") {
		t.Fatal("the call went out before the decision")
	}
	if got := b.post(page, "do", "approve"); got.Status != 303 || got.Header.Get("Location") != page+"?done=approved" {
		t.Fatalf("%d %s\n%s", got.Status, got.Header.Get("Location"), got.Body)
	}
	approved := b.get(page + "?done=approved")
	approved.want(t, 200, "Approved. Unless the agent waits for this, have it call again.", "✓ Approved", "The approval is for one call")
	approved.lacks(t, "Approve</button>")
	b.post(page, "do", "deny").want(t, 409, "has been decided already", "✓ Approved")
	if text := closeTicket(t, g, `{"number":7,"why":"<b>done</b>"}`); !strings.Contains(text, "closed") || calls.Load() != 1 {
		t.Fatalf("%d calls: %s", calls.Load(), text)
	}
	used := b.get(page)
	used.want(t, 200, "✓ Used")
	used.lacks(t, "done&lt;")
	second := requested(t, g, closeTicket(t, g, `{"number":8}`))
	b.post(second, "do", "deny")
	b.get(second).want(t, 200, "✕ Denied")
	if text := closeTicket(t, g, `{"number":8}`); !strings.Contains(text, "you have declined this call") || calls.Load() != 1 {
		t.Errorf("%d calls: %s", calls.Load(), text)
	}
	b.get("/approvals").want(t, 200, "Decided", page, second)
	b.get("/changes").want(t, 200, " approved a call of the tool ", " declined a call of the tool ")
	b.get("/changes").lacks(t, "&lt;b&gt;done")
	b.get("/approvals/approval-none-v1").want(t, 404, "Nothing to decide here")
}

// TestAForgedApprovalIsRefused guarantees that a form of another site, a link and a user without a session decide nothing.
func TestAForgedApprovalIsRefused(t *testing.T) {
	t.Parallel()
	g, calls := desk(t)
	b := signIn(t, g, alice)
	page := requested(t, g, closeTicket(t, g, `{"number":7}`))
	for name, header := range map[string]map[string]string{
		"neither": {}, "a foreign origin": {"Origin": "https://evil.example"}, "an opaque origin": {"Origin": "null"},
		"cross site": {"Sec-Fetch-Site": "cross-site", "Origin": b.base}, "same site": {"Sec-Fetch-Site": "same-site"},
	} {
		req := b.request(http.MethodPost, page, form("do", "approve"))
		for key, value := range header {
			req.Header.Set(key, value)
		}
		if got := b.do(req); got.Status != http.StatusForbidden {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	b.get(page+"?do=approve").want(t, 200, "Let this call through?")
	if got := newBrowser(t, g).post(page, "do", "approve"); got.Status != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/login") {
		t.Errorf("without a session: %d %s", got.Status, got.Header.Get("Location"))
	}
	if text := closeTicket(t, g, `{"number":7}`); !strings.Contains(text, "needs_approval") || calls.Load() != 0 {
		t.Errorf("%d calls: %s", calls.Load(), text)
	}
}

const (
	deskAccount, deskUser = "acct-desk-v1", "user-desk-v1"
	hostileArguments      = "{\"to\":\"\u202eeve\u200b@example.com\\u2028\\u0000\",\"<script>alert(1)</script>\":\"</pre><script>alert(1)</script>\\n\\nline 2\\n\",\"amount\":9007199254740993,\"\":null,\"rows\":[{\"a\":\"\\u0041\\u202e\",\"b\":[true,1.50]}],\"body\":\"LONG\"}"
)

// requests is an account with approvals in every state, the first of them hostile.
func requests(t *testing.T) (*harness.Gateway, *strings.Replacer) {
	t.Helper()
	dir := t.TempDir()
	harness.Seed(t, dir, deskAccount, "proj-desk-v1", harness.Member{ID: deskUser, Roles: []string{"account_admin"}})
	now := resources.At(time.Now())
	var all []resources.Approval
	for i, status := range []string{resources.ApprovalPending, resources.ApprovalPending, resources.ApprovalPending, resources.ApprovalApproved, resources.ApprovalDenied, resources.ApprovalUsed} {
		a := resources.Approval{
			ID: fmt.Sprintf("approval-%d-v1", i), AccountID: deskAccount, UserID: deskUser, Client: resources.AgentClient{Issuer: "https://login.example.com", ClientID: "assistant"},
			AgentID: "agent-01k8w3m5v7c9r2x4t6z8b0d1fh-v1", AgentName: "Assistant", Server: "desk", ServerTitle: "Tickets", Place: "projects/proj-desk-v1/desk", Tool: "close_ticket",
			Effect: resources.EffectWrite, Arguments: `{"number":4711,"reason":"Answered, and the customer has confirmed it.","notify":true}`, ArgumentsHash: fmt.Sprint(i),
			Status: status, CreatedAt: now, ExpiresAt: now + resources.Time(resources.ApprovalLife.Milliseconds()),
		}
		if status == resources.ApprovalDenied || status == resources.ApprovalUsed {
			a = a.WithoutArguments()
		}
		all = append(all, a)
	}
	all[0].Arguments = strings.Replace(hostileArguments, "LONG", strings.Repeat("Lorem ipsum dolor sit amet. ", 200)+strings.Repeat("x", 2000), 1)
	all[0].Further = `{"inputResponses":{"sure":{"action":"accept"}}}`
	all[0].AgentID, all[0].AgentName, all[0].ServerTitle, all[0].Tool, all[0].Client.ClientID = "", "", nasty+"\u202e", nasty[:60]+"\u200b", "https://evil.example/\u202e<b>"
	all[1].Client, all[1].AgentID, all[1].AgentName, all[1].Arguments, all[1].Effect = resources.AgentClient{}, "", "", "", resources.EffectRead
	c := records.NewCollections()
	harness.SeedRecords(t, dir, c, func(ctx context.Context, tx store.Tx) error {
		for _, one := range all {
			if err := c.Approvals.Insert(ctx, tx, one); err != nil {
				return err
			}
		}
		return nil
	})
	return harness.StartIn(t, dir, "--console-listen", "127.0.0.1:0"), strings.NewReplacer()
}

// TestHostileArgumentsAreText guarantees that markup is text. Invisible characters have codes in their place, in names too. No
// number and no text is cut.
func TestHostileArgumentsAreText(t *testing.T) {
	t.Parallel()
	g, _ := requests(t)
	b := signIn(t, g, deskUser)
	got := b.get("/approvals/approval-0-v1")
	got.want(t, 200, `<mark class="unseen">U&#43;202E</mark>eve<mark class="unseen">U&#43;200B</mark>@example.com<mark class="unseen">U&#43;2028</mark><mark class="unseen">U&#43;0000</mark>`,
		"&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n\nline 2\n", "9007199254740993", "1.50", "unknown client", strings.Repeat("x", 2000), "Other parameters", "inputResponses", "7,600 characters",
		`https://evil.example/<mark class="unseen">U&#43;202E</mark>&lt;b&gt;`)
	got.lacks(t, "<script>alert", "\u202e", "\u200b")
	b.get("/approvals/approval-1-v1").want(t, 200, "you, without an agent", "None.", ">reads<")
	b.get("/approvals/approval-2-v1").want(t, 200, "Assistant", "4711", "yes or no")
	b.get("/approvals").want(t, 200, "waits", "approved", "denied", "used")
}
