package access_test

import (
	"context"
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestNobodyTakesAnAgentsRolesByAClient guarantees that a caller needs everything held by an agent to give it a client, and
// to make it active again. Others may rename and suspend it.
func TestNobodyTakesAnAgentsRolesByAClient(t *testing.T) {
	w := newWorld(t)
	id := w.call("agent.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"n"}`).Str("agent.id")
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: id, AssigneeType: resources.AssigneeAgent, RoleID: resources.RoleAccountAdmin})
	w.role(resources.Role{ID: "role-agents-v1", Name: "agents", Scope: resources.RoleScopeAccount, AccountID: acctA, Permissions: []string{"account:agent:*"}})
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: dan, RoleID: "role-agents-v1"})
	patch := func(caller, body string, want int) {
		t.Helper()
		w.Expect(w.call("agent.update", areatest.As(acctA, caller), pathOf(acctA, "agentId", id), "", body), want)
	}
	const clients = `{"clients":[{"issuer":"i","client_id":"mine"}]}`
	patch(dan, clients, 403)
	patch(dan, `{"name":"m","clients":[{"issuer":"i","client_id":"mine"}]}`, 403)
	patch(dan, `{"name":"m"}`, 200)
	patch(dan, `{"status":"ACTIVE"}`, 200) // it is so
	patch(dan, `{"status":"SUSPENDED"}`, 200)
	patch(dan, `{"status":"ACTIVE"}`, 403)
	patch(carol, `{"name":"k"}`, 403)
	patch(alice, clients, 200)
	patch(alice, `{"status":"ACTIVE"}`, 200)
	w.Expect(w.call("agent.update", areatest.As(acctB, bea), pathOf(acctB, "agentId", id), "", `{"name":"m"}`), 404)
}

// TestAnAgentIsNoAdmin guarantees that an agent with account_admin is not the account's last admin.
func TestAnAgentIsNoAdmin(t *testing.T) {
	w := newWorld(t)
	id := w.call("agent.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"n"}`).Str("agent.id")
	w.Assign(resources.Assignment{AccountID: acctA, AssigneeID: id, AssigneeType: resources.AssigneeAgent, RoleID: resources.RoleAccountAdmin})
	w.Expect(w.call("role_assignment.revoke", areatest.As(acctA, alice), pathOf(acctA, "roleId", resources.RoleAccountAdmin, "assigneeId", alice), "", ``), 403)
	w.Expect(w.call("role_assignment.revoke", areatest.As(acctA, alice), pathOf(acctA, "roleId", resources.RoleAccountAdmin, "assigneeId", id), "assigneeType=AGENT", ``), 200)
}

// TestADeletedAgentLeavesNothing guarantees that clients, assignments and delegations go with the agent.
func TestADeletedAgentLeavesNothing(t *testing.T) {
	w := newWorld(t)
	client := resources.AgentClient{Issuer: "i", ClientID: "c"}
	id := w.call("agent.create", areatest.As(acctA, alice), pathOf(acctA), "", `{"name":"n","clients":[{"issuer":"i","client_id":"c"}]}`).Str("agent.id")
	held := resources.Assignment{AccountID: acctA, AssigneeID: id, AssigneeType: resources.AssigneeAgent, RoleID: "account_reader"}
	w.Assign(held)
	w.Expect(w.call("delegation.put", areatest.As(acctA, alice), pathOf(acctA, "userId", alice, "agentId", id), "", `{"permissions":["project:*:read"]}`), 200)
	w.Expect(w.call("agent.delete", areatest.As(acctA, alice), pathOf(acctA, "agentId", id), "", ``), 200)
	must.Do(t, w.Store.View(t.Context(), func(tx store.Tx) error {
		c, ctx := w.Collections, context.Background()
		_, ofClient := c.AgentClients.Get(ctx, tx, records.AgentClientID(acctA, client))
		_, ofRole := c.Assignments.Get(ctx, tx, records.AssignmentID(held))
		_, given := c.Delegations.Get(ctx, tx, records.DelegationID(acctA, alice, id))
		for name, err := range map[string]error{"client": ofClient, "assignment": ofRole, "delegation": given} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the %s: %v", name, err)
			}
		}
		return nil
	}))
}
