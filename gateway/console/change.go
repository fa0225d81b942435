package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/portcullis-authz/portcullis/resources"
)

// change is an entry of the account's change log.
type change struct {
	resources.Change
	names names
}

// isMade reports whether the change created its subject, isEnded whether it deleted it.
func (c change) isMade() bool  { return len(c.Before) == 0 }
func (c change) isEnded() bool { return len(c.After) == 0 }

// OneSided reports whether the change has only one side, so that the page has nothing to compare.
func (c change) OneSided() bool { return c.isMade() || c.isEnded() }

// mentions adds the ids in the change.
func (c change) mentions(m *mentioned) {
	m.users = append(m.users, c.actors()...)
	before, after := sides[changedSubject](c)
	for _, one := range []changedSubject{before, after} {
		m.roles, m.groups, m.projects = append(m.roles, one.RoleID), append(m.groups, one.GroupID), append(m.projects, one.ProjectID)
		m.agents = append(m.agents, one.AgentID)
		switch one.AssigneeType {
		case resources.AssigneeGroup:
			m.groups = append(m.groups, c.Subject.ID)
		case resources.AssigneeAgent:
			m.agents = append(m.agents, c.Subject.ID)
		}
	}
}

// actors returns the ids of the users in the change.
func (c change) actors() (out []string) {
	if c.Actor.Kind == resources.PrincipalUser {
		out = append(out, c.Actor.ID)
	}
	before, after := sides[changedSubject](c)
	isUser := before.AssigneeType == resources.AssigneeUser || after.AssigneeType == resources.AssigneeUser
	if c.Subject.Type == "group_member" || c.Subject.Type == "delegation" || c.Subject.Type == "role_assignment" && isUser {
		out = append(out, c.Subject.ID)
	}
	return out
}

// named reads the names of the ids in changes.
func (p *page) named(all []change) error {
	var m mentioned
	for _, one := range all {
		one.mentions(&m)
	}
	read, err := p.names(m)
	for i := range all {
		all[i].names = read
	}
	return err
}

// changedSubject holds the members of a subject that a sentence can name.
type changedSubject struct {
	Name         string `json:"name"`
	Email        string `json:"email"`
	Status       string `json:"status"`
	RoleID       string `json:"roleId"`
	AssigneeType string `json:"assigneeType"`
	ProjectID    string `json:"projectId"`
	ResourceID   string `json:"resourceId"`
	GroupID      string `json:"group_id"`
	AgentID      string `json:"agent_id"`
	Server       string `json:"server"`
	Tool         string `json:"tool"`
}

// sides parses both sides of a change. An absent side is the zero value.
func sides[T any](c change) (before, after T) {
	if json.Unmarshal(c.Before, &before) != nil {
		before = *new(T)
	}
	if json.Unmarshal(c.After, &after) != nil {
		after = *new(T)
	}
	return before, after
}

// Says returns the change as a sentence.
func (c change) Says() []word {
	before, after := sides[changedSubject](c)
	one := after
	if c.isEnded() {
		one = before
	}
	verb := map[bool]string{true: " made ", false: " changed "}[c.isMade()]
	if c.isEnded() {
		verb = " deleted "
	}
	out := []word{c.names.user(c.Actor.ID)}
	switch c.Subject.Type {
	case "role_assignment":
		return append(out, c.saysAssignment(before, after, one)...)
	case "delegation":
		return append(out, spoken(map[bool]string{true: " ended", false: " set"}[c.isEnded()]+" what "), c.names.user(c.Subject.ID), spoken(" delegates to the agent "), c.names.agent(one.AgentID))
	case "approval":
		verb := map[bool]string{true: " approved", false: " declined"}[one.Status == resources.ApprovalApproved]
		return append(out, spoken(verb+" a call of the tool "), written(one.Tool), spoken(" of the server "), written(one.Server))
	case "group_member":
		words := map[bool][2]string{true: {" added ", " to the group "}, false: {" removed ", " from the group "}}[c.isMade()]
		return append(out, spoken(words[0]), c.names.user(c.Subject.ID), spoken(words[1]), c.names.group(one.GroupID))
	case "user":
		if c.Action == "account:user:invite" {
			verb = " invited "
		}
		return append(out, spoken(verb+"the user "), written(cmp.Or(one.Name, one.Email, c.Subject.ID)))
	}
	kind := map[string]string{"api_key": "API key"}[c.Subject.Type]
	return append(out, spoken(verb+"the "+cmp.Or(kind, c.Subject.Type)+" "), written(cmp.Or(one.Name, c.Subject.ID)))
}

// saysAssignment returns the change of an assignment as a sentence.
func (c change) saysAssignment(before, after, one changedSubject) (out []word) {
	receiver, holder := "", c.names.user(c.Subject.ID)
	switch one.AssigneeType {
	case resources.AssigneeGroup:
		receiver, holder = "the group ", c.names.group(c.Subject.ID)
	case resources.AssigneeAgent:
		receiver, holder = "the agent ", c.names.agent(c.Subject.ID)
	}
	switch {
	case c.isMade():
		out = []word{spoken(" gave " + receiver), holder, spoken(" the role "), c.names.role(one.RoleID)}
	case c.isEnded():
		out = []word{spoken(" took the role "), c.names.role(one.RoleID), spoken(" from " + receiver), holder}
	case before.RoleID != after.RoleID:
		out = []word{spoken(" replaced the role "), c.names.role(before.RoleID), spoken(" of " + receiver), holder, spoken(" by "), c.names.role(after.RoleID)}
	default:
		out = []word{spoken(" changed the role "), c.names.role(one.RoleID), spoken(" of " + receiver), holder}
	}
	if one.ResourceID != "" {
		out = append(out, spoken(" on "), written(one.ResourceID))
	}
	if one.ProjectID != "" {
		return append(out, spoken(" in "), c.names.project(one.ProjectID))
	}
	return append(out, spoken(" in the whole account"))
}

// fieldChange is a changed field with its texts before and after. A list has one text for each member that differs.
type fieldChange struct {
	Name          string
	Before, After []string
}

// mostFields limits the fields of a change on a page.
const mostFields = 100

// Fields returns the changed fields, sorted by name, without the time of the last update.
func (c change) Fields() (out []fieldChange) {
	before, after := map[string][]string{}, map[string][]string{}
	flatten("", c.Before, before)
	flatten("", c.After, after)
	for name, old := range before {
		if !slices.Equal(old, after[name]) {
			out = append(out, fieldChange{name, differing(old, after[name]), differing(after[name], old)})
		}
	}
	for name, now := range after {
		if _, both := before[name]; !both {
			out = append(out, fieldChange{name, nil, now})
		}
	}
	out = slices.DeleteFunc(out, func(f fieldChange) bool { return f.Name == "updatedAt" || f.Name == "updated_at" })
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out[:min(len(out), mostFields)]
}

// flatten adds the members of an object. It joins the names of nested members with dots and keeps a list of scalars
// whole.
func flatten(name string, raw json.RawMessage, out map[string][]string) {
	var object map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case len(raw) == 0:
	case json.Unmarshal(raw, &object) == nil && object != nil:
		prefix := name
		if prefix != "" {
			prefix += "."
		}
		for member, value := range object {
			flatten(prefix+member, value, out)
		}
	case json.Unmarshal(raw, &list) == nil && list != nil:
		for i, value := range list {
			if bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
				flatten(fmt.Sprintf("%s[%d]", name, i), value, out)
				continue
			}
			out[name] = append(out[name], scalarOf(value))
		}
	default:
		out[name] = []string{scalarOf(raw)}
	}
}

// scalarOf returns a JSON value as text. It removes the quotes of a string.
func scalarOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return text
	}
	return string(raw)
}

// differing returns the texts that are missing from a second list, or all texts if only the order differs.
func differing(all, second []string) []string {
	out := slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(second, one) })
	if len(out) == 0 && len(all) == len(second) {
		return all
	}
	return out
}
