package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// withOther adds a second server with the same rows and the same upstream to a tree.
func withOther(t *testing.T, policies, row string) string {
	t.Helper()
	folder := filepath.Join(policies, "mcp", "other")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, filepath.Join(folder, "data.json"), row)
	return policies
}

// TestAnApprovalIsOfOneUserServerAndAgent guarantees that the approval of a call fits no equal call of another user, at another
// server, or of the client's next agent. The agent can't approve its own call.
func TestAnApprovalIsOfOneUserServerAndAgent(t *testing.T) {
	t.Parallel()
	s := newAgentSceneOn(t, withOther(t, policiesWith(t, approvalRows), approvalRows))
	s.api(t, 200, "PUT", "/roles/project_admin/assignments/"+reader, `{"projectId":"proj-outside-v1"}`)
	tokenOf := func(user, path string) string {
		return s.provider.Token(t, user, func(c jwt.MapClaims) {
			c["aud"], c["scope"], c["client_id"] = publicURL+path, bothScopes, "helper"
		})
	}
	register := func() (id string) {
		id = s.register(t, "helper")
		s.api(t, 200, "PUT", "/roles/project_admin/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
		return id
	}
	const other, arguments = "/mcp/projects/proj-outside-v1/other", `{"q":"x"}`
	agent := register()
	first := s.ask(t, agentPath, tokenOf(harness.OutsideAdmin, agentPath), merge, arguments).refused(t)
	byAgent := s.provider.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) { c["client_id"] = "helper" })
	if r := harness.Call(t, "PATCH", s.URL+outsideOwner+approvals+"/"+first.id, byAgent, `{"status":"APPROVED"}`); r.Status != 403 {
		t.Fatalf("the agent approves its own call: %d %s", r.Status, r.Raw)
	}
	s.decide(t, first.id, "APPROVED")
	s.ask(t, agentPath, tokenOf(reader, agentPath), merge, arguments).refused(t)
	s.ask(t, other, tokenOf(harness.OutsideAdmin, other), merge, arguments).refused(t)
	s.api(t, 200, "DELETE", "/agents/"+agent, "")
	register()
	s.ask(t, agentPath, tokenOf(harness.OutsideAdmin, agentPath), merge, arguments).refused(t)
	if calls := s.u.called(); len(calls) != 0 {
		t.Errorf("the server was called: %v", calls)
	}
}

// TestAnApprovalIsOfOneDefinition guarantees that the approval of a call does not fit the same call after the tool and its
// reviewed definition have changed.
func TestAnApprovalIsOfOneDefinition(t *testing.T) {
	t.Parallel()
	row := strings.Replace(approvalRows, `"pin": "names", `, "", 1)
	for _, name := range []string{"search_issues", "drop_database"} {
		row = pinned(t, row, name, "Does "+name)
	}
	policies := policiesWith(t, pinned(t, row, merge, "Does "+merge))
	s := newAgentSceneOn(t, policies)
	token := s.token(t, "helper")
	// until asks with other arguments until the denial has the code: each list makes the gateway list the tools itself.
	until := func(code string) {
		t.Helper()
		harness.Soon(t, code, func() bool {
			_, _ = raw(t, s.Gateway, agentPath, token, request("tools/list", ""), modern("tools/list", "")...)
			return s.ask(t, agentPath, token, merge, `{"q":"another"}`).code == code
		})
	}
	until("needs_approval")
	first := s.ask(t, agentPath, token, merge, `{"q":"x"}`).refused(t)
	s.decide(t, first.id, "APPROVED")
	s.u.addTool(merge, "Merges everything")
	until("definition_changed")
	harness.WriteFile(t, filepath.Join(policies, "mcp", "issues", "data.json"), pinned(t, row, merge, "Merges everything"))
	until("needs_approval")
	if again := s.ask(t, agentPath, token, merge, `{"q":"x"}`).refused(t); again.id == first.id {
		t.Errorf("%s", again.text)
	}
	if calls := s.u.called(); len(calls) != 0 {
		t.Errorf("the server was called: %v", calls)
	}
}

// TestAnExpiredApprovalLetsNothingThrough guarantees that an approved call needs another approval once its time is over. The
// time is moved in the store while the gateway is down.
func TestAnExpiredApprovalLetsNothingThrough(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t, approvalRows)
	token, lives := s.token(t, "helper"), map[string]time.Duration{`{"q":"over"}`: -time.Millisecond, `{"q":"open"}`: time.Minute}
	ends := map[string]resources.Time{}
	for arguments, d := range lives {
		id := s.ask(t, agentPath, token, merge, arguments).refused(t).id
		s.decide(t, id, "APPROVED")
		ends[id] = resources.At(time.Now().Add(d))
	}
	s.Terminate(t)
	s.Ended(t)
	c := records.NewCollections()
	harness.SeedRecords(t, s.DataDir, c, func(ctx context.Context, tx store.Tx) error {
		for id, end := range ends {
			rec, err := c.Approvals.Get(ctx, tx, id)
			if err != nil {
				return err
			}
			rec.Value.ExpiresAt = end
			if err := c.Approvals.Replace(ctx, tx, rec); err != nil {
				return err
			}
		}
		return nil
	})
	s.Gateway = harness.StartIn(t, s.DataDir, s.flags...)
	s.ask(t, agentPath, token, merge, `{"q":"over"}`).refused(t)
	s.ask(t, agentPath, token, merge, `{"q":"open"}`).done(t)
}
