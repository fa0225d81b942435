package console

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// delegationView is the data of the form with which a user delegates to an agent.
type delegationView struct {
	AgentID string
	// Name is the agent's name, or its id if the user may not read the agent.
	Name     string
	Projects []project
	Actions  []offeredAction
	Form     form
}

// ownDelegation reads the reader's delegation to an agent. It returns nil if there is none.
func (p *page) ownDelegation(agent string) (*resources.Delegation, error) {
	var answer struct {
		Delegation *resources.Delegation `json:"delegation"`
	}
	_, err := p.read(p.account("users", p.session.UserID, "delegations", agent), nil, &answer)
	return answer.Delegation, err
}

// showDelegation shows the form, filled in with the delegation that the user has given.
func showDelegation(p *page) error {
	f := form{Values: map[string][]string{}}
	d, err := p.ownDelegation(p.r.PathValue("agent"))
	if err != nil {
		return err
	}
	if d != nil {
		f.Values = given("permissions", strings.Join(d.Permissions, "\n"), "project", d.ProjectID, "until", fieldTime(d.ExpiresAt))
	}
	return p.delegationForm(http.StatusOK, f)
}

func (p *page) delegationForm(status int, f form) error {
	id := p.r.PathValue("agent")
	v := delegationView{AgentID: id, Form: f}
	agent, err := p.agent(id)
	if _, hidden := isRefusal(err, http.StatusForbidden); err != nil && !hidden {
		return err
	}
	v.Name = cmp.Or(agent.Name, id)
	offers, err := p.choices()
	if err != nil {
		return err
	}
	v.Projects, v.Actions = offers.Projects, offers.Actions
	return p.show(status, "delegation", "Delegate to an agent", peopleHere, v)
}

// delegate sets what the user delegates to an agent.
func delegate(p *page) error {
	agent, f := p.r.PathValue("agent"), p.form()
	body := map[string]any{"permissions": patternsOf(p.field("permissions"))}
	for name, value := range map[string]string{"project_id": p.field("project"), "expires_at": p.until("until")} {
		if value != "" {
			body[name] = value
		}
	}
	if err := p.send(call{method: http.MethodPut, path: p.account("users", p.session.UserID, "delegations", agent), body: body}); err != nil {
		return p.again(f, err, p.delegationForm)
	}
	return p.done(linkOf("people", p.session.UserID), "saved")
}

// delegationsOf returns a user's delegations, or nothing if the reader may not read them. more is true if there are others.
func (p *page) delegationsOf(user string) (all []resources.Delegation, more bool, err error) {
	var answer struct {
		Delegations []resources.Delegation `json:"delegations"`
		Next        string                 `json:"next_page_token"`
	}
	_, err = p.read(p.account("users", user, "delegations"), given("page_size", "100"), &answer)
	return answer.Delegations, answer.Next != "", err
}

// endDelegation ends a user's delegation to an agent.
func endDelegation(p *page) (*step, error) {
	user, err := p.member(p.r.PathValue("user"))
	if err != nil {
		return nil, err
	}
	agent := p.r.PathValue("agent")
	all, err := p.names(mentioned{agents: []string{agent}})
	if err != nil {
		return nil, err
	}
	back := linkOf("people", user.ID)
	return &step{
		Title: "End a delegation", Question: []string{"End what", user.Shown(), "delegates to the agent", all.Agent(agent)}, Button: "End", Danger: true,
		Note: "The agent's next call for them is denied, on every gateway.",
		Back: back, Here: peopleHere, then: back, done: "ended",
		call: call{method: http.MethodDelete, path: p.account("users", user.ID, "delegations", agent)},
	}, nil
}
