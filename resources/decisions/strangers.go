package decisions

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// ForUser removes from an event what no user may read: the parts of strangers in its input, and its segment and line,
// by which a user could count the decisions about other accounts.
func ForUser(e *decisionlog.Event) {
	e.Input = withoutStrangers(e.Input)
	if e.Place != nil {
		e.Place.Segment, e.Place.Line = 0, 0
	}
}

// withoutStrangers returns the input of a decision as a user may read it. A subject outside the account has its id
// alone, like an unknown user. A caller from outside has no account.
func withoutStrangers(input []byte) []byte {
	m, ok := membersOf(input)
	if !ok {
		return nil // erased
	}
	asked, isApp := membersOf(m["facts"]) // an app's, whose subject is what the client sent
	if !isApp {
		asked = m
	}
	account, _ := membersOf(asked["account"])
	changed := blank(asked, "principal", `""`, func(p members) bool { return string(p["account"]) != string(account["id"]) }, "account", "uuid")
	isStranger := func(s members) bool { return string(s["member"]) != "true" }
	switch {
	case isApp:
		m["facts"] = asked.render()
		changed = blank(m, "facts", `""`, isStranger, "status") || changed
	case m["facts"] == nil:
		changed = blank(m, "subject", `""`, isStranger, "status") || changed
		changed = blank(m, "subject", "false", isStranger, "exists") || changed
	}
	if !changed {
		return input
	}
	return m.render()
}

// members are those of a JSON object.
type members map[string]jsontext.Value

// membersOf returns those of a value; false is that it is not an object.
func membersOf(raw []byte) (m members, ok bool) {
	return m, json.Unmarshal(raw, &m) == nil && m != nil
}

func (m members) render() []byte {
	raw, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return raw
}

// blank sets members of an object in a document to a value if the object matches. It skips absent members, and reports
// whether it changed the document.
func blank(m members, name, value string, matches func(members) bool, names ...string) (changed bool) {
	object, ok := membersOf(m[name])
	if !ok || !matches(object) {
		return false
	}
	for _, name := range names {
		if object[name] != nil && string(object[name]) != value {
			object[name], changed = jsontext.Value(value), true
		}
	}
	if changed {
		m[name] = object.render()
	}
	return changed
}
