package console

import (
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// agentActions are the actions behind the buttons of agents.
var agentActions = []string{
	"account:agent:create", "account:agent:update", "account:agent:delete", "account:role_assignment:update", "account:role_assignment:delete", "account:change:read",
}

// agentsView is the data of the list of agents.
type agentsView struct {
	Agents []resources.Agent
	Next   string
	Form   form
	May    map[string]bool
}

// agents shows the agents and the form for a new one.
func (p *page) agents(status int, f form) error {
	v := agentsView{Form: f}
	var err error
	if v.May, err = p.may("", agentActions...); err != nil {
		return err
	}
	var answer struct {
		Agents []resources.Agent `json:"agents"`
		Next   string            `json:"next_page_token"`
	}
	query := given("page_size", pageSize, "page_token", p.r.URL.Query().Get("page_token"))
	if status, err = v.Form.refused(p.api.get(p.r.Context(), p.account("agents"), query, &answer), status); err != nil {
		return err
	}
	v.Agents, v.Next = answer.Agents, answer.Next
	return p.show(status, "agents", "Agents", peopleHere, v)
}

func makeAgent(p *page) error {
	f := p.form()
	client := resources.AgentClient{Issuer: p.field("issuer"), ClientID: p.field("client_id")}
	body := map[string]any{"name": p.field("name"), "clients": []resources.AgentClient{client}}
	if err := p.send(call{method: http.MethodPost, path: p.account("agents"), body: body}); err != nil {
		return p.again(f, err, p.agents)
	}
	return p.done("/agents", "added")
}

func (p *page) agent(id string) (resources.Agent, error) {
	var answer struct {
		Agent resources.Agent `json:"agent"`
	}
	err := p.api.get(p.r.Context(), p.account("agents", id), nil, &answer)
	return answer.Agent, err
}

func agentAssignee(p *page) (assignee, error) {
	a, err := p.agent(p.r.PathValue("agent"))
	return assignee{resources.AssigneeAgent, a.ID, a.Name, linkOf("agents", a.ID)}, err
}

// agentView is the data of the page of an agent.
type agentView struct {
	Agent resources.Agent
	Roles []assignment
	// MoreRoles is true if the agent has more roles than the page shows.
	MoreRoles bool
	// Delegation is the reader's own to the agent, nil for none.
	Delegation *resources.Delegation
	Names      names
	May        map[string]bool
}

// showAgent shows an agent with its clients, its roles and the reader's delegation to it.
func showAgent(p *page) error {
	var v agentView
	id := p.r.PathValue("agent")
	var err error
	if v.Agent, err = p.agent(id); err != nil {
		return err
	}
	if v.May, err = p.may("", agentActions...); err != nil {
		return err
	}
	if v.Roles, v.MoreRoles, err = p.rolesOf(id); err != nil {
		return err
	}
	if v.Delegation, err = p.ownDelegation(id); err != nil {
		return err
	}
	var m mentioned
	m.addHolders(v.Roles)
	if v.Delegation != nil {
		m.projects = append(m.projects, v.Delegation.ProjectID)
	}
	if v.Names, err = p.names(m); err != nil {
		return err
	}
	return p.show(http.StatusOK, "agent", "Agent", peopleHere, v)
}

// agentStatus suspends or activates an agent.
func agentStatus(p *page) (*step, error) {
	a, err := p.agent(p.r.PathValue("agent"))
	if err != nil {
		return nil, err
	}
	status, back := p.field("status"), linkOf("agents", a.ID)
	s := &step{
		Title: "Activate", Question: []string{"Activate the agent", a.Name}, Button: "Activate",
		Note: "It may act again for those who delegate to it.",
		Back: back, Here: peopleHere, then: back, done: "saved",
		call: call{method: http.MethodPatch, path: p.account("agents", a.ID), body: map[string]string{"status": status}},
	}
	if status == resources.StatusSuspended {
		s.Title, s.Question, s.Button, s.Danger = "Suspend", []string{"Suspend the agent", a.Name}, "Suspend", true
		s.Note = "Every gateway denies its calls from now on. It keeps its roles and delegations for a later activation."
	}
	return s, nil
}

// deleteAgent deletes an agent.
func deleteAgent(p *page) (*step, error) {
	a, err := p.agent(p.r.PathValue("agent"))
	if err != nil {
		return nil, err
	}
	return &step{
		Title: "Delete an agent", Question: []string{"Delete the agent", a.Name}, Button: "Delete", Danger: true,
		Note: "Its roles end, and all delegations to it.",
		Back: linkOf("agents", a.ID), Here: peopleHere, then: "/agents", done: "deleted",
		call: call{method: http.MethodDelete, path: p.account("agents", a.ID)},
	}, nil
}
