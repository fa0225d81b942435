package console

import (
	"cmp"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// decision is an entry of the account's decision log.
type decision struct {
	Labels      map[string]string `json:"labels"`
	ID          string            `json:"decision_id"`
	Parent      string            `json:"parent_id"`
	Path        string            `json:"path"`
	RawInput    jsontext.Value    `json:"input"`
	RawResult   jsontext.Value    `json:"result"`
	Erased      []string          `json:"erased"`
	Masked      []string          `json:"masked"`
	MaskError   string            `json:"mask_error"`
	RequestedBy string            `json:"requested_by"`
	At          resources.Time    `json:"timestamp"`
	// InLog has the hash of the decision's line in its log. Old gateways leave it out.
	InLog struct{ Hash string } `json:"place"`

	// facts and verdict are parsed once, since a row reads them many times.
	facts   recordedFacts
	verdict recordedResult
	// names holds the names of the users in the decision.
	names names
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *decision) UnmarshalJSON(raw []byte) error {
	type members decision
	if err := parse(raw, (*members)(d)); err != nil {
		return err
	}
	d.facts, d.verdict = factsOf(d.RawInput), verdictOf(d.RawResult)
	return nil
}

// recordedFacts holds the members of an input that a page shows. Masks and policies of apps change inputs: an input with
// a member of another type has no facts.
type recordedFacts struct {
	Action  struct{ ID string }
	Route   struct{ Name string }
	Account struct {
		ID, Status string
		Exists     bool
	}
	Principal struct{ ID, Kind, Credential string }
	Subject   struct {
		ID, Status     string
		Exists, Member bool
		Here           []recordedRole
	}
	Target struct {
		Account, Project, Rest string
		ProjectState           string `json:"project_state"`
		SameAccount            bool   `json:"same_account"`
	}
}

// recordedRole is a role that the subject held in the place.
type recordedRole struct {
	Role, Level, Status string
	RoleStatus          string `json:"role_status"`
	Running             bool
}

// Counted reports whether the role counted.
func (r recordedRole) Counted() bool {
	return r.Running && r.Status == resources.StatusActive && r.RoleStatus == resources.StatusActive
}

// Facts returns the facts that the policy read.
func (d decision) Facts() recordedFacts { return d.facts }

// factsOf parses an input. The input of an app has the facts in a member. Its subject is as the caller sent it, with members
// of any name.
func factsOf(input jsontext.Value) recordedFacts {
	var app struct {
		Facts   jsontext.Value `json:"facts"`
		Subject jsontext.Value `json:"subject"`
	}
	isApp := jsonv2.Unmarshal(input, &app) == nil && app.Facts != nil
	if isApp {
		input = app.Facts
	}
	var out recordedFacts
	if parse(input, &out) != nil {
		out = recordedFacts{}
	}
	var subject struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	if isApp && jsonv2.Unmarshal(app.Subject, &subject) == nil && subject.Type == resources.PrincipalUser {
		out.Subject.ID = subject.ID
	}
	return out
}

// recordedResult is the verdict with its reason.
type recordedResult struct {
	Allow, Decision bool
	Code, Reason    string
	// EndedBy is who ended a call at an MCP server. The record of an end has no verdict.
	EndedBy string `json:"ended_by"`
}

// Verdict returns the verdict with its reason.
func (d decision) Verdict() recordedResult { return d.verdict }

// verdictOf parses a result. A verdict that a mask removed becomes a denial without a reason.
func verdictOf(result jsontext.Value) (out recordedResult) {
	if parse(result, &out) != nil {
		return recordedResult{}
	}
	return out
}

// Allowed reports whether the verdict is an allow.
func (d decision) Allowed() bool {
	v := d.Verdict()
	return v.Allow || v.Decision
}

// Class returns the class of the decision's mark.
func (d decision) Class() string {
	switch {
	case d.Path == resources.PathMCPOutcome:
		return "end"
	case d.Allowed():
		return "allow"
	}
	return "deny"
}

// Mark returns the verdict for readers.
func (d decision) Mark() string {
	return map[string]string{"end": "Ended", "allow": "✓ Allowed", "deny": "✕ Denied"}[d.Class()]
}

// User returns the id of the subject.
func (d decision) User() string { return cmp.Or(d.Facts().Subject.ID, d.RequestedBy) }

// About returns the subject, with the name if the page has read it.
func (d decision) About() person { return d.names.Person(d.User()) }

// By returns the caller, with the name if the page has read it.
func (d decision) By() person { return d.names.Person(d.RequestedBy) }

// nameUsers reads the names of the users in decisions.
func (p *page) nameUsers(all []decision) error {
	var m mentioned
	for _, d := range all {
		f := d.Facts()
		if m.users = append(m.users, f.Subject.ID); f.Principal.Kind == resources.PrincipalUser {
			m.users = append(m.users, d.RequestedBy)
		}
	}
	read, err := p.names(m)
	for i := range all {
		all[i].names = read
	}
	return err
}

// ByAnother reports whether the caller is not the subject.
func (d decision) ByAnother() bool { return d.RequestedBy != "" && d.RequestedBy != d.User() }

// What returns the action, the route of a call that needs no action, or the name of the question.
func (d decision) What() string {
	f := d.Facts()
	return cmp.Or(f.Action.ID, f.Route.Name, d.Path)
}

// Place returns the path of the resource in the account, or "" for the account.
func (d decision) Place() string {
	t := d.Facts().Target
	if t.Project == "" {
		return t.Rest
	}
	return strings.TrimSuffix("projects/"+t.Project+"/"+t.Rest, "/")
}

// Link returns the address of the decision's page.
func (d decision) Link() string {
	return linkOf("decisions", d.ID)
}

// Again returns the address that asks the same question again, or "" if the decision has no action.
func (d decision) Again() string {
	f := d.Facts()
	if f.Subject.ID == "" || f.Action.ID == "" || !strings.HasPrefix(d.Path, "authz/") {
		return ""
	}
	return question{User: f.Subject.ID, Action: f.Action.ID, Project: f.Target.Project, Resource: strings.Trim(f.Target.Rest, "/")}.Link("/ask")
}

// Kind describes the question.
func (d decision) Kind() string {
	return cmp.Or(map[string]string{
		resources.PathDecision:   "a question",
		resources.PathAccess:     "a call of the API",
		resources.PathGrantable:  "whether a grant may be made",
		resources.PathMCPCall:    "a call at an MCP server",
		resources.PathMCPOutcome: "the end of a call at an MCP server",
	}[d.Path], d.Path)
}

// recordedCondition is a recorded fact that can turn a verdict into a denial.
type recordedCondition struct {
	Holds bool
	Says  string
}

// Conditions returns the recorded conditions. Apps and calls at MCP servers have records without them.
func (d decision) Conditions() []recordedCondition {
	f := d.Facts()
	if f.Account.ID == "" || !strings.HasPrefix(d.Path, "authz/") {
		return nil
	}
	out := []recordedCondition{
		{f.Account.Exists, "the account " + f.Account.ID + " exists"},
		{f.Account.Status == resources.StatusActive, "the account is active" + unless(resources.StatusActive, f.Account.Status)},
		{f.Subject.Exists, "the user " + f.Subject.ID + " exists"},
		{f.Subject.Member, "the user is a member of the account"},
		{f.Subject.Status == resources.StatusActive, "the user is active" + unless(resources.StatusActive, f.Subject.Status)},
		{f.Target.SameAccount, "the place is in the account"},
	}
	if f.Target.Project != "" {
		out = append(out, recordedCondition{f.Target.ProjectState == "active", "the project " + f.Target.Project + " is active" + unless("active", f.Target.ProjectState)})
	}
	return out
}

// unless returns a recorded status for readers, or "" if it is the wanted one.
func unless(wanted, status string) string {
	if status == wanted {
		return ""
	}
	return ": the status is " + cmp.Or(strings.ToLower(status), "unknown")
}
